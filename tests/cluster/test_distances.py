"""Distance tiles compared with plain NumPy, for all metrics, types and sources."""

import sys

import numpy as np
import pytest

from pybandit.cluster._distances import Distances
from pybandit.cluster._rows import METRICS, as_matrix, as_rows, check_metric, unit_rows
from pybandit.racing._callbacks import as_callback

from cluster.reference.distance import distances

NAMES = ("euclidean", "sqeuclidean", "manhattan", "hamming", "cosine")


def between(rows, metric):
    rows = as_rows("X", rows)
    return Distances(unit_rows(rows) if metric == "cosine" else rows, check_metric(metric))


@pytest.mark.parametrize("metric", NAMES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n_columns", [1, 2, 7, 33])
def test_blocks_equal_the_formula(metric, dtype, n_columns):
    rng = np.random.default_rng(n_columns)
    rows = (rng.poisson(1.0, (150, n_columns)) + rng.normal(size=n_columns)).astype(dtype)
    rows[3] = 0.0
    i, j = rng.integers(150, size=41), rng.permutation(150)[:131]
    i[:2], j[0] = 3, 3
    found, exact = between(rows, metric).block(i, j), distances(rows[i], rows[j], metric)
    np.testing.assert_allclose(found, exact, rtol=2e-6 if dtype == "float32" else 1e-13,
                               atol=2e-7 if dtype == "float32" else 1e-15)
    assert (found[i[:, None] == j] == 0).all()


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_distances_far_from_zero_keep_their_digits(metric):
    rows = (300 + np.random.default_rng(1).normal(size=(500, 20))).astype(np.float32)
    found = between(rows, metric).block(np.arange(50), np.arange(500))
    np.testing.assert_allclose(found, distances(rows[:50], rows, metric), rtol=1e-6)


def test_names_of_scikit_learn_are_known():
    assert check_metric("l1") == check_metric("cityblock") == check_metric("manhattan")
    assert check_metric("l2") == check_metric("euclidean") and len(METRICS) == 9
    with pytest.raises(ValueError, match="metric must be one of 'euclidean', .*; got 'l3'"):
        check_metric("l3")


@pytest.mark.parametrize("values, dtype", [
    (np.ones((2, 2), np.float16), "float32"), (np.ones((2, 2), np.float32), "float32"),
    (np.ones((2, 2)), "float64"), (np.ones((2, 2), np.longdouble), "float64"),
    (np.array([[True, False]]), "float32"), (np.array([[1 << 24, -1]]), "float32"),
    (np.array([[-(1 << 24) - 1, 0]]), "float64"), (np.array([[255]], np.uint8), "float32"),
    (np.array([[1e30, 0]], np.float32), "float64"), (np.array([[1e-20, 0]], np.float32), "float64"),
])
def test_type_of_rows(values, dtype):
    rows = as_rows("X", values)
    assert rows.dtype == dtype and (rows == values).all()


def test_rows_are_not_copied():
    for dtype in ("float32", "float64"):
        rows = np.eye(3, dtype=dtype)
        assert np.shares_memory(as_rows("X", rows), rows)


@pytest.mark.parametrize("values, error, message", [
    (np.ones(3), ValueError, r"X must have shape \(n, n_columns\), both at least 1; got \(3,\)"),
    (np.ones((0, 3)), ValueError, "got .0, 3."), (np.ones((3, 0)), ValueError, "got .3, 0."),
    ([["a"]], TypeError, "X must hold real numbers; got list with dtype <U1"),
    ([[1j]], TypeError, "dtype complex128"),
    ([[1, 2], [3]], TypeError, "X must be an array"),
    (np.ma.array(np.ones((2, 2)), mask=np.eye(2)), TypeError, "without masked entries"),
    ([[0.0, 1.0], [np.nan, 2.0]], ValueError, "X must be finite; got nan in row 1, column 0"),
    ([[0.0, np.inf]], ValueError, r"in row 0"),
    ([[0.0, 1e160]], ValueError, "range of at most 1e\\+150"),
])
def test_invalid_rows_are_rejected(values, error, message):
    with pytest.raises(error, match=message):
        as_rows("X", values)


def test_matrix_has_candidates_in_rows_and_references_in_columns():
    matrix = np.arange(12.0 * 12).reshape(12, 12)
    for values in (matrix, matrix.astype(np.float32), matrix.astype(int), matrix.T.copy().T):
        found = Distances(as_matrix("X", values)).block([3, 1], [5, 0, 7])
        assert (found == matrix[[3, 1]][:, [5, 0, 7]]).all()
    for values in (matrix[:3], matrix[0], np.empty((0, 0))):
        with pytest.raises(ValueError, match="X must have shape"):
            as_matrix("X", values)
    with pytest.raises(TypeError, match="X must hold distances"):
        as_matrix("X", [["a"]])


@pytest.mark.parametrize("bad", [np.nan, np.inf, -0.5])
def test_bad_distance_is_rejected_with_its_pair(bad):
    matrix = np.ones((5, 5))
    matrix[1, 3] = bad
    for source in (Distances(matrix), Distances(None, function=lambda i, j: matrix[np.ix_(i, j)],
                                                n=5)):
        assert (source.block([1], [2, 4]) == 1).all()
        with pytest.raises(ValueError, match=f"at least 0; got {bad} from point 1 to point 3"):
            source.block([0, 1], [2, 3])


def test_function_is_called_for_blocks():
    calls = []

    def distance(i, j):
        calls.append((i.size, j.size))
        return np.abs(i[:, None] - 2.0 * j)

    found = Distances(None, function=distance, n=3000).block(np.arange(3000), np.arange(100))
    assert (found == np.abs(np.arange(3000)[:, None] - 2.0 * np.arange(100))).all()
    assert calls == [(1024, 64), (1024, 64), (952, 64), (1024, 36), (1024, 36), (952, 36)]


def test_errors_of_functions_reach_the_caller():
    def distance(i, j):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        Distances(None, function=distance, n=3).block([0], [1])
    with pytest.raises(ValueError, match=r"return shape \(len\(i\), len\(j\)\) = \(1, 2\); got"):
        Distances(None, function=lambda i, j: np.ones((2, 1)), n=3).block([0], [1, 2])


def test_compiled_function_reads_references_as_factors():
    import ctypes


    i64, f64 = ctypes.POINTER(ctypes.c_int64), ctypes.POINTER(ctypes.c_double)
    kind = ctypes.CFUNCTYPE(ctypes.c_int, i64, ctypes.c_int64, i64, ctypes.c_int64, f64,
                            ctypes.c_void_p)

    @kind
    def distance(factors, n_factors, states, n_states, out, data):
        for f in range(n_factors):
            for s in range(n_states):
                out[f * n_states + s] = 10 * states[s] + factors[f]
        return int(factors[0] == 4)

    source = Distances(None, function=as_callback(distance), n=6)
    assert source.block([2, 3], [1, 5]).tolist() == [[21, 25], [31, 35]]
    with pytest.raises(RuntimeError, match="compiled distance function returned a status"):
        source.block([2], [4])


def test_indices_are_checked():
    source = Distances(np.eye(3))
    assert source.n == 3
    for one in ([3], [-1]):
        with pytest.raises(ValueError, match=r"candidates must be in \[0, 3\)"):
            source.block(one, [0])
        with pytest.raises(ValueError, match=r"references must be in \[0, 3\)"):
            source.block([0], one)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems may fill the file")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_beyond_32_bits(tmp_path, dtype):
    """Indices and offsets have 64 bits. The file is a hole: it takes no space on the disk."""
    n, last = 2**31 + 100, 2**31 + 99
    x = np.memmap(tmp_path / "rows", dtype=dtype, mode="w+", shape=(n, 2))
    chosen = np.array([0, 5, 2**31 - 1, 2**31 + 5, last])
    x[chosen, 0], x[chosen, 1] = np.arange(5), 7
    found = Distances(x, METRICS["manhattan"]).block(chosen, chosen)
    assert np.array_equal(found, np.abs(np.arange(5)[:, None] - np.arange(5)))
