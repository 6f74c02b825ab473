"""Read files with numbers per arm: prior scores, or readings of a pilot."""

import math

import numpy as np

from pybandit._shared.errors import UnreadableFileError
from pybandit.tables._arms import ARM_HEADERS
from pybandit.tables._sheet import listed, number, opened, short

VALUE_HEADERS = "value", "prior", "score", "reading"


def read_values(path):
    """Return arms and values of a file: two lists. Rows without a value are skipped.

    Parameters
    ----------
    path : str
        CSV with a header: one column named arm, name, gene or id, and one named value, prior,
        score or reading.

    Raises
    ------
    UnreadableFileError
        If a column is missing or a value is not a number; the message names file, line and
        column.
    """
    with opened(path) as rows:
        return _values_of(rows)


def _values_of(rows):
    line, first = next(rows)
    heads = [cell.casefold() for cell in first]
    at = [next((heads.index(name) for name in wanted if name in heads), None)
          for wanted in (ARM_HEADERS, VALUE_HEADERS)]
    if None in at:
        raise UnreadableFileError(f"line {line}, column 1: the header must have a column arm "
                                  "(or name, gene, id) and one value (or prior, score, reading); "
                                  f"it has {listed(first)}")
    arms, values = [], []
    for line, cells in rows:
        if len(cells) <= max(at):
            raise UnreadableFileError(f"line {line}, column {len(cells) + 1}: the row "
                                      f"must have at least {max(at) + 1} cells, to contain the "
                                      f"arm and its value; got {len(cells)}")
        value = number(cells[at[1]], lambda line=line: f"line {line}, column {at[1] + 1}")
        if not math.isnan(value):
            arms.append(cells[at[0]])
            values.append(value)
    return arms, values


def read_prior(path, names):
    """Return the prior values of these arms; ndarray, one per arm."""
    arms, values = read_values(path)
    known = dict(zip(arms, values, strict=True))
    missing = [name for name in names if name not in known]
    if missing:
        raise UnreadableFileError(f"{path}: no value for {len(missing):,} arms; the first is "
                                  f"{short(missing[0])}")
    return np.array([known[name] for name in names])


def noise_of_pilot(path, controls=("control", "positive"), log=False):
    """Estimate from a pilot the ratio of noise to differences between arms.

    Returns the standard deviation of a reading divided by the standard deviation among arms, from
    a one-way analysis of variance. Replicates give the variance of a reading; the means of arms
    give the variance among arms. Rows of `controls` are skipped. If `log`, logarithms are taken
    first.
    """
    arms, values = read_values(path)
    kept = [at for at, arm in enumerate(arms) if arm not in controls]
    _, group = np.unique([arms[at] for at in kept], return_inverse=True)
    values = np.array([values[at] for at in kept])
    if log:
        if not (values > 0).all():
            raise UnreadableFileError(f"{path}: readings must be above 0 for --log; got "
                                      f"{values.min():g}")
        values = np.log(values)
    counts = np.bincount(group) if kept else np.zeros(0, dtype=int)
    if counts.size < 3 or counts.max() < 2:
        raise UnreadableFileError(f"{path}: must have readings of three arms, and several readings "
                                  f"of some arm; it has {len(kept)} readings of {counts.size} arms")
    means = np.bincount(group, values) / counts
    within = ((values - means[group]) ** 2).sum() / (counts.sum() - counts.size)
    between = means.var(ddof=1) - within * (1.0 / counts).mean()
    if not between > 0:
        raise UnreadableFileError(f"{path}: its arms differ no more than its replicates do: it "
                                  "cannot be used for planning")
    return math.sqrt(within / between)
