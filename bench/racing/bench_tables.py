"""Time of races on tables in memory, compared with one pass over the table.

Run with ``make bench``. The first role of a group is the limit in C; NumPy and numba are rivals.
"""

import ctypes

import numpy as np
import pytest

import pybandit as pb
from pybandit._shared.cell_range import cell_range

from native import bits_of, pointer, size

numba = pytest.importorskip("numba")
i64 = ctypes.c_int64
SHAPES = [(size(100_000, 2_000), 10), (size(100_000, 1_000), 100), (size(1_000_000, 4_000), 10),
          (size(1_000_000, 4_000), 2)]
ROUNDS = size(40, 1)
# At this delta nothing is decided by bounds, so that every race reads everything.
UNDECIDED = 1e-9


@numba.njit
def numba_sums(table):
    """Return the sums of all columns, read row by row."""
    sums = np.zeros(table.shape[1])
    for row in range(table.shape[0]):
        for column in range(table.shape[1]):
            sums[column] += table[row, column]
    return sums


def normal_table(n_rows, n_columns):
    """Return a table of values in (-6, 6) whose columns have equal means."""
    table = np.random.default_rng(5).normal(size=(n_rows, n_columns))
    table -= table.mean(axis=0)
    return np.clip(table, -5.999, 5.999)


def passes(limits, table):
    """Return the passes over a table by role: the limit in C, numba and NumPy."""
    n, d = table.shape
    sums = np.zeros(d)
    fixed = getattr(limits, f"limit_stream_{d}", None)

    def stream():
        if fixed:
            fixed(pointer(table), i64(n), pointer(sums))
        else:
            limits.limit_stream(pointer(table), i64(n), i64(d), pointer(sums))

    return {"bare streaming sums": stream, "numba, sums": lambda: numba_sums(table),
            "NumPy, sum(axis=0)": lambda: table.sum(axis=0)}


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("role", ["bare streaming sums", "numba, sums", "NumPy, sum(axis=0)",
                                  "race", "draw", "draw, shuffled layout", "race by betting",
                                  "race, all looks"])
def test_near_ties(timed, limits, shape, role):
    """All is read: the columns have equal means."""
    table, rng = normal_table(*shape), np.random.default_rng(6)
    group = f"near ties, {shape[0]:,} rows of {shape[1]} states"
    if role == "draw" or role == "draw, shuffled layout":
        layout = "gather" if role == "draw" else "shuffled"
        sampler = pb.RacingSampler(table, delta=UNDECIDED, layout=layout, rng=rng)
        timed(group, role, sampler.draw, rounds=ROUNDS)
        return
    bets = pb.racing.BettingBound(value_range=(-6.0, 6.0), delta=UNDECIDED)
    looks = pb.racing.Looks(max_fraction=1.0)
    calls = passes(limits, table) | {
        "race": lambda: pb.race(table, delta=UNDECIDED, rng=rng),
        "race by betting": lambda: pb.race(table, bound=bets, rng=rng),
        "race, all looks": lambda: pb.race(table, delta=UNDECIDED, looks=looks, rng=rng)}
    timed(group, role, calls[role], rounds=ROUNDS)


@pytest.mark.parametrize("n", size([100_000, 1_000_000], [4_000]))
@pytest.mark.parametrize("role", ["bare ratios.sum()", "AcceptanceTest", "accept",
                                  "AcceptanceTest by betting"])
def test_undecided_tests(timed, n, role):
    """The mean of the log ratios equals the threshold."""
    ratios, rng = normal_table(n, 1)[:, 0].copy(), np.random.default_rng(7)
    bets = pb.racing.BettingBound(value_range=(-6.0, 6.0), delta=UNDECIDED)
    tests = {"AcceptanceTest": dict(delta=UNDECIDED), "AcceptanceTest by betting": dict(bound=bets)}
    if role in tests:
        test = pb.racing.AcceptanceTest(ratios, rng=rng, **tests[role])
        timed(f"an undecided test of {n:,} log ratios", role, test.test, rounds=ROUNDS)
        return
    calls = {"bare ratios.sum()": ratios.sum,
             "accept": lambda: pb.racing.accept(ratios, delta=UNDECIDED, rng=rng)}
    timed(f"an undecided test of {n:,} log ratios", role, calls[role], rounds=ROUNDS)


@pytest.mark.parametrize("kind", ["bool", "uint8", "float32", "float64"])
@pytest.mark.parametrize("role", ["bare streaming sums of float64", "numba, sums",
                                  "NumPy, sum(axis=0)", "race", "race of astype(float64)"])
def test_tables_as_they_are(timed, limits, kind, role):
    """Near ties on zeros and ones of every type; a smaller type reads fewer bytes."""
    n, d = SHAPES[2]
    bits = np.random.default_rng(8).random((n, d)) < 0.5
    table = bits.astype(kind)
    doubles = bits.astype(float) if "float64" in role else table
    calls = {"numba, sums": lambda: numba_sums(table),
             "NumPy, sum(axis=0)": lambda: table.sum(axis=0),
             "race": lambda: pb.race(table, delta=UNDECIDED, rng=1),
             "race of astype(float64)":
                 lambda: pb.race(table.astype(float), delta=UNDECIDED, rng=1)}
    call = calls.get(role) or passes(limits, doubles)["bare streaming sums"]
    timed(f"zeros and ones as {kind}, {n:,} rows of {d} states", role, call, rounds=ROUNDS)


@pytest.mark.parametrize("kind", ["uint8", "float32", "float64"])
@pytest.mark.parametrize("role", ["bare streaming sums of float64", "NumPy, min and max",
                                  "cell_range"])
def test_range_of_a_table(timed, limits, kind, role):
    """Limits of all cells, which best_of needs without value_range."""
    table = normal_table(*SHAPES[2])
    cells = (table > 0).astype(kind)
    call = {"bare streaming sums of float64": passes(limits, table)["bare streaming sums"],
            "NumPy, min and max": lambda: (cells.min(), cells.max()),
            "cell_range": lambda: cell_range(cells)}[role]
    timed(f"limits of {cells.size:,} cells of {kind}", role, call, rounds=ROUNDS)


@pytest.mark.parametrize("rows, shape", [(size(5_000, 100), SHAPES[1]),
                                         (size(20_000, 100), SHAPES[3])], ids=str)
@pytest.mark.parametrize("role", ["bare gather", "bare shuffle and gather", "draw",
                                  "draw, shuffled layout"])
def test_rows_at_random(timed, limits, rows, shape, role):
    """A draw that decides at its first look; the limit adds up as many random rows."""
    n, d = shape
    table, rng = normal_table(n, d), np.random.default_rng(9)
    sums, squares = np.zeros(d), np.zeros(d)
    group = f"{rows:,} of {n:,} rows at random, {d} states"
    if role.startswith("bare"):
        orders = [rng.permutation(n)[:rows].copy() for _ in range(32)]
        permutation, calls = np.arange(n), iter(range(10**9))
        call = {"bare gather": lambda: limits.limit_gather(
                    pointer(table), i64(d), pointer(orders[next(calls) % 32]), i64(rows),
                    pointer(sums), pointer(squares)),
                "bare shuffle and gather": lambda: limits.limit_shuffle_gather(
                    bits_of(rng), pointer(permutation), i64(n), pointer(table), i64(d), i64(rows),
                    pointer(sums), pointer(squares))}[role]
        timed(group, role, call, rounds=ROUNDS)
        return
    layout = "gather" if role == "draw" else "shuffled"
    sampler = pb.RacingSampler(table * 1e-9, np.arange(d) * 1e3, layout=layout, rng=1,
                               looks=pb.racing.Looks(first=rows))
    assert sampler.draw()[1].n_evaluations == rows * d
    timed(group, role, sampler.draw, rounds=ROUNDS)


@pytest.mark.parametrize("role", ["bare shuffle and gather", "draw",
                                  "draw without correction for skewness"])
def test_short_race(timed, limits, population, role):
    """A draw from 50 rows of ten states."""
    rows, (n, d) = 50, population.shape
    rng, draws = np.random.default_rng(10), size(400, 2)
    group = f"a draw from {rows} of {n:,} rows, {d} states"
    if role.startswith("bare"):
        permutation, sums, squares = np.arange(n), np.zeros(d), np.zeros(d)
        timed(group, role, lambda: limits.limit_shuffle_gather_10(
            bits_of(rng), pointer(permutation), i64(n), pointer(population), i64(rows),
            pointer(sums), pointer(squares)))
        return
    bound = pb.racing.StudentBound(skewness=role == "draw")
    sampler = pb.RacingSampler(population * 1e-9, np.arange(d) * 1e3, bound=bound, rng=rng)
    timed(group, role, lambda: sampler.draw(draws), per=draws)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("role", ["bare streaming sums", "row at random", "row in a run",
                                  "row at random, 16 bets, and one pass"])
def test_costs_of_rows(timed, limits, shape, role):
    """Costs per row that `pybandit.racing._read_cost` assumes.

    With bets nothing is decided, so a draw ends with a pass over the whole table.
    """
    table, rows = normal_table(*shape), size(2_000, 100)
    group = f"one of {shape[0]:,} rows of {shape[1]} states"
    if role.startswith("bare"):
        timed(group, role, passes(limits, table)[role], per=shape[0], rounds=ROUNDS)
        return
    bound = (pb.racing.BettingBound(value_range=(-6.0, 6.0), delta=UNDECIDED)
             if "bets" in role else pb.racing.StudentBound())
    sampler = pb.RacingSampler(
        table if "bets" in role else table * 1e-9,
        None if "bets" in role else np.arange(shape[1]) * 1e3, bound=bound, rng=1,
        layout="shuffled" if role == "row in a run" else "gather",
        looks=pb.racing.Looks(first=rows, max_fraction=rows / shape[0]))
    timed(group, role, sampler.draw, per=rows, rounds=ROUNDS)
