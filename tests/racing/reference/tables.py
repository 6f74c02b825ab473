"""Reference numbers computed independently of this code, and the populations they are for."""

import csv
import functools
import json
import pathlib

import numpy as np

DATA = pathlib.Path(__file__).parents[1] / "data"
# sizes and log probabilities of the synthetic experiment
N, D = 100_000, 10
LOG_P = np.log(np.arange(1, D + 1) / (D * (D + 1) / 2))


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


@functools.lru_cache(maxsize=1)
def standardised(dist):
    """Return a population in which each arm has mean 0 and variance 1 exactly."""
    rng = np.random.default_rng(2016)
    raw = {
        "normal": lambda: rng.normal(size=(N, D)),
        "lognormal": lambda: rng.lognormal(0.0, np.sqrt(2.0), size=(N, D)),
    }[dist]()
    return (raw - raw.mean(axis=0)) / raw.std(axis=0)
