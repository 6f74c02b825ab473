"""Searches whose pulls are single fits: results, attributes and bad arguments."""

import pickle
import warnings

import numpy as np
import pytest

import pybandit as pb

pytest.importorskip("sklearn")

from sklearn.base import BaseEstimator, clone  # noqa: E402
from sklearn.datasets import load_iris  # noqa: E402
from sklearn.exceptions import FitFailedWarning  # noqa: E402
from sklearn.gaussian_process import GaussianProcessRegressor  # noqa: E402
from sklearn.gaussian_process.kernels import RBF  # noqa: E402
from sklearn.linear_model import LogisticRegression, Ridge  # noqa: E402
from sklearn.model_selection import GridSearchCV, ShuffleSplit  # noqa: E402
from sklearn.svm import SVC  # noqa: E402

from pybandit.model_selection import BanditSearchCV  # noqa: E402

NAMES = ("gp-ucb", "bayes-gap", "bayes-ucb", "thompson", "ei", "pi")
GRID = {"C": [0.01, 0.1, 1.0, 10.0, 100.0], "gamma": [0.001, 0.01, 0.1, 1.0]}


class Scaled(BaseEstimator):
    """Estimator with scores of any size."""

    def __init__(self, place=0.0, size=1.0):
        self.place, self.size = place, size

    def fit(self, X, y=None):
        return self

    def score(self, X, y=None):
        return -self.size * ((self.place - 2.0) ** 2 + np.cos(X[0, 0]))


class Peak(BaseEstimator):
    """Estimator with score -(place - 3)^2 plus a split effect; fails at negative places."""

    fits = []

    def __init__(self, place=0.0):
        self.place = place

    def fit(self, X, y=None):
        Peak.fits.append((self.place, int(X[0, 0])))
        if self.place < 0:
            raise RuntimeError("no such place")
        return self

    def score(self, X, y=None):
        return -((self.place - 3.0) ** 2) + 5.0 * np.cos(X[0, 0])


def peak_search(places, n_splits=5, **options):
    cv = [(np.array([i]), np.array([i])) for i in range(n_splits)]
    options = {"random_state": 1, "refit": False, **options}
    Peak.fits = []
    return BanditSearchCV(Peak(), {"place": list(places)}, cv=cv, **options).fit(
        np.arange(n_splits)[:, None])


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


@pytest.mark.parametrize("policy", NAMES)
def test_search_finds_the_peak_in_a_fifth_of_the_fits(policy):
    places = np.linspace(0.0, 6.0, 61)
    best = [peak_search(places, policy=policy, random_state=seed).best_params_["place"]
            for seed in range(3)]
    assert len(Peak.fits) <= 61 and np.abs(np.array(best) - 3.0).max() <= 0.3


def test_n_fits_equals_the_fits_made():
    found = peak_search(np.linspace(0.0, 6.0, 31))
    results = found.cv_results_
    table = np.array([results[f"split{i}_test_score"] for i in range(5)]).T
    assert len(Peak.fits) == len(set(Peak.fits)) == found.n_fits_ == results["n_splits"].sum()
    assert {(results["params"][i]["place"], j) for i, j in np.argwhere(np.isfinite(table))} == set(
        Peak.fits)
    true = -((np.linspace(0.0, 6.0, 31) - 3.0) ** 2)[:, None] + 5.0 * np.cos(np.arange(5))
    seen = np.isfinite(table)
    np.testing.assert_allclose(table[seen], true[seen])
    assert found.n_fits_ <= round(0.2 * 155) and (results["n_lost"] == 0).all()


def test_results_are_over_fitted_splits():
    found = peak_search(np.linspace(0.0, 6.0, 31))
    results = found.cv_results_
    table = np.array([results[f"split{i}_test_score"] for i in range(5)]).T
    for i, row in enumerate(table):
        scores = row[np.isfinite(row)]
        assert results["n_splits"][i] == scores.size
        if scores.size:
            assert results["mean_test_score"][i] == pytest.approx(scores.mean())
            assert results["std_test_score"][i] == pytest.approx(scores.std())
    means, ranks = results["mean_test_score"], results["rank_test_score"]
    unseen = np.isnan(means)
    assert unseen.any() and (ranks[unseen] == (~unseen).sum() + 1).all()
    assert (np.argsort(ranks[~unseen], kind="stable")
            == np.argsort(-means[~unseen], kind="stable")).all()
    assert found.best_score_ == means[found.best_index_]
    assert np.isfinite(results["policy_mean"]).all() and (results["policy_std"] >= 0).all()


def test_candidates_take_the_splits_in_one_order():
    peak_search(np.linspace(0.0, 6.0, 31), budget=60)
    orders = {}
    for place, split in Peak.fits:
        orders.setdefault(place, []).append(split)
    longest = max(orders.values(), key=len)
    assert len(longest) > 1 and all(order == longest[:len(order)] for order in orders.values())


def test_the_whole_grid_equals_the_grid_search(iris):
    """Scores of all fits equal those of GridSearchCV, also if requested all at once."""
    ours = BanditSearchCV(SVC(), GRID, policy=lambda k, n, kernel: pb.policies.Uniform(k, budget=n),
                          budget=1.0,
                          cv=3, return_train_score=True).fit(*iris)
    theirs = GridSearchCV(SVC(), GRID, cv=3, return_train_score=True).fit(*iris)
    assert ours.n_fits_ == 60 and ours.best_index_ == theirs.best_index_
    assert ours.best_score_ == pytest.approx(theirs.best_score_)
    assert set(theirs.cv_results_) | {"n_splits", "n_lost"} == set(ours.cv_results_)
    for name, column in theirs.cv_results_.items():
        if "score" in name and "time" not in name:
            np.testing.assert_allclose(ours.cv_results_[name], column, err_msg=name)
        elif name.startswith("param"):
            assert list(ours.cv_results_[name]) == list(column)
    np.testing.assert_array_equal(ours.predict(iris[0]), theirs.predict(iris[0]))


def test_results_depend_on_random_state_but_not_on_jobs(iris):
    searches = [BanditSearchCV(SVC(), GRID, cv=3, random_state=seed, n_jobs=jobs).fit(*iris)
                for seed, jobs in ((1, None), (1, 2), (2, None))]
    tables = [np.array([s.cv_results_[f"split{i}_test_score"] for i in range(3)])
              for s in searches]
    np.testing.assert_array_equal(tables[0], tables[1])
    assert (np.isnan(tables[0]) != np.isnan(tables[2])).any()


def test_splits_are_drawn_once(iris):
    """All pulls of a split use the same rows, even with a random splitter."""
    found = BanditSearchCV(SVC(), {"C": [1.0, 1.0 + 1e-9]}, cv=ShuffleSplit(4, test_size=0.1),
                           policy=pb.policies.Uniform(2, budget=8), budget=1.0).fit(*iris)
    first, second = (np.array([found.cv_results_[f"split{i}_test_score"][c] for i in range(4)])
                     for c in (0, 1))
    np.testing.assert_array_equal(first, second)


def test_equal_candidates_are_one_arm():
    found = peak_search([1.0, 2.0, 1.0, 2.0, 1.0], budget=1.0, policy=lambda k, n, kernel:
                        pb.policies.Uniform(k, budget=n))
    assert found.policy_.n_arms == 2 and found.n_fits_ == 10
    means = found.cv_results_["mean_test_score"]
    assert means[0] == means[2] == means[4] and means[1] == means[3]
    assert found.best_index_ == 1


def test_candidates_with_equal_reprs_are_fitted_separately(iris):
    """The repr of a kernel has no bounds, and only three digits of numbers."""
    X, y = iris[0][::10, :1], iris[0][::10, 2]
    kernels = [RBF(1.0, "fixed"), RBF(1.0), RBF(1.0, (1e-3, 1e-2)), RBF(1.0)]
    grid = {"alpha": [0.01], "kernel": kernels}
    found = BanditSearchCV(GaussianProcessRegressor(), grid, cv=3, budget=1.0, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the warnings are about a length scale at its bound
        found.fit(X, y)
        theirs = GridSearchCV(GaussianProcessRegressor(), grid, cv=3).fit(X, y)
    assert found.n_fits_ == 9
    np.testing.assert_allclose(found.cv_results_["mean_test_score"],
                               theirs.cv_results_["mean_test_score"])


def test_one_candidate_is_fitted():
    found = peak_search([2.0])
    assert found.n_fits_ == 2 and found.best_index_ == 0


@pytest.mark.filterwarnings("ignore:overflow")  # scikit-learn's standard deviations overflow
@pytest.mark.parametrize("size", [1e-200, 1e-150, 1e160, 1e250, 1e305])
def test_scores_with_overflowing_squares_are_searched(size):
    """The best candidate is found although the variance of scores overflows or underflows."""
    cv = [(np.array([i]), np.array([i])) for i in range(4)]
    found, plain = (BanditSearchCV(Scaled(size=of), {"place": list(range(7))}, cv=cv, budget=0.8,
                                   random_state=1).fit(np.arange(4)[:, None])
                    for of in (size, 1.0))
    assert found.best_params_["place"] == plain.best_params_["place"] == 2
    np.testing.assert_allclose(found.cv_results_["policy_mean"] / size,
                               plain.cv_results_["policy_mean"], rtol=1e-6)


@pytest.mark.parametrize("policy", NAMES)
def test_constant_scores_are_searched(policy, iris):
    found = BanditSearchCV(SVC(), GRID, policy=policy, cv=3, scoring=lambda e, X, y: 0.5,
                           refit=False).fit(*iris)
    assert found.best_score_ == 0.5


def test_lost_fits_are_counted_and_avoided():
    with pytest.warns(FitFailedWarning, match="fits failed out of a total of"):
        found = peak_search([*np.linspace(-6.0, -0.1, 16), *np.linspace(0.0, 6.0, 15)])
    results = found.cv_results_
    assert (results["n_lost"][16:] == 0).all() and (results["n_splits"][:16] == 0).all()
    assert 0 < results["n_lost"].sum() < 14 and found.best_params_["place"] >= 1.0
    assert results["n_lost"].sum() + results["n_splits"].sum() == found.n_fits_


def test_error_score_is_the_score_of_lost_fits():
    with pytest.warns(FitFailedWarning):
        found = peak_search([-2.0, -1.0, 1.0, 2.0], budget=1.0, error_score=-99.0,
                            policy=pb.policies.Uniform(4, budget=20))
    assert (found.cv_results_["mean_test_score"][:2] == -99.0).all()
    assert (found.cv_results_["n_lost"] == 0).all()


def test_all_fits_failed_raises():
    with pytest.raises(ValueError, match="All the 3 fits failed(.|\n)*no such place"):
        peak_search([-3.0, -2.0, -1.0])
    with pytest.raises(RuntimeError, match="no such place"):
        peak_search([-3.0, -2.0, -1.0], error_score="raise")


@pytest.mark.parametrize("options, error, match", [
    (dict(budget=1), pb.errors.InfeasibleBudgetError, "at least 2 fits.*got 1"),
    (dict(budget=0.0), ValueError, "share of the full grid.*got 0.0"),
    (dict(budget=1.5), ValueError, "share of the full grid.*got 1.5"),
    (dict(policy="halving"), pb.errors.InfeasibleBudgetError, "at least"),
    (dict(policy="best"), ValueError, "policy"),
    (dict(policy=pb.policies.Uniform(7, budget=9)), ValueError, "must have 20 arms.*got 7"),
    (dict(scoring=["accuracy", "f1"]), ValueError, "scoring"),
    (dict(scoring=lambda e, X, y: {"a": 1.0}), ValueError, "scoring must return one number"),
    (dict(kernel=np.eye(3)), ValueError, r"shape \(20, 20\).*got \(3, 3\)"),
    (dict(kernel=-np.eye(20)), ValueError, "kernel must be positive semi-?definite"),
    (dict(kernel=np.triu(np.ones((20, 20)))), ValueError, "kernel must be .*symmetric"),
    (dict(param_grid=[]), ValueError, "param_grid must have at least one candidate"),
])
def test_bad_arguments_are_rejected(options, error, match, iris):
    with pytest.raises(error, match=match):
        BanditSearchCV(SVC(), **{"param_grid": GRID, "cv": 3, **options}).fit(*iris)


def test_custom_kernels_are_used(iris):
    seen = []
    found = BanditSearchCV(SVC(), GRID, cv=3, random_state=0, kernel=lambda candidates: (
        seen.append(len(candidates)), 7.0 * np.eye(20))[1]).fit(*iris)
    same = BanditSearchCV(SVC(), GRID, cv=3, random_state=0, kernel=np.eye(20)).fit(*iris)
    assert seen == [20]
    np.testing.assert_allclose(found.cv_results_["policy_mean"], same.cv_results_["policy_mean"])


def test_callable_refit_chooses(iris):
    found = BanditSearchCV(SVC(), GRID, cv=3, refit=lambda results: 7).fit(*iris)
    assert found.best_index_ == 7 and not hasattr(found, "best_score_")


def test_search_behaves_like_other_estimators(iris):
    policy = pb.policies.Uniform(20, budget=60)
    search = BanditSearchCV(SVC(), GRID, policy=policy, cv=3, budget=1.0)
    assert policy.n_pulls == 0 and clone(search).fit(*iris).policy_.n_pulls == 60
    search.fit(*iris)
    assert policy.n_pulls == 0 and search.n_splits_ == 3 and search.verbose == 0
    again = pickle.loads(pickle.dumps(search))
    assert again.best_index_ == search.best_index_ and again.policy_.n_pulls == 60


def test_verbose_prints_each_batch(capsys):
    peak_search(np.linspace(0.0, 6.0, 10), budget=10, verbose=1)
    lines = capsys.readouterr().out.splitlines()
    assert lines and all(line.startswith("[BanditSearchCV] ") for line in lines)
    assert "10 of 10 fits" in lines[-1]


@pytest.mark.some(1)
@pytest.mark.parametrize("estimator, grid", [(Ridge(), {"alpha": [0.1, 1.0]}),
                                             (LogisticRegression(), {"C": [0.1, 1.0]})])
def test_estimator_checks(estimator, grid):
    """The search fails the same checks as GridSearchCV and no others."""
    checks = pytest.importorskip("sklearn.utils.estimator_checks")
    search = BanditSearchCV(estimator, grid, cv=2, error_score="raise", random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        outcomes = checks.check_estimator(search, on_fail=None, on_skip=None)
    failed = {outcome["check_name"] for outcome in outcomes if outcome["status"] == "failed"}
    assert failed <= {"check_supervised_y_2d"} and len(outcomes) > 40
