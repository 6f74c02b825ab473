"""Scores of two models on the same items, for verdicts: from arrays, series and files."""

import os
from typing import Any

import numpy as np

from pybandit._shared.checks import (
    as_list,
    check_in,
    check_integer,
    labels_of,
    refuse_masks,
    shown,
)
from pybandit._shared.labels import are_same
from pybandit.evaluation._opened import opened
from pybandit.evaluation._reading import read_scores, with_names
from pybandit.tables._logs.read import log_paths
from pybandit.tables._scores import Options
from pybandit.tables._table import Scores
from pybandit.tables.blocks import Blocks


def check_planned(planned, n, population_size):
    """Return the planned number of items: n by default."""
    if planned is None:
        planned = n
    planned = check_integer("planned", planned, 0)
    if planned < n:
        raise ValueError(f"planned must be at least the number of items, {n}; got {planned}: the "
                         "test at the end is made once")
    if population_size is not None and planned > population_size:
        raise ValueError(f"population_size must be at least the number of items, {planned}; got "
                         f"{population_size}")
    return planned


def check_scores(name, values, value_range):
    """Return the scores of a model as a 1-D array; refuse those outside the range."""
    low, high = value_range
    values = check_in(name, refuse_masks(name, values), f"in value_range [{low:g}, {high:g}]",
                      lambda x: (x >= low) & (x <= high))
    if values.ndim != 1:
        raise ValueError(f"{name} must have one dimension; got shape {values.shape}")
    return values


def is_at_ends(values, value_range):
    """Return True if all scores are the smallest or the largest possible one."""
    return bool(np.isin(values, value_range).all())


def means_of_clusters(clusters, values):
    """Return the means of the rows of each cluster, in the order in which clusters first occur."""
    labels = as_list("clusters", clusters, "one label per item", 0)
    if len(labels) != len(values):
        raise ValueError(f"clusters must have one label per item, {len(values)}; got {len(labels)}")
    places: dict[Any, int] = {}
    try:
        at = np.array([places.setdefault(label, len(places)) for label in labels], dtype=np.int64)
    except TypeError as error:
        raise TypeError("clusters must be labels, such as text or integers; got "
                        f"{shown(clusters)}: {error}") from error
    sums = np.zeros((len(places), values.shape[1]))
    np.add.at(sums, at, values)
    return sums / np.bincount(at, minlength=len(places))[:, None]


def pair_of(a, b):
    """Return the scores of both models on the same items, and names."""
    paths = [isinstance(one, (str, os.PathLike)) for one in (a, b)]
    if any(paths):
        if not all(paths):
            name, value = ("b", b) if paths[0] else ("a", a)
            raise TypeError(f"{name} must be the name of a file, as the other is; got "
                            f"{shown(value)}")
        return _of_files(os.fspath(a), os.fspath(b))
    names = tuple(str(getattr(one, "name", None) or default) if labels_of(one) is not None
                  else default for one, default in ((a, "a"), (b, "b")))
    return (*_aligned(a, b), names)


def _aligned(a, b):
    """Return b in the order of a if both have labels."""
    labels_a, labels_b = labels_of(a), labels_of(b)
    if labels_a is None or labels_b is None or are_same(labels_a, labels_b):
        return a, b
    places = {label: place for place, label in enumerate(labels_b)}
    if len(places) < len(labels_b) or len(set(labels_a)) < len(labels_a):
        raise ValueError("a and b must have an index without repeated labels, or the same index; "
                         "got repeated labels: pass clusters for several scores of an item")
    alone = [label for label in labels_a if label not in places]
    if alone or len(labels_a) != len(labels_b):
        extra = alone or [label for label in labels_b if label not in set(labels_a)]
        raise ValueError(f"a and b must have the same items; got {len(extra)} that only "
                         f"{'a' if alone else 'b'} has, such as {shown(extra[0])}: leave them out "
                         "of both if what is lost does not depend on the scores")
    return a, np.asarray(b)[[places[label] for label in labels_a]]


def _of_files(a, b):
    """Return the scores of two files on the same items, and their names."""
    if log_paths(a) is not None and log_paths(b) is not None:
        table = read_scores([a, b])
        if len(table.columns) != 2:
            raise ValueError(f"a and b must be log files of one model each; got {a!r} and {b!r} "
                             f"with {len(table.columns)} models: see tied_set")
        return *table.values.T, tuple(map(str, table.columns))
    one, two = (_single(name, path) for name, path in (("a", a), ("b", b)))
    return (*_aligned(one, two), tuple(os.path.basename(path) for path in (a, b)))


class Column:
    """A column of a table, as `verdict` takes it: scores with labels and a name."""

    def __init__(self, table, at):
        self.values, self.index, self.name = table.values[:, at], table.index, table.columns[at]

    def __array__(self, dtype=None, copy=None):
        return np.array(self.values, dtype)


def _single(name, path):
    """Return the only column of scores of a file."""
    options = Options(least=1)
    table = with_names(opened(path, options), options)
    if isinstance(table, Blocks):
        raise ValueError(f"{name} must be a file that is read into memory; got {path!r}")
    if not isinstance(table, Scores):
        values = np.asarray(table)
        values = values.reshape(len(values), -1)
        table = Scores(list(range(values.shape[1])), range(len(values)), values, range(len(values)))
    if len(table.columns) != 1:
        raise ValueError(f"{name} must be a file with the scores of one model; got {path!r} with "
                         f"{len(table.columns)}: pass columns of read_scores")
    return Column(table, 0)
