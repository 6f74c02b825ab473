"""KMedoids as an estimator of scikit-learn."""

import numpy as np
import pytest

pytest.importorskip("sklearn")

from sklearn.base import clone  # noqa: E402
from sklearn.datasets import load_digits, load_iris  # noqa: E402
from sklearn.exceptions import ConvergenceWarning  # noqa: E402
from sklearn.metrics import pairwise_distances  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402
from sklearn.utils.estimator_checks import parametrize_with_checks  # noqa: E402

from pybandit.cluster import KMedoids, kmedoids  # noqa: E402

# As for KMeans: a row of weight 2 is not sampled as two rows are.
EXPECTED = {f"check_sample_weight_equivalence_on_{kind}_data":
            "a weight is not equivalent to repeated rows, because samples differ"
            for kind in ("dense", "sparse")}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks([KMedoids(), KMedoids(metric="manhattan", n_init=2)],
                         expected_failed_checks=lambda one: EXPECTED)
def test_passes_the_checks_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def digits():
    return load_digits(return_X_y=True)[0].astype(np.float32)


def test_equals_the_function(digits):
    found, result = KMedoids(10, random_state=3).fit(digits), kmedoids(digits, 10, rng=3)
    assert (found.labels_ == result.labels).all() and found.labels_.dtype == np.int32
    assert (found.medoid_indices_ == result.indices).all()
    assert (found.inertia_, found.n_iter_, found.n_swaps_, found.n_distances_) == (
        result.inertia, result.n_iter, result.n_swaps, result.n_distances)
    assert found.cluster_centers_.dtype == np.float32
    assert (found.cluster_centers_ == digits[found.medoid_indices_]).all()


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine", "sqeuclidean", "hamming"])
def test_predict_transform_and_score_agree_with_fit(digits, metric):
    found = KMedoids(6, metric=metric, random_state=0).fit(digits)
    assert (found.predict(digits) == found.labels_).all()
    distances = found.transform(digits)
    assert distances.shape == (len(digits), 6) and distances.dtype == np.float32
    expected = pairwise_distances(digits, found.cluster_centers_, metric=metric)
    assert np.allclose(distances, expected, rtol=1e-4, atol=1e-5)
    assert found.score(digits) == pytest.approx(-found.inertia_, rel=1e-6)
    assert (found.fit_predict(digits) == found.labels_).all()


def test_blocks_of_rows_do_not_change_predictions(digits, monkeypatch):
    found = KMedoids(5, random_state=0).fit(digits)
    labels, distances = found.predict(digits), found.transform(digits)
    monkeypatch.setattr("pybandit.cluster._assign.AT_ONCE", 1)
    assert (found.predict(digits) == labels).all() and (found.transform(digits) == distances).all()


def test_precomputed_distances(digits):
    rows, new = digits[:500], digits[500:600]
    matrix = pairwise_distances(rows.astype(float))
    found = KMedoids(5, metric="precomputed", random_state=0).fit(matrix)
    same = KMedoids(5, random_state=0).fit(rows.astype(float))
    assert (found.medoid_indices_ == same.medoid_indices_).all()
    assert found.cluster_centers_ is None
    between = pairwise_distances(new.astype(float), rows.astype(float))
    assert (found.predict(between) == same.predict(new)).all()
    assert np.allclose(found.transform(between), same.transform(new.astype(float)))


def test_pipeline_data_frame_and_names():
    pytest.importorskip("pandas")
    X, _ = load_iris(return_X_y=True, as_frame=True)
    pipeline = make_pipeline(StandardScaler(), KMedoids(3, random_state=0))
    pipeline.set_output(transform="pandas")
    frame = pipeline.fit_transform(X)
    assert list(frame) == ["kmedoids0", "kmedoids1", "kmedoids2"] and len(frame) == len(X)
    assert (KMedoids(3, random_state=0).fit(X).feature_names_in_ == list(X)).all()
    assert clone(pipeline).get_params()["kmedoids__n_clusters"] == 3


def test_weights_change_the_medoids():
    X = np.array([[0.0], [1.0], [10.0], [11.0], [12.0]])
    weights = np.array([5.0, 1.0, 0.0, 0.0, 9.0])
    found = KMedoids(2, random_state=0).fit(X, sample_weight=weights)
    assert {*found.medoid_indices_.tolist()} == {0, 4} and found.inertia_ == 1.0
    assert found.score(X, sample_weight=weights) == -1.0


def test_fewer_different_rows_than_clusters_warn():
    with pytest.warns(ConvergenceWarning, match="2 clusters were found instead of n_clusters=3"):
        found = KMedoids(3, random_state=0).fit(np.repeat([[0.0], [1.0]], 5, axis=0))
    assert found.inertia_ == 0 and {*found.labels_.tolist()} < {0, 1, 2}


def test_few_passes_warn():
    with pytest.warns(ConvergenceWarning, match="1 passes did not suffice"):
        KMedoids(20, max_iter=1, random_state=0).fit(
            np.random.default_rng(0).random((3000, 2)))


def test_verbose_prints_a_line_per_stage(capsys):
    KMedoids(3, random_state=0, verbose=1).fit(np.random.default_rng(0).random((5000, 2)))
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3 and all(line.startswith("[KMedoids] ") for line in lines)
    assert "5,000 points" in lines[-1] and "distances per point" in lines[-1]


def test_failed_fit_leaves_the_estimator_unchanged(digits):
    found = KMedoids(3, random_state=0).fit(digits)
    before = dict(vars(found))
    with pytest.raises(ValueError, match="at least 0"):
        found.fit(digits, sample_weight=-np.ones(len(digits)))
    after = {**vars(found)}
    assert after == before


def test_n_jobs_does_not_change_results(digits):
    one, two = (KMedoids(10, random_state=0, n_jobs=n).fit(digits) for n in (None, 2))
    assert (one.labels_ == two.labels_).all() and one.inertia_ == two.inertia_
