"""Reference numbers that were computed independently of this code."""

import csv
import json
import pathlib

import numpy as np

DATA = pathlib.Path(__file__).parents[1] / "data"


def b_normal():
    """Return the columns of the table of boundary constants; NaN if the paper has no value."""
    with (DATA / "b_normal.csv").open() as lines:
        rows = list(csv.DictReader(lines))
    return {name: np.array([float(row[name] or "nan") for row in rows]) for name in rows[0]}


def exact_cases():
    """Return tiny populations with the exact distribution of outcomes, and check values."""
    return json.loads((DATA / "exact_cases.json").read_text())


def synthetic():
    """Return errors and proportions read in the synthetic experiment, Sec. 5.1, D = 10."""
    return json.loads((DATA / "synthetic.json").read_text())["rows"]


def lil_ucb_cells():
    """Return errors and proportions read by lil'UCB in the synthetic experiment."""
    return json.loads((DATA / "lil_ucb_cells.json").read_text())
