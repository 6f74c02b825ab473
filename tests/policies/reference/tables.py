"""Reference numbers that were computed independently of this code."""

import json
import pathlib

DATA = pathlib.Path(__file__).parents[1] / "data"


def batch_cases(*algorithms):
    """Return tiny runs of the policies in batches, with every batch and its effects."""
    cases = json.loads((DATA / "batch_cases.json").read_text())["cases"]
    return [case for case in cases if case["algorithm"] in algorithms]


def gap_cases():
    """Return tiny runs of the gap-based policies: every pull, and the recommended arm."""
    return json.loads((DATA / "gap_cases.json").read_text())["cases"]


def gaussian_cases():
    """Return tiny runs of the policies for correlated arms: pulls and posterior means."""
    return json.loads((DATA / "gaussian_cases.json").read_text())["cases"]


def gaussian_cells():
    """Return errors and regrets of policies for correlated arms, with K = 100 and known prior."""
    return json.loads((DATA / "gaussian_cells.json").read_text())


def halving_cases():
    """Return tiny runs of the policies with stages, pull by pull."""
    return json.loads((DATA / "halving_cases.json").read_text())["cases"]


def halving_cells():
    """Return error probabilities of policies with stages in the paper's two settings, K = 64."""
    return json.loads((DATA / "halving_cells.json").read_text())


def index_cases():
    """Return tiny runs of index policies and Thompson sampling.

    They include exact errors and regrets of policies that make nine pulls.
    """
    return json.loads((DATA / "index_cases.json").read_text())
