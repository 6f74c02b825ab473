"""`medoid`: answers of every metric, source and option compared with all distances."""

import ctypes

import numpy as np
import pytest

import pybandit as pb
from pybandit.cluster import MedoidResult, MedoidsResult, medoid

from cluster.data import data
from cluster.reference.distance import distances
from cluster.reference.medoid import totals_of

METRICS = ("euclidean", "sqeuclidean", "manhattan", "hamming", "cosine")


def truth(x, metric="euclidean", weights=None):
    """Return the first row with the smallest sum, and its mean, in double precision."""
    totals = totals_of(np.asarray(x, float), metric, weights)
    w = len(x) if weights is None else np.sum(weights)
    return int(np.flatnonzero(totals <= totals.min() * (1 + 1e-12) + 1e-12)[0]), totals.min() / w


def of_rows(x, metric="euclidean"):
    return lambda i, j: distances(x[i], x[j], metric)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("kind", ["gauss", "dups", "heavyrow", "scrna", "bits"])
@pytest.mark.parametrize("n", [40, 900])
def test_medoid_has_the_smallest_mean_distance(metric, kind, n):
    x = data(kind, n, 12)
    best, mean = truth(x, metric)
    for exact in (False, True):
        result = medoid(x, metric=metric, exact=exact, rng=1)
        assert result.index == best
        assert result.mean_distance == pytest.approx(mean, rel=3e-7)
        assert result.exact or not exact


@pytest.mark.parametrize("metric", METRICS)
def test_weights_count_references(metric):
    rng = np.random.default_rng(3)
    for n in (30, 700):
        x = data("blobs", n, 5) if metric != "hamming" else data("dups", n, 5)
        w = rng.pareto(1.0, n)
        w[rng.integers(n, size=n // 5)] = 0.0
        best, mean = truth(x, metric, w)
        for scale in (1.0, 1e-310, 1e300):
            result = medoid(x, metric=metric, weights=w * scale if scale < 1e10 else w / w.max()
                            * scale, rng=2)
            assert result.index == best
            assert result.mean_distance == pytest.approx(mean, rel=1e-6)


def test_row_of_weight_zero_may_be_the_medoid():
    x = np.array([[0.0], [1.0], [2.0], [3.0]])
    assert medoid(x, weights=[1, 0, 0, 0]).index == 0
    x = np.array([[-1.0, 0.0], [1.0, 0.0], [0.0, 0.1]])
    assert medoid(x, weights=[1, 1, 0]).index in (0, 2)
    assert medoid(np.array([[-1.0], [1.0], [0.0], [0.0]]), metric="sqeuclidean",
                  weights=[1, 1, 0, 0]).index == 2


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "uint16", "int64",
                                   "bool"])
def test_types_of_rows_give_the_same_medoid(dtype):
    x = np.random.default_rng(4).poisson(1.0, (500, 6))
    x = (x > 0) if dtype == "bool" else x
    assert medoid(x.astype(dtype), rng=1).index == truth(x.astype(float))[0]


@pytest.mark.parametrize("source", ["function", "matrix", "float32 matrix", "factors", "pairs"])
def test_sources_of_distances(source):
    x = data("gauss", 300, 4).astype(float)
    d = distances(x, x, "euclidean")
    best, mean = truth(x)
    calls = {"function": lambda **o: medoid(of_rows(x), 300, **o),
             "matrix": lambda **o: medoid(d, metric="precomputed", **o),
             "float32 matrix": lambda **o: medoid(d.astype(np.float32), metric="precomputed", **o),
             "factors": lambda **o: medoid(pb.Factors(lambda j, i: d[np.ix_(j, i)], 300, 300), **o),
             "pairs": lambda **o: medoid(x, metric=lambda a, b: np.linalg.norm(a - b), **o)}
    for triangle, bound in ((True, "betting"), (False, "student")):
        result = calls[source](triangle=triangle, rng=3)
        assert result.index == best
        assert result.mean_distance == pytest.approx(mean, rel=1e-6)
        assert result.bound == bound and not result.exact
    result = calls[source](exact=True)
    assert (result.index, result.exact, result.bound) == (best, True, None)
    assert result.n_distances == 300**2


def test_row_of_an_asymmetric_matrix_is_the_candidate():
    d = np.ones((400, 400)) + np.random.default_rng(1).random((400, 400))
    d[:, 7] = 0.0     # close to every candidate
    d[33] = 0.5       # close to every reference
    assert medoid(d, metric="precomputed", rng=1).index == 33
    assert medoid(lambda i, j: d[np.ix_(i, j)], 400, rng=1).index == 33
    with pytest.raises(ValueError, match="bound must be 'student' unless the triangle .* holds"):
        medoid(d, metric="precomputed", bound="betting")


def test_objects_with_a_function_of_two():
    words = ["medoid", "method", "medal", "period", "model"]

    def distance(one, other):
        return len(set(one) ^ set(other))

    assert words[medoid(words, metric=distance).index] == "medoid"


def test_asymmetric_function_is_called_with_candidates_first():
    shapes = []

    def distance(i, j):
        shapes.append((len(i), len(j)))
        return np.abs(i[:, None] - 150.0) + 0.0 * j

    assert medoid(distance, 3000, rng=1).index == 150
    assert max(shapes)[0] == 1024 and max(j for _, j in shapes) == 64


def test_compiled_function():
    i64, f64 = ctypes.POINTER(ctypes.c_int64), ctypes.POINTER(ctypes.c_double)
    kind = ctypes.CFUNCTYPE(ctypes.c_int, i64, ctypes.c_int64, i64, ctypes.c_int64, f64,
                            ctypes.c_void_p)

    @kind
    def distance(factors, n_factors, states, n_states, out, data):
        for f in range(n_factors):
            for s in range(n_states):
                out[f * n_states + s] = abs(factors[f] - states[s])
        return 0

    assert medoid(distance, 301, triangle=True, rng=1).index == 150
    assert medoid(pb.Factors(distance, 301, 301), triangle=True, rng=1).index == 150
    result = medoid(distance, 21, labels=[0] * 11 + [1] * 10)
    assert result.indices.tolist() == [5, 15]


def test_labels_give_one_medoid_per_cluster():
    x = data("blobs", 4000, 3)
    labels = np.random.default_rng(5).integers(-1, 6, size=4000)
    w = np.random.default_rng(6).random(4000)
    result = medoid(x, labels=labels, weights=w, rng=1)
    assert isinstance(result, MedoidsResult) and result.labels.tolist() == [0, 1, 2, 3, 4, 5]
    for k, index, mean in zip(result.labels, result.indices, result.mean_distances, strict=True):
        own = np.flatnonzero(labels == k)
        best, expected = truth(x[own], "euclidean", w[own])
        assert index == own[best] and mean == pytest.approx(expected, rel=1e-6)
    assert result.exact.all() and result.bound is None


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine", "precomputed"])
def test_a_cluster_does_not_depend_on_the_others(metric):
    x = data("gauss", 4000, 30)
    if metric == "precomputed":
        x = distances(x[:1200, :5], x[:1200, :5], "euclidean")
    labels = np.arange(len(x)) % 2
    alone = medoid(x, metric=metric, labels=np.where(labels == 1, 5, -1), rng=7)
    both = medoid(x, metric=metric, labels=1 - labels, rng=7)
    other = medoid(x, metric=metric, labels=np.where(labels, "b", "a"), rng=7)
    assert alone.indices[0] == both.indices[0] == other.indices[1]
    assert alone.n_survivors[0] == both.n_survivors[0]


def test_labels_of_any_type():
    x = np.array([[0.0], [1.0], [5.0], [7.0], [8.0], [9.0]])
    result = medoid(x, labels=list("aabbbb"))
    assert result.labels.tolist() == ["a", "b"] and result.indices.tolist() == [0, 3]
    assert medoid(x, labels=[1.5, 1.5, 2, 2, 2, 2]).labels.tolist() == [1.5, 2.0]
    assert medoid(x, labels=[True, False] * 3).indices.tolist() == [3, 2]
    assert medoid(x, labels=[-1, -1, -1, -1, -1, 0]).indices.tolist() == [5]


# Edge cases of distances, points and ties.

def test_one_and_two_points():
    assert medoid([[3.0, 4.0]]).index == 0
    result = medoid([[0.0], [2.0]])
    assert (result.index, result.mean_distance, result.exact) == (0, 1.0, True)
    assert medoid([[0.0], [2.0]], weights=[1, 3]).index == 1
    assert medoid(lambda i, j: np.zeros((len(i), len(j))), 1).index == 0


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("n", [5, 400, 3000])
def test_equal_rows(metric, n):
    result = medoid(np.full((n, 20), 1.1), metric=metric, rng=1)
    assert result.index == 0 and result.mean_distance == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("exact", [False, True])
def test_lowest_of_equal_rows_is_the_medoid(metric, exact):
    x = data("dups", 600, 2)
    x = np.concatenate([x, x, x])
    result = medoid(x, metric=metric, exact=exact, rng=1)
    assert result.index < 600
    assert result.index == np.flatnonzero((x == x[result.index]).all(1))[0]
    assert result.index == truth(x, metric)[0]


def test_lowest_of_unequal_rows_that_tie():
    square = np.array([[5.0, 0.0], [0.0, 5.0], [-5.0, 0.0], [0.0, -5.0]])
    assert medoid(square).index == medoid(square, exact=True).index == 0
    many = np.tile(square, (200, 1))
    assert medoid(many, rng=1).index == medoid(many[::-1], rng=2).index == 0


@pytest.mark.parametrize("noise", [1e-3, 1e-5, 1e-7, 0.0])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_copies_with_noise(noise, dtype):
    rng = np.random.default_rng(8)
    centers = rng.normal(size=(40, 20))
    x = (np.repeat(centers, 50, axis=0) + noise * rng.normal(size=(2000, 20))).astype(dtype)
    best, mean = truth(x)
    for seed in range(3):
        result = medoid(x, rng=seed)
        assert result.mean_distance == pytest.approx(mean, rel=1e-9)
        if noise in (1e-3, 0.0):
            assert result.index == best


def test_rows_far_from_zero():
    x = (300 + np.random.default_rng(9).normal(size=(1200, 20))).astype(np.float32)
    best, mean = truth(x)
    result = medoid(x, rng=1)
    assert result.index == best and result.mean_distance == pytest.approx(mean, rel=1e-12)


def test_rows_of_zeros_have_cosine_distance_one():
    x = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 0.1], [0.0, 0.0], [1.0, 0.2]])
    result = medoid(x, metric="cosine")
    assert result.index == truth(x, "cosine")[0] == 2
    zeros = np.zeros((4, 2))
    zeros[2:] = [[1.0, 0.0], [-1.0, 0.0]]
    assert medoid(zeros, metric="cosine").mean_distance == 0.5


@pytest.mark.parametrize("n", [10, 600])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -1.0])
def test_bad_distance_is_rejected_with_its_pair(n, bad):
    with pytest.raises(ValueError, match=f"metric must return .*; got {bad} from row 0 to row "):
        medoid(np.ones((n, 1)), metric=lambda x, y: bad)
    d = np.ones((n, n))
    d[3, 4] = bad
    for call in (lambda **o: medoid(d, metric="precomputed", **o),
                 lambda **o: medoid(lambda i, j: d[np.ix_(i, j)], n, **o)):
        with pytest.raises(ValueError, match=f"at least 0; got {bad} from point 3 to point 4"):
            call(exact=True)
    d[:] = bad
    for triangle in (False, True):
        with pytest.raises(ValueError, match=f"distances must be finite .*; got {bad}"):
            medoid(d, metric="precomputed", triangle=triangle)


@pytest.mark.parametrize("call, error, message", [
    (lambda: medoid(np.ones(4)), ValueError, r"X must have shape \(n, n_columns\)"),
    (lambda: medoid([[np.nan], [1.0]]), ValueError, "X must be finite; got .* in row 0"),
    (lambda: medoid(np.ones((2, 2)), 2), TypeError, "n must be given with a function of indices"),
    (lambda: medoid(len), TypeError, "n, the number of points, must be given if X is a"),
    (lambda: medoid(len, 0), ValueError, "n must be at least 1; got 0"),
    (lambda: medoid(len, 3, metric="l1"), ValueError, "metric must not be given with a function"),
    (lambda: medoid(pb.Factors(len, 3, 4)), ValueError, "n_factors = n_states = n; got 3, 4"),
    (lambda: medoid(np.ones((2, 3)), metric="precomputed"), ValueError, r"shape \(n, n\) if"),
    (lambda: medoid([[1.0]], metric="l3"), ValueError, "metric must be one of"),
    (lambda: medoid([], metric=max), ValueError, "X must have at least one row"),
    (lambda: medoid([[1.0]], delta=0.0), ValueError, "delta must be in"),
    (lambda: medoid([[1.0]], bound="bets"), ValueError, "bound must be one of"),
    (lambda: medoid([[1.0]], n_threads=0), ValueError, "n_threads must be at least 1"),
    (lambda: medoid([[1.0]], weights=[0.0]), ValueError, "weights must not all be 0"),
    (lambda: medoid([[1.0]], weights=[-1.0]), ValueError, "weights must be finite and at least 0"),
    (lambda: medoid([[1.0]], weights=[1.0, 2.0]), ValueError, r"weights must have shape \(1,\)"),
    (lambda: medoid([[1.0]], labels=[1, 2]), ValueError, r"labels must have shape \(1,\)"),
    (lambda: medoid([[1.0], [2.0]], labels=["a", None]), TypeError, "can be sorted"),
    (lambda: medoid([[1.0]], labels=[np.nan]), ValueError, "labels must not be NaN"),
    (lambda: medoid([[1.0]], labels=[-1]), ValueError, "a cluster other than -1"),
    (lambda: medoid([[1.0], [2.0]], labels=[1, 2], weights=[0, 1]), ValueError,
     "weights must not all be 0 in cluster"),
    (lambda: medoid([[1.0]], rng=-1), ValueError, "rng must be at least 0"),
])
def test_invalid_arguments_are_rejected(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_index_of_frames_is_compared():
    pandas = pytest.importorskip("pandas")
    x = pandas.DataFrame({"a": [0.0, 1.0, 5.0], "b": [0, 0, 1]}, index=[7, 8, 9])
    labels = pandas.Series([0, 0, 1], index=[7, 8, 9])
    assert medoid(x, labels=labels).indices.tolist() == [0, 2]
    for name in ("labels", "weights"):
        with pytest.raises(ValueError, match=f"{name} must have the index of X"):
            medoid(x, **{name: pandas.Series([1, 1, 1], index=[9, 8, 7])})


@pytest.mark.parametrize("options", [{}, {"metric": "manhattan"}, {"bound": "student"},
                                     {"exact": True}])
def test_threads_and_seeds_do_not_change_results(options):
    x = data("gauss", 9000, 20)
    results = [medoid(x, rng=3, n_threads=n, **options).to_dict() for n in (1, 2, 3, 8)]
    assert all(one == results[0] for one in results)


def test_results_are_records():
    x = data("gauss", 3000, 20)
    one, many = medoid(x, rng=1), medoid(x, labels=np.arange(3000) % 3, rng=1)
    assert isinstance(one, MedoidResult)
    assert one.summary().startswith(f"Point {one.index} is the medoid, by a race with the bound")
    assert medoid(x[:20]).summary().startswith("Point ") and "exactly" in medoid(x[:20]).summary()
    assert many.summary().startswith("Medoids of 3 clusters, by a race")
    assert one.to_dict()["index"] == one.index and repr(one).startswith("MedoidResult(index=")
    assert many.to_dict()["indices"] == many.indices.tolist()
    assert "<p>" in one._repr_html_() and "<p>" in many._repr_html_()


def test_progress_is_shown(capsys):
    pytest.importorskip("tqdm")
    medoid(data("gauss", 3000, 20), rng=1, progress=True)
    assert "distances" in capsys.readouterr().err


def test_errors_of_functions_leave_nothing_behind():
    x = data("gauss", 500, 4).astype(float)
    calls = []

    def distance(i, j):
        calls.append(i.size)
        if len(calls) == 5:
            raise KeyError("mine")
        return distances(x[i], x[j], "euclidean")

    with pytest.raises(KeyError, match="mine"):
        medoid(distance, 500, rng=1)
    assert medoid(distance, 500, rng=1).index == truth(x)[0]
