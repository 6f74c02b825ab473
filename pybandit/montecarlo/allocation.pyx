# cython: auto_pickle=False
"""A budget shared among unbiased estimators of one number, and their values combined.

Neufeld, György, Schuurmans and Szepesvári, Adaptive Monte Carlo via bandit
allocation, ICML 2014.
"""

import math

import numpy as np

from pybandit._shared.checks import check_choice, check_integer, check_scalar
from pybandit._shared.schema import Schema, finite, integer
from pybandit.montecarlo._intervals import normal_width, sequence_width
from pybandit.montecarlo._sharing import SHARED
from pybandit.montecarlo._weights import inverse_variance, pooled

from libc.stdint cimport int64_t

from pybandit.montecarlo._csrc cimport pb_variance, pb_variance_least
from pybandit.montecarlo._sharing cimport SharedBudget

__all__ = ["EstimatorAllocator"]

WEIGHTS = ("mean", "inverse-variance", "predictable")


cdef class EstimatorAllocator(SharedBudget):
    """Spends a budget on the best of several unbiased estimators, and combines all values.

    All estimators have the same unknown mean, their values differ in variance and in
    cost. Which of them is worth its cost is learned on the way; every value counts in
    the estimate. The protocol is that of every policy, with estimators for arms:
    `ask` which to run, `tell` what they gave, and read `estimate` at any time.

    Parameters
    ----------
    n_estimators : int
        K, at least 1.
    policy : str or Policy, default "thompson-variance"
        How to choose. On the sample variances, after `pilot` values of each:
        ``"thompson-variance"`` runs the least ``c_k s_k^2 (N_k - 1) / chi^2_{N_k - 1}``
        with a new draw of each chi-square, ``"lcb-variance"`` the least
        ``log(c_k s_k^2) - sqrt(4 log t / N_k)``; N_k are the values of estimator k,
        s_k^2 their variance and c_k their mean cost. ``"uniform"`` runs all in turn.
        The paper's way is a bandit policy, ``"ucb1"``, ``"ucb-v"``, ``"kl-ucb"``,
        ``"thompson"`` or a fresh policy of this package without a budget, on rewards
        in [0, 1]: see Notes.
    value_range : (float, float), float or array_like of shape (n_estimators, 2), optional
        For the bandit policies: where all values lie, low and high, or 0 and that
        number; or the range of each estimator, whose upper bounds are then scaled
        back to common units (Appendix B; not for ``"thompson"``). A value outside
        counts as lost by a whole reward in the choice, and in the estimate as it is.
        Without it a pilot of `pilot` values each sets centre and scale.
    costs : {"equal", "observed"}
        Whether a run costs 1, or what `tell` is told.
    weights : {"mean", "inverse-variance", "predictable"}
        How values combine: see Notes.
    budget : float, optional
        The total cost to spend; with equal costs an integer number of runs. None:
        as long as one likes. A run that ends beyond the budget is counted and does
        not enter the estimate, as Neufeld et al. have it.
    batch_size : int, default 1
        Runs for each decision, at least 1: what can be done at once.
    pilot : int, default 10
        First runs of each estimator, at least 2, where the policy needs them.
    centre : float, optional
        For the bandit policies: losses are squares about it. The nearer to the mean,
        the less noise; by default the lower end of `value_range`, as printed, or the
        pilot's estimate.
    max_cost : float, optional
        For bandit policies with observed costs: the largest cost. With `value_range`
        it makes the pilot unnecessary.
    dependent_costs : bool, default False
        For bandit policies with observed costs: whether a run's cost may depend on its
        value; then three runs make a reward, and not two.
    cost_floor : float, default 1e-9
        Costs below it count as it; above 0.
    least_values : int, optional
        Estimators with fewer values have no weight: 30 by default for
        ``"inverse-variance"``, 10 for ``"predictable"``; at least 2.
    rng : None, int, SeedSequence or Generator
        What Thompson sampling draws from, through a stream of its own.

    Attributes
    ----------
    done : bool
        Whether the budget is spent.
    n_pulls, n_batches : int
        Runs and batches that were told, lost runs included.
    pulls, means, variances : ndarray, shape (n_estimators,)
        Values of each estimator, their mean and sample variance.
    total_cost : float
        What all runs cost.

    Raises
    ------
    ValueError, TypeError
        Where an argument is outside its range; `InfeasibleBudget` where the budget
        does not pay the pilot.

    Notes
    -----
    Weights. The pooled mean, ``"mean"``, is exactly unbiased, and its squared error
    times n^2 exceeds that of the best estimator by ``sum_k E[N_k] (V_k - V*)`` for any
    policy (Theorem 1): runs of bad estimators cost their whole variance.
    ``"inverse-variance"``, ``sum_k (N_k / v_k) mean_k / sum_k N_k / v_k``, hardly feels
    them; its bias is about ``-sum_k p_k (1 - p_k) m3_k / (N_k V_k)``, p_k the share of
    the weight and m3_k the third central moment, so it grows with skewness; under
    adaptive choices there is some for symmetric laws too, and where a variance is
    estimated far too low (no rare event seen yet) the estimate is ruined. Hence
    `least_values`, and an estimator whose values are all alike counts as having the
    least positive variance of the others. ``"predictable"`` weighs each value with
    1 / v_k of the values before it. The sum of weighted errors is then a martingale
    whatever the choices, and `interval` holds at all times together. But the estimate
    divides by the sum of the weights, and a weight is never taken back: the first rare
    large value of an estimator that looked exact is ruinous. Not for such estimators.

    A sample variance of 0 is taken at its word by the policies on variances: that
    estimator is run until two of its values differ.

    Rewards of the bandit policies. With equal costs ``1 - (X - centre)^2 / B^2``,
    at least 0; any centre keeps the order of the variances. B is the distance of
    the farther end of `value_range`, or 4 times the standard deviation of the
    pilot's least spread estimators. With observed costs two runs make one reward,
    ``1 - (D + D') (X - X')^2 / (4 S)``, where S is ``max_cost B^2 / 2``, or follows of
    the pilot.

    O(K) a decision.

    References
    ----------
    Neufeld, György, Schuurmans and Szepesvári, ICML 2014. The policies on variances
    and predictable weights are not in the paper.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> rng = np.random.default_rng(1)
    >>> sd = np.array([5.0, 1.0, 20.0])
    >>> allocator = pb.EstimatorAllocator(3, budget=2000, weights="predictable", rng=1)
    >>> while not allocator.done:
    ...     which = allocator.ask()
    ...     allocator.tell(which, rng.normal(7.0, sd[which]))
    >>> int(allocator.pulls.argmax()), bool(abs(allocator.estimate - 7.0) < 0.1)
    (1, True)
    """

    def __init__(self, n_estimators, policy="thompson-variance", *, value_range=None,
                 costs="equal", weights="mean", budget=None, batch_size=1, pilot=10,
                 centre=None, max_cost=None, dependent_costs=False, cost_floor=1e-9,
                 least_values=None, rng=None):
        super().__init__(n_estimators, policy, value_range=value_range, costs=costs,
                         budget=budget, batch_size=batch_size, pilot=pilot, centre=centre,
                         max_cost=max_cost, dependent_costs=dependent_costs,
                         cost_floor=cost_floor, rng=rng)
        self.weights = check_choice("weights", weights, WEIGHTS)
        self.predictable = weights == "predictable"
        if least_values is None:
            least_values = 30 if weights == "inverse-variance" else 10
        self.least_values = check_integer("least_values", least_values, 2)
        self.squares = np.zeros(self.n_arms)
        self._made(EstimatorAllocator)

    cdef object _schema(self):
        return ALLOCATOR

    cdef void _weigh(self, int64_t arm, double value) noexcept nogil:
        cdef double weight
        if not self.predictable:
            return
        if self.weight == 0.0:
            self.origin = value
        weight = self._weight_of(arm)
        self.weight += weight
        self.weighted += weight * (value - self.origin)
        self.squares[arm] += weight * weight
        self.n_weighted += weight > 0.0

    cdef double _weight_of(self, int64_t arm) noexcept nogil:
        """1 / variance of the values so far; 0 where there are too few, or none differ."""
        cdef double variance
        if self._pulls[arm] < self.least_values:
            return 0.0
        variance = pb_variance(self._pulls[arm], self._sums[arm], self._deviations[arm])
        if variance == 0.0:
            variance = pb_variance_least(&self._pulls[0], &self._sums[0], &self._deviations[0],
                                         self.n_arms)
        return 1.0 / variance if variance > 0.0 else 0.0

    @property
    def variances(self):
        """Sample variance of each estimator's values; NaN below two, 0 for rounding errors."""
        with self.guard.reading():
            return np.array([pb_variance(self._pulls[k], self._sums[k], self._deviations[k])
                             if self._pulls[k] > 1 else math.nan for k in range(self.n_arms)])

    @property
    def estimate(self):
        """The combined estimate; NaN before the first value."""
        return self._combine()[0]

    @property
    def standard_error(self):
        """Estimated standard deviation of `estimate`; NaN where variances are not known."""
        return self._combine()[1]

    def interval(self, alpha=0.05, *, anytime=None):
        """An interval for the estimators' mean.

        Parameters
        ----------
        alpha : float, default 0.05
            Probability of missing the mean, in (0, 1).
        anytime : bool, optional
            Whether it holds at all times together, so that one may look again and
            again and stop when it is short: the asymptotic confidence sequence of
            Waudby-Smith et al. 2021 (Theorem 2.2) for the martingale of weighted
            errors, tightest near 1,000 values. Not for ``weights="inverse-variance"``.
            Else a normal interval, for one look at a time fixed beforehand. By
            default what `weights` allows: True with ``"predictable"``.

        Returns
        -------
        low, high : float
            NaN where `standard_error` is.
        """
        alpha = check_scalar("alpha", alpha, "in (0, 1)", lambda x: (x > 0) & (x < 1))
        if anytime is None:
            anytime = self.predictable
        if anytime and self.weights == "inverse-variance":
            raise ValueError("anytime must be False with weights='inverse-variance', which look at "
                             "later values; use 'predictable'")
        estimate, error = self._combine()
        n = self.n_weighted if self.n_weighted else np.sum(self._pulls)
        radius = error * (sequence_width(n, alpha) if anytime else normal_width(alpha))
        return float(estimate - radius), float(estimate + radius)

    def _combine(self):
        """Estimate and standard error."""
        self.guard.check()
        pulls, variances = np.asarray(self._pulls), self.variances
        if self.weight > 0.0:
            error = math.sqrt(np.nansum(self.squares * variances)) / self.weight
            return self.origin + self.weighted / self.weight, error
        if self.weights == "inverse-variance":
            return inverse_variance(pulls, self.means, variances, self.least_values)
        return pooled(pulls, self.means, variances)

    def recommend(self):
        """The estimator of the least variance times cost seen, int64 of shape (1,)."""
        spreads = self.variances * self.mean_costs
        return np.array([np.argmin(np.where(np.isnan(spreads), np.inf, spreads))], dtype=np.int64)

    def plot(self, axes=None):
        """Each estimator's mean, share of the runs and the estimate; a matplotlib Figure."""
        from pybandit.montecarlo._figure import allocation_figure

        return allocation_figure(self, axes)

    def __repr__(self):
        if self.guard.reason is not None:
            return super().__repr__()
        return (f"<EstimatorAllocator: {self.n_arms} estimators, {self.n_pulls} runs, estimate "
                f"{self.estimate:.6g} +- {self.standard_error:.2g}>")

    def _options(self):
        return super()._options() | {"weights": self.weights, "least_values": self.least_values}

    def _get_progress(self):
        return super()._get_progress() | {
            "weight": self.weight,
            "weighted": self.weighted,
            "origin": self.origin,
            "n_weighted": self.n_weighted,
            "squares": np.array(self.squares),
        }

    def _set_progress(self, progress):
        super()._set_progress(progress)
        self.weight, self.weighted = progress["weight"], progress["weighted"]
        self.origin, self.n_weighted = progress["origin"], progress["n_weighted"]
        np.asarray(self.squares)[:] = progress["squares"]


ALLOCATOR = Schema(
    [finite("weight", low=0.0), finite("weighted"), finite("origin"),
     integer("n_weighted", 0, "n_pulls"), finite("squares", low=0.0, shape=("n_arms",))],
    base=SHARED)
