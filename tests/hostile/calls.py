"""Readers for `attack`: each opens a file by its path and reads it as a user would."""

import numpy as np
import pyarrow.parquet

import pybandit as pb
from pybandit.lab._picklists import read_stock
from pybandit.lab._read import read_plates
from pybandit.lab._values import read_values
from pybandit.lab.plates import Layout, Plates
from pybandit.tables._arms import read_arms
from pybandit.tables._sheet import opened
from pybandit.tables._xlsx import workbook_of
from pybandit.webtests._count_file import read_counts

PLATES = Plates(Layout(2, 3), (0, 5))
NAMES = ["tea", "milk", "gin", "rum"]
# Import lazily imported packages now: openpyxl, and pandas for columns of Arrow.
workbook_of([["arm"], ["tea"]])
pyarrow.chunked_array([[1.0]]).to_numpy()


def best_of(path):
    return pb.best_of(path, value_range=(0, 1), rng=1).best


def blocks(path):
    """Read rows from both ends, as if the rows were in random order."""
    table = pb.tables.Blocks.open(path, shuffled=True)
    rows = np.unique([0, table.n_rows // 2, table.n_rows - 1])
    return table.values(rows, np.arange(min(table.n_columns, 4))).tolist()


def shuffle(path):
    return pb.tables.shuffle(path, path + ".out.parquet", rng=1).n_rows


def plates(path):
    return read_plates(path, PLATES, lambda number: NAMES).values.tolist()


def arms(path):
    return len(read_arms(path)[0])


def values(path):
    return len(read_values(path)[0])


def counts(path):
    return len(read_counts(path))


def stock(path):
    return len(read_stock(path))


def comparison(path):
    return pb.simulation.Comparison.load(path).names


def sheet_rows(path):
    with opened(path) as rows:
        return sum(1 for _ in rows)


def logs(path):
    """Read the file as one of several, so that it is a log whatever its content."""
    return pb.best_of([path], value_range=(0, 1), rng=1).best
