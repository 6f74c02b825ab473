# cython: auto_pickle=False
"""Share a budget among unbiased estimators of one number, and combine their values.

Neufeld, György, Schuurmans and Szepesvári, Adaptive Monte Carlo via bandit
allocation, ICML 2014.
"""

import math

import numpy as np

from pybandit._shared.checks import check_choice, check_scalar
from pybandit.montecarlo._intervals import Moments, all_times, method_of, one_look

from pybandit.montecarlo._csrc cimport pb_variance
from pybandit.montecarlo._weighing cimport WeighedValues

__all__ = ["EstimatorAllocator"]


cdef class EstimatorAllocator(WeighedValues):
    """Policy that spends a budget on the best of several unbiased estimators.

    All estimators have the same unknown mean. Their values differ in variance and cost. The
    allocator learns which of them are worth their cost, and every value counts in the
    estimate. The protocol is that of every policy, with estimators as arms: `ask` which to
    run, `tell` their values, and read `estimate` at any time.

    Parameters
    ----------
    n_arms : int
        K, at least 1.
    policy : str or Policy, default "thompson-variance"
        Rule of choice. Rules on the sample variances, after `pilot` values of each:
        ``"thompson-variance"`` runs the estimator with the smallest
        ``c_k s_k^2 (N_k - 1) / chi^2_{N_k - 1}``, with a new draw of each chi-square;
        ``"lcb-variance"`` the one with the smallest ``log(c_k s_k^2) - sqrt(4 log t / N_k)``.
        N_k is the number of values of estimator k, s_k^2 their variance and c_k their mean
        cost; t is the number of runs of the pilot plus the number of decisions since, this
        one included. ``"uniform"`` runs all in turn. The paper uses a bandit policy,
        ``"ucb1"``, ``"ucb-v"``, ``"kl-ucb"``, ``"thompson"`` or a fresh policy of this package
        without a budget, on rewards in [0, 1]: see Notes.
    costs : {"equal", "told"}, default "equal"
        ``"equal"``: a run costs 1. ``"told"``: `tell` receives the cost of each run.
    value_range : (float, float), float or array_like of shape (n_arms, 2), optional
        Range of all values: low and high, or 0 and that number; or the range of each
        estimator. It gives `interval` a guarantee. Bandit policies scale their rewards by
        it; without it, by a pilot of `pilot` values each. With a range per estimator, upper
        bounds are scaled back to common units (Appendix B; not for ``"thompson"``). A value
        outside the range gives the policy a reward of 0 and enters the estimate unchanged, and
        `interval` with bets raises.
    weights : {"mean", "inverse-variance", "predictable"}
        Weights of the values in the estimate: see Notes.
    budget : float, optional
        Total cost to spend; with equal costs an integer number of runs. None: no limit. A run
        that ends beyond the budget is counted but does not enter the estimate, as in Neufeld
        et al.
    batch_size : int, default 1
        Runs per decision, at least 1: the number that can be done in parallel.
    pilot : int, default 10
        Number of first runs of each estimator, at least 2, if the policy needs a pilot.
    centre : float, optional
        For the bandit policies: losses are squared distances from it. The nearer it is to the
        mean, the less noise; by default the lower end of `value_range`, as printed in the paper, or
        the pilot's estimate.
    max_cost : float, optional
        For bandit policies with ``costs="told"``: the largest cost. Together with
        `value_range` it makes the pilot unnecessary.
    dependent_costs : bool, default False
        For bandit policies with ``costs="told"``: True if a run's cost may depend on its
        value. A reward then takes three runs instead of two.
    cost_floor : float, default 1e-9
        Costs below it are replaced by it; above 0.
    least_values : int, optional
        Estimators with fewer values have no weight: 30 by default for
        ``"inverse-variance"``, 10 for ``"predictable"``; at least 2.
    rng : None, int, SeedSequence or Generator
        Source of a separate stream for Thompson sampling.

    Attributes
    ----------
    done : bool
        True if the budget is spent.
    n_pulls, n_batches : int
        Reported runs and batches, including lost runs.
    pulls, means, variances : ndarray, shape (n_arms,)
        Number of values of each estimator, their mean and sample variance.
    total_cost : float
        Cost of all runs.

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range; `InfeasibleBudgetError` if the budget
        is too small for the pilot.

    See Also
    --------
    combine_estimators : calls functions with an allocator.

    Notes
    -----
    *Weights.* The pooled mean, ``"mean"``, is exactly unbiased with equal costs. With observed
    costs it is not: the number of values that a budget buys depends on the choices, and these
    on earlier values. For two estimators with two values each, a budget of 14 and costs of 1 and
    4, the bias is -.09 standard deviations of the estimate; it decreases as the budget grows. The
    squared error of the pooled mean times n^2 exceeds that of the best estimator by
    ``sum_k E[N_k] (V_k - V*)`` for any policy (Theorem 1): each run of a bad estimator adds its
    excess variance.

    ``"inverse-variance"``, ``sum_k (N_k / v_k) mean_k / sum_k N_k / v_k``, is hardly affected by
    bad estimators. Its bias is about ``-sum_k p_k (1 - p_k) m3_k / (N_k V_k)``, where p_k is the
    share of the weight and m3_k the third central moment, so it grows with skewness. Under
    adaptive choices symmetric distributions have some bias too. If a variance is estimated far
    too low, because no rare event has been seen yet, the estimate is useless. Therefore
    estimators with fewer than `least_values` values have no weight, and one whose values are all
    equal is given the smallest positive variance of the others.

    ``"predictable"`` weighs each value with 1 / v_k of the values before its batch: all values of
    an estimator in a batch have the same weight, whatever their order. The sum of weighted errors
    is then a martingale for any choices, and `interval` an asymptotic confidence sequence; for a
    guarantee pass a `value_range`. The estimate divides by the sum of the weights, and past
    weights do not change, so the first rare large value of an estimator that looked exact ruins
    the estimate. Do not use it for such estimators.

    *Variances of 0.* The rules on variances trust a sample variance of 0: they run that
    estimator until two of its values differ. `variances` are 0 if the standard deviation is below
    1e-14 of the mean; for very many equal values rounding may leave more. A weight of
    ``"predictable"`` is at most 1e90 times that of the estimator weighed first.

    *Units.* Values should have standard deviations between 1e-100 and 1e100; within these limits
    units change nothing. `interval` without bets rejects others. Below about 1e-162 squares
    underflow to 0, and an estimator with such values looks exact; `tell` rejects values above
    1e150.

    *Rewards of the bandit policies.* With equal costs ``1 - (X - centre)^2 / B^2``, but at least
    0. Any centre preserves the order of the variances. B is the distance from the centre to the
    farther end of `value_range`, or 4 times the standard deviation of the pilot's least variable
    estimator. With ``costs="told"`` two runs make one reward,
    ``1 - (D + D') (X - X')^2 / (4 S)``, where S is ``max_cost B^2 / 2``, or is computed from
    the pilot.

    A decision costs O(K).

    **Threads.** Use the allocator and its `policy` in one thread at a time; a concurrent call
    raises RuntimeError.

    References
    ----------
    Neufeld, György, Schuurmans and Szepesvári, ICML 2014. The policies on variances
    and predictable weights are not in the paper.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> rng = np.random.default_rng(1)
    >>> sd = np.array([5.0, 1.0, 20.0])
    >>> allocator = pb.montecarlo.EstimatorAllocator(3, budget=2000, weights="predictable", rng=1)
    >>> while not allocator.done:
    ...     which = allocator.ask()
    ...     allocator.tell(which, rng.normal(7.0, sd[which]))
    >>> int(allocator.pulls.argmax()), bool(abs(allocator.estimate - 7.0) < 0.1)
    (1, True)
    """

    def __init__(self, n_arms, *, policy="thompson-variance", costs="equal",
                 value_range=None, weights="mean", budget=None, batch_size=1, pilot=10,
                 centre=None, max_cost=None, dependent_costs=False, cost_floor=1e-9,
                 least_values=None, rng=None):
        super().__init__(n_arms, policy, value_range=value_range, costs=costs,
                         budget=budget, batch_size=batch_size, pilot=pilot, centre=centre,
                         max_cost=max_cost, dependent_costs=dependent_costs,
                         cost_floor=cost_floor, weights=weights, least_values=least_values,
                         rng=rng)
        self._adopt()
        self._made(EstimatorAllocator)

    @property
    def variances(self):
        """Sample variance of each estimator's values; NaN if there are fewer than two.

        0 if the standard deviation is below 1e-14 of the mean, which may be a rounding error.
        For very many equal values it may be above 0.
        """
        with self.guard.reading():
            return np.array([pb_variance(self._pulls[k], self._sums[k], self._deviations[k])
                             if self._pulls[k] > 1 else math.nan for k in range(self.n_arms)])

    @property
    def estimate(self):
        """The combined estimate; NaN before the first value."""
        return self._combine().estimate

    @property
    def standard_error(self):
        """Estimated standard deviation of `estimate`; NaN if variances are unknown."""
        return self._combine().error

    def interval(self, *, delta=0.05, method=None, anytime=None):
        """Return an interval for the estimators' mean.

        Parameters
        ----------
        delta : float, default 0.05
            Probability of missing the mean, in (0, 1).
        method : {"betting", "asymptotic", "normal"}, optional
            ``"betting"``, the default if `value_range` was given, excludes the mean at some time
            with probability at most `delta`; see Notes. You may compute it after every
            `tell` and stop when it is short.
            ``"asymptotic"``, the default with ``weights="predictable"``, is for all times
            too, but with probability about `delta`: it trusts sample variances.
            ``"normal"``, otherwise the default, is for one time fixed beforehand, with
            probability about `delta`.
        anytime : bool, optional
            True if the interval must be valid at all times. Without `method`, True selects
            ``"betting"`` or, without a range, ``"asymptotic"``; False selects ``"normal"``.

        Returns
        -------
        low, high : float
            ``"betting"``: the possible range of the mean before the first value; low may exceed
            high if values contradict the ranges. Other methods: minus and plus infinity if
            an estimator with more than a hundredth of the weight has a variance of 0 or fewer
            than 10 values, its most frequent one counted once (50 with
            ``weights="inverse-variance"``), or if the estimate's skewness is above 0.15.

        Raises
        ------
        ValueError
            If the method is not available for the weights, bets have no range, a value was
            outside its range, or, for the other methods, an estimator with more than a
            hundredth of the weight has a standard deviation below 1e-100 or above 1e100.

        Notes
        -----
        *Bets.* Values of estimator k lie in [a_k, b_k] and have mean mu. Let F be the information
        available when a batch is requested: the choice of its estimators depends on F, and on
        random numbers that are independent of the values. Against a possible mean m, bet g wins
        ``1 + b (x - m)`` on each value x of the batch, with
        ``b = min(g (N_k + 1) / ((b_k - a_k)^2 / 4 + S_k), 0.9 / (m - a_k))``, where N_k is the
        number of values and S_k the sum of their squares about their mean in F. As
        ``x - m >= a_k - m``, a factor is at least 0.1. Given F, b is fixed and the batch's values
        are independent with mean mu, so for m = mu the product over the batch has mean 1, in
        whatever order the batch is reported. The wealth of a bet is the product over all batches.
        The mean wealth of the 20 bets is thus a nonnegative martingale started at 1, for any
        choices. By Ville's inequality it ever reaches ``2 / delta`` with probability at most
        ``delta / 2``. It decreases in m: low is the largest m for which it reached that after
        some batch, and high is the same for ``-x``. So mu is outside the interval at some time
        with probability at most `delta`. No variance is trusted: N_k and S_k only improve the
        bets, which are larger on a more precise estimator. The assumptions are the ranges,
        independence of the values given the estimators that ran, and that which runs are lost or
        exceed the budget does not depend on their values.

        Bets keep all values, 32 bytes each, and process all of them for each interval: about 0.2
        us per value. The other methods use sums, O(n_arms).
        """
        delta = check_scalar("delta", delta, "in (0, 1)", lambda x: (x > 0) & (x < 1))
        method = method_of(method, anytime, self.weights, self.bets)
        self.guard.enter_to_read()
        try:
            return self._interval(delta, method)
        finally:
            self.guard.leave()

    def _interval(self, delta, method):
        self.guard.check()
        if method == "betting":
            return self.stakes.bounds(delta)
        pulls = np.array(self._pulls)
        with np.errstate(invalid="ignore", divide="ignore"):
            thirds = np.asarray(self.thirds) / pulls
        moments = Moments(pulls, self.variances, thirds,
                          pulls - np.max(self.n_common, axis=1) + 1)
        combined = self._combine()
        if method == "asymptotic":
            return all_times(combined, moments, delta, self.scale if self.weight > 0.0 else 0.0)
        return one_look(combined, moments, delta, self.weights == "inverse-variance")

    def recommend(self):
        """Return the estimator with the smallest variance times cost seen, int64, shape (1,)."""
        with self.guard.reading():
            spreads = self.variances * self.mean_costs
        return np.array([np.argmin(np.where(np.isnan(spreads), np.inf, spreads))], dtype=np.int64)

    def plot(self, ax=None, *, of="means", names=None):
        """Plot each estimator's mean with its interval, or its share of the cost.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Axes to draw on; a new pyplot figure by default.
        of : {"means", "costs"}, default "means"
        names : sequence of str, optional
            Names of the estimators; their indices by default.

        Returns
        -------
        matplotlib.axes.Axes

        Raises
        ------
        MissingPackageError
            If Matplotlib is not installed.
        ValueError
            If `of` is not one of these, or there is not one name per estimator.
        """
        from pybandit.montecarlo._figure import allocation_axes

        check_choice("of", of, ("means", "costs"))
        names = [str(name) for name in (range(self.n_arms) if names is None else names)]
        if len(names) != self.n_arms:
            raise ValueError(f"names must have one name per estimator, {self.n_arms}; got "
                             f"{len(names)}")
        with self.guard.reading():
            return allocation_axes(self, of, ax, names)

    def __repr__(self):
        if self.guard.reason() is not None:
            return super().__repr__()
        with self.guard.reading():
            return (f"<EstimatorAllocator: {self.n_arms} estimators, {self.n_pulls} runs, "
                    f"estimate {self.estimate:.6g} +- {self.standard_error:.2g}>")

    def _options(self):
        return super()._options() | {"weights": self.weights, "least_values": self.least_values}
