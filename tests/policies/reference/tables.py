"""The reference numbers that were computed apart from this code."""

import json
import pathlib

DATA = pathlib.Path(__file__).parents[1] / "data"


def batch_cases(*algorithms):
    """Tiny runs of the policies in batches, with every batch and what came of it."""
    cases = json.loads((DATA / "batch_cases.json").read_text())["cases"]
    return [case for case in cases if case["algorithm"] in algorithms]


def gap_cases():
    """Tiny runs of the gap-based policies: every pull, and the arm recommended."""
    return json.loads((DATA / "gap_cases.json").read_text())["cases"]


def gaussian_cases():
    """Tiny runs of the policies of correlated arms: every pull, and the posterior means."""
    return json.loads((DATA / "gaussian_cases.json").read_text())["cases"]


def gaussian_cells():
    """Errors and regrets of those policies on functions drawn from the prior, K = 100."""
    return json.loads((DATA / "gaussian_cells.json").read_text())


def halving_cases():
    """Tiny runs of the policies by stages, pull by pull."""
    return json.loads((DATA / "halving_cases.json").read_text())["cases"]


def halving_cells():
    """Error probabilities of those policies in the paper's two settings, K = 64."""
    return json.loads((DATA / "halving_cells.json").read_text())


def index_cases():
    """Tiny runs of the index policies and Thompson sampling, and exact laws of nine pulls."""
    return json.loads((DATA / "index_cases.json").read_text())
