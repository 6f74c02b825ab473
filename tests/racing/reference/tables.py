"""The reference numbers that were computed apart from this code: tests/data."""

import csv
import json
import pathlib

import numpy as np

DATA = pathlib.Path(__file__).parents[1] / "data"


def b_normal():
    """Columns of the table of boundary constants; NaN where the paper prints none."""
    with (DATA / "b_normal.csv").open() as lines:
        rows = list(csv.DictReader(lines))
    return {name: np.array([float(row[name] or "nan") for row in rows]) for name in rows[0]}


def exact_cases():
    """Tiny populations with the exact law of a race's outcome, and check values."""
    return json.loads((DATA / "exact_cases.json").read_text())


def synthetic():
    """Errors and proportions read of the synthetic experiment, Sec. 5.1, D = 10."""
    return json.loads((DATA / "synthetic.json").read_text())["rows"]


def lil_ucb_cells():
    """Errors and proportions read by lil'UCB in the synthetic experiment."""
    return json.loads((DATA / "lil_ucb_cells.json").read_text())


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


def montecarlo_cases():
    """Tiny runs of the index policies and Thompson sampling, and exact laws of nine pulls."""
    return json.loads((DATA / "montecarlo_cases.json").read_text())
