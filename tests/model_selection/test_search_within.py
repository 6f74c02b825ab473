"""Metadata routing, BLAS threads and Python threads of a search."""

import threading

import numpy as np
import pytest

import pybandit as pb

pytest.importorskip("sklearn")

import sklearn  # noqa: E402
from sklearn.datasets import load_iris  # noqa: E402
from sklearn.metrics import accuracy_score, make_scorer  # noqa: E402
from sklearn.model_selection import GridSearchCV, GroupKFold  # noqa: E402
from sklearn.svm import SVC  # noqa: E402
from threadpoolctl import threadpool_info, threadpool_limits  # noqa: E402

from pybandit.model_selection import BanditSearchCV  # noqa: E402
from pybandit.model_selection._threads import one_blas_thread  # noqa: E402

GRID = {"C": [0.1, 1.0, 10.0], "gamma": [0.001, 0.1, 1.0]}
X, Y = load_iris(return_X_y=True)
# weights that change the scores, and groups that are not the classes
WEIGHTS = np.where(np.arange(Y.size) % 7 == 0, 50.0, 0.1)
GROUPS = np.arange(Y.size) % 10


def all_scores(search):
    results = search.cv_results_
    return np.column_stack([results[f"split{i}_test_score"] for i in range(search.n_splits_)])


def both(estimator, fit, **options):
    """Return scores of all candidates on all splits, of BanditSearchCV and GridSearchCV."""
    ours = BanditSearchCV(estimator, GRID, budget=1.0, random_state=0, policy=every, **options)
    theirs = GridSearchCV(estimator, GRID, **options)
    return all_scores(ours.fit(X, Y, **fit)), all_scores(theirs.fit(X, Y, **fit))


def every(n_arms, budget, kernel):
    """Return a policy that requests all candidates on all splits."""
    return pb.policies.Uniform(n_arms, budget=budget)


def test_sample_weights_work_without_routing():
    weighted, expected = both(SVC(), {"sample_weight": WEIGHTS}, cv=3)
    np.testing.assert_array_equal(weighted, expected)
    plain, _ = both(SVC(), {}, cv=3)
    assert (plain != weighted).any()


def test_groups_work_without_routing():
    found, expected = both(SVC(), {"groups": GROUPS, "sample_weight": WEIGHTS}, cv=GroupKFold(3))
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("scored", [True, False])
def test_metadata_is_routed_as_by_scikit_learn(scored):
    with sklearn.config_context(enable_metadata_routing=True):
        scorer = make_scorer(accuracy_score).set_score_request(sample_weight=scored)
        options = dict(cv=GroupKFold(3).set_split_request(groups=True), scoring=scorer)
        found, expected = both(SVC().set_fit_request(sample_weight=True),
                               {"groups": GROUPS, "sample_weight": WEIGHTS}, **options)
    np.testing.assert_array_equal(found, expected)


def test_unrequested_metadata_is_rejected():
    with sklearn.config_context(enable_metadata_routing=True):
        with pytest.raises(ValueError, match="sample_weight.*not explicitly set.*SVC.fit"):
            BanditSearchCV(SVC(), GRID, cv=3).fit(X, Y, sample_weight=WEIGHTS)


@pytest.mark.parametrize("refit", [True, "accuracy", False])
@pytest.mark.parametrize("scoring", [["accuracy", "f1_macro"], {"a": "accuracy"}, 7])
def test_several_metrics_are_an_error_of_scoring(scoring, refit):
    search = BanditSearchCV(SVC(), GRID, cv=3, scoring=scoring, refit=refit)
    for call in lambda: search.fit(X, Y), search.get_metadata_routing:
        with pytest.raises(ValueError, match="^scoring must be one metric.*got "):
            call()


def n_blas_threads():
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


def test_solves_use_one_blas_thread_but_fits_are_not_limited():
    """While the policy chooses, no linear algebra library uses a second thread."""
    seen = {"policy": set(), "fit": set()}

    class Watched(pb.policies.Uniform):
        def ask(self):
            seen["policy"] |= n_blas_threads()
            return super().ask()

    class WatchedFit(SVC):
        def fit(self, *arguments, **options):
            seen["fit"] |= n_blas_threads()
            return super().fit(*arguments, **options)

    with threadpool_limits(2, user_api="blas"):
        BanditSearchCV(WatchedFit(), GRID, cv=3, budget=9,
                       policy=lambda n, budget, kernel: Watched(n, budget=budget)).fit(X, Y)
        assert n_blas_threads() == seen["fit"] == {2} and seen["policy"] == {1}


def test_overlapping_limits_restore_the_number_of_threads():
    def limit():
        for _ in range(200):
            with one_blas_thread():
                pass

    with threadpool_limits(2, user_api="blas"):
        threads = [threading.Thread(target=limit) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert n_blas_threads() == {2}


def test_threads_may_fit_one_search():
    """Each thread makes a complete search, and gets the result of a single search."""
    def make():
        return BanditSearchCV(SVC(), GRID, cv=3, budget=9, random_state=0)

    alone, shared, errors = make().fit(X, Y), make(), []

    def fit():
        try:
            shared.fit(X, Y)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=fit) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors and shared.get_params() == make().get_params() | {
        "estimator": shared.estimator}
    assert shared.n_fits_ == alone.n_fits_ and shared.best_index_ == alone.best_index_
    np.testing.assert_array_equal(all_scores(shared), all_scores(alone))


def test_a_fit_that_raises_leaves_the_search_unchanged():
    search = BanditSearchCV(SVC(), GRID, cv=3, random_state=0).fit(X, Y)
    before = dict(vars(search))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        search.fit(X, Y[:-1])
    assert vars(search) == before
