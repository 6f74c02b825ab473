"""Model search with few fits: a scikit-learn search whose pulls are single fits.

Hoffman, Shahriari and de Freitas, On correlation and budget constraints in model-based
bandit optimization with application to automatic machine learning, AISTATS 2014.
"""

import copy
import numbers
from collections.abc import Callable
from typing import Any, Self

import numpy as np

from pybandit._shared.checks import check_integer
from pybandit._shared.errors import InfeasibleBudgetError
from pybandit._shared.optional import require
from pybandit.model_selection._candidates import GaussianAsker, PlainAsker, ScoreTable, search
from pybandit.model_selection._parameter_kernel import ParameterKernel, keys_of
from pybandit.model_selection._policies import (
    GAUSSIAN,
    gaussian_maker,
    plain_policy,
    scaled_kernel,
)
from pybandit.model_selection._score_model import LENGTH_SCALES
from pybandit.model_selection._threads import one_blas_thread
from pybandit.policies import Policy

require("sklearn.model_selection", "sklearn")

from sklearn.base import is_classifier  # noqa: E402
from sklearn.model_selection import ParameterGrid, check_cv  # noqa: E402
from sklearn.utils import check_random_state  # noqa: E402
from sklearn.utils._param_validation import HasMethods, StrOptions  # noqa: E402

from pybandit.model_selection._base import SearchBase  # noqa: E402
from pybandit.model_selection._fits import Fits, OnePull, full_results  # noqa: E402

__all__ = ["BanditSearchCV"]

AUTO = "bayes-gap"


class BanditSearchCV(SearchBase):
    """Grid search that fits each candidate on as few splits as the choice needs.

    A pull fits one candidate on one split. The policy receives the scores so far and requests
    the next pull. Candidates of one estimator family with similar parameters inform each other,
    so the budget may be smaller than the number of candidates.

    Parameters
    ----------
    estimator : estimator object
    param_grid : dict or list of dict
        As for ``GridSearchCV``. The candidates of one dict with the same estimator classes form
        a family. Equal candidates are fitted once.
    policy : str, callable or Policy, default "auto"
        ``"bayes-gap"`` (the meaning of ``"auto"``), ``"gp-ucb"``, ``"bayes-ucb"``,
        ``"thompson"``, ``"ei"`` and ``"pi"`` use the Gaussian model of docs/model_search.md.
        ``"halving"`` is `SequentialHalving`, which needs one pull per candidate and stage. A
        callable ``policy(n_arms, budget, kernel)`` returns a `Policy`; a `Policy` object is
        copied. Both receive the raw scores.
    budget : int or float, default 0.2
        Maximum number of fits, an int of at least 2. A float in (0, 1] is a share of the fits
        of the full grid, candidates times splits. The refit does not count.
    kernel : None, ndarray or callable
        Covariance of the candidates' mean scores up to a factor, shape
        (n_candidates, n_candidates), or a function ``kernel(list of candidates)`` that returns
        it. By default, squared-exponential in the parameters within a family.
    scoring, n_jobs, refit, cv, verbose, pre_dispatch, error_score, return_train_score
        As for ``GridSearchCV``, but with one metric only. A callable `refit` chooses among
        ``cv_results_`` and replaces the policy's choice. Fits run in parallel if the policy
        requests several: the first ones, and all fits of ``"halving"``.
    random_state : None, int or RandomState
        Determines the order of the splits, the first candidates, and the policy's draws.

    Attributes
    ----------
    cv_results_ : dict of arrays
        As for ``GridSearchCV``, with all candidates in the order of the grid. Entries of splits
        on which a candidate was not fitted are NaN; means, standard deviations and ranks are
        over its fitted splits. Additional keys: ``n_splits``, the number of splits with a score;
        ``n_lost``, the number of fits without one; and, if the policy has a model,
        ``policy_mean`` and ``policy_std``, its prediction of the score.
    best_index_ : int
        Recommendation of the policy among candidates with a score; need not have rank 1.
    best_score_ : float
        Mean score of this candidate over its fitted splits.
    n_fits_ : int
        Number of fits, at most the budget.
    n_reused_ : int
        Pulls of candidates whose splits were all fitted, answered at no cost.
    policy_ : Policy
    best_estimator_, best_params_, scorer_, n_splits_, refit_time_, multimetric_
        As for ``GridSearchCV``.

    Raises
    ------
    InfeasibleBudgetError
        In ``fit``, if `budget` is below 2 fits or too small for `policy`.
    ValueError
        In ``fit``, if all fits failed, a kernel is not symmetric and positive semidefinite, or
        `cv` has no splits.

    Notes
    -----
    In addition to the fits, a pull costs O(n K^2) for n pulls so far and K candidates, and less
    if n is large. Solves between fits use one BLAS thread in the whole process; fits are not
    limited.

    A call of ``fit`` that raises leaves the search unchanged. Threads may fit one search at
    once: each makes all the fits, and the search keeps the attributes of the last one.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from pybandit.model_selection import BanditSearchCV
    >>> grid = {"C": [0.01, 0.1, 1, 10, 100], "gamma": [0.001, 0.01, 0.1, 1, 10]}
    >>> found = BanditSearchCV(SVC(), grid, random_state=0).fit(*load_iris(return_X_y=True))
    >>> found.n_fits_, found.best_score_ > 0.9
    (25, np.True_)
    """

    n_fits_: int
    n_reused_: int
    policy_: Policy

    _parameter_constraints = {
        **SearchBase._parameter_constraints,
        "scoring": [c for c in SearchBase._parameter_constraints["scoring"]
                    if c not in (list, tuple, dict)],  # the policy maximises one metric
        "refit": ["boolean", callable],
        "param_grid": [dict, list],
        "policy": [StrOptions({"auto", "halving", *GAUSSIAN}), callable,
                   HasMethods(["ask", "tell", "recommend"])],
        "budget": [numbers.Real],
        "kernel": ["array-like", callable, None],
        "random_state": ["random_state"],
    }

    def __init__(self, estimator: Any, param_grid: dict[str, Any] | list[dict[str, Any]], *,
                 policy: Any = "auto", budget: float = 0.2, kernel: Any = None,
                 scoring: str | Callable[..., float] | None = None, n_jobs: int | None = None,
                 refit: bool | Callable[..., int] = True, cv: Any = None, verbose: int = 0,
                 pre_dispatch: int | str = "2*n_jobs", error_score: float | str = np.nan,
                 return_train_score: bool = False, random_state: Any = None) -> None:
        super().__init__(estimator, scoring=scoring, n_jobs=n_jobs, refit=refit, cv=cv,
                         verbose=verbose, pre_dispatch=pre_dispatch, error_score=error_score,
                         return_train_score=return_train_score)
        self.param_grid = param_grid
        self.policy = policy
        self.budget = budget
        self.kernel = kernel
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        """Search, then fit the recommended candidate to all data.

        X, y and the parameters are those of ``GridSearchCV.fit``. Returns the search.
        """
        self._check_scoring()
        # on a copy: a failure leaves this search unchanged, and threads do not interfere
        search = copy.copy(self)
        search._splits = OnePull(check_cv(self.cv, y, classifier=is_classifier(self.estimator)))
        search._prints = self.verbose > 0
        # BaseSearchCV.fit prints and fits all splits of its cv at once: here it sees one split
        search.cv, search.verbose = search._splits, 0
        super(BanditSearchCV, search).fit(X, y, **params)
        search.n_splits_ = len(search._splits.splits)
        kept = {*self.get_params(deep=False), "_splits", "_prints", "_fits", "_recommended"}
        vars(self).update({name: value for name, value in vars(search).items()
                           if name not in kept})
        return self

    def get_metadata_routing(self) -> Any:
        """Return which object receives which parameter of ``fit``, as in ``GridSearchCV``."""
        self._check_scoring()
        return super().get_metadata_routing()

    def _check_scoring(self):
        """Raise for several metrics; scikit-learn would raise a misleading error about `refit`."""
        if not (self.scoring is None or isinstance(self.scoring, str) or callable(self.scoring)):
            raise ValueError("scoring must be one metric, which the policy maximises: None, a name "
                             f"or a callable; got {self.scoring!r}")

    # The hooks of BaseSearchCV.fit, in the order in which it calls them.

    def _run_search(self, evaluate_candidates):
        candidates, grids = _candidates(self.param_grid)
        arms = _distinct(candidates)
        _, first = np.unique(arms, return_index=True)
        distinct = [candidates[i] for i in first]
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31))
        n_splits = len(self._splits.splits)
        if not n_splits:
            raise ValueError(f"cv must give at least one split; got none from {self._splits.cv!r}")
        table = ScoreTable(len(distinct), n_splits, rng)
        budget = _n_fits(self.budget, table.scores.size)
        asker = self._asker(candidates, np.array(grids), first, table, budget, rng)
        self._fits = Fits(evaluate_candidates, distinct, self._splits.splits, budget,
                          error_score=self.error_score, verbose=self._prints,
                          return_train_score=self.return_train_score)
        self.n_reused_ = search(asker, table, budget, self._fits)
        self._fits.raise_or_warn()
        self.n_fits_, self.policy_ = table.n_fits, asker.policy
        with one_blas_thread():
            best = asker.best(table) if np.isfinite(table.scores).any() else 0
        self._recommended = int(first[best])
        self._fits.results.update(full_results(super()._format_results, candidates, arms,
                                               self._fits, n_splits, asker))

    def _format_results(self, candidate_params, n_splits, out, more_results=None):
        """Return the dict that becomes ``cv_results_``; it is filled after the last fit."""
        return self._fits.take(out)

    def _select_best_index(self, refit, refit_metric, results):
        if callable(refit):
            return super()._select_best_index(refit, refit_metric, results)
        return self._recommended

    def _asker(self, candidates, grids, first, table, budget, rng):
        parameter_kernel = ParameterKernel([candidates[i] for i in first], grids[first])
        given = (None if self.kernel is None
                 else scaled_kernel(self.kernel, candidates)[np.ix_(first, first)])

        def kernels(*scales):
            return [parameter_kernel(scale) for scale in scales] if given is None else [given]

        name = self.policy
        if len(first) > 1 and isinstance(name, str) and name != "halving":
            name = AUTO if name == "auto" else name
            return GaussianAsker(gaussian_maker(name, budget, rng), kernels(*LENGTH_SCALES),
                                 parameter_kernel.families, table, budget, rng)
        middle = LENGTH_SCALES[len(LENGTH_SCALES) // 2]
        return PlainAsker(plain_policy(name, len(first), budget, lambda: kernels(middle)[0]))


def _candidates(param_grid):
    """Return all parameter settings, and the index of each one's grid."""
    found = [(candidate, number) for number, grid
             in enumerate([param_grid] if isinstance(param_grid, dict) else param_grid)
             for candidate in ParameterGrid(grid)]
    if not found:
        raise ValueError(f"param_grid must have at least one candidate; got {param_grid!r}")
    return tuple(map(list, zip(*found, strict=True)))


def _distinct(candidates):
    """Return the arm of each candidate; equal candidates share an arm."""
    keys_at = keys_of([value for candidate in candidates for value in candidate.values()])
    keys = [frozenset((name, keys_at[id(value)]) for name, value in candidate.items())
            for candidate in candidates]
    number = {key: i for i, key in enumerate(dict.fromkeys(keys))}
    return np.array([number[key] for key in keys])


def _n_fits(budget, n_all):
    """Return the budget in fits, at most those of the full grid."""
    if isinstance(budget, numbers.Integral):
        budget = check_integer("budget", budget, -np.inf)
        if budget < 2:
            raise InfeasibleBudgetError("budget must be at least 2 fits: a search needs two fits "
                                        f"to compare; got {budget}")
        return min(budget, n_all)
    if not 0 < budget <= 1:
        raise ValueError("budget must be an integer, or a share of the full grid's fits in "
                         f"(0, 1]; got {budget!r}")
    return min(max(2, round(budget * n_all)), n_all)
