# cython: auto_pickle=False
"""A budget shared among unbiased estimators of one number, and their values combined.

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
    """Spends a budget on the best of several unbiased estimators, and combines all values.

    All estimators have the same unknown mean, their values differ in variance and in
    cost. Which of them is worth its cost is learned on the way; every value counts in
    the estimate. The protocol is that of every policy, with estimators for arms:
    `ask` which to run, `tell` what they gave, and read `estimate` at any time.

    Parameters
    ----------
    n_arms : int
        K, at least 1.
    policy : str or Policy, default "thompson-variance"
        How to choose. On the sample variances, after `pilot` values of each:
        ``"thompson-variance"`` runs the least ``c_k s_k^2 (N_k - 1) / chi^2_{N_k - 1}``
        with a new draw of each chi-square, ``"lcb-variance"`` the least
        ``log(c_k s_k^2) - sqrt(4 log t / N_k)``; N_k are the values of estimator k,
        s_k^2 their variance and c_k their mean cost, t the runs of the pilot plus the
        decisions since, this one included. ``"uniform"`` runs all in turn.
        The paper's way is a bandit policy, ``"ucb1"``, ``"ucb-v"``, ``"kl-ucb"``,
        ``"thompson"`` or a fresh policy of this package without a budget, on rewards
        in [0, 1]: see Notes.
    costs : {"equal", "told"}, default "equal"
        ``"equal"``: a run costs 1. ``"told"``: `tell` receives the cost of each run.
    value_range : (float, float), float or array_like of shape (n_arms, 2), optional
        Range of all values: low and high, or 0 and that number; or the range of each
        estimator. `interval` has a guarantee with it. The bandit policies scale their
        rewards by it, without it by a pilot of `pilot` values each; ranges of each
        scale upper bounds back to common units (Appendix B; not for ``"thompson"``).
        A value outside counts as lost by a whole reward in their choice, in the
        estimate as it is, and `interval` refuses to bet.
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
        For bandit policies with ``costs="told"``: the largest cost. With `value_range`
        it makes the pilot unnecessary.
    dependent_costs : bool, default False
        For bandit policies with ``costs="told"``: whether a run's cost may depend on its
        value; then three runs make a reward instead of two.
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
    pulls, means, variances : ndarray, shape (n_arms,)
        Values of each estimator, their mean and sample variance.
    total_cost : float
        What all runs cost.

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range; `InfeasibleBudgetError` if the budget
        is too small for the pilot.

    See Also
    --------
    combine_estimators : runs one on functions.

    Notes
    -----
    Weights. The pooled mean, ``"mean"``, is exactly unbiased with equal costs. With observed
    costs it is not: how many values a budget buys depends on the choices, and these on earlier
    values. For two estimators of two values each, a budget of 14 and costs of 1 and 4, the bias
    is -.09 standard deviations of the estimate; it falls as the budget grows. The squared error
    of the pooled mean times n^2 exceeds that of the best estimator by
    ``sum_k E[N_k] (V_k - V*)`` for any policy (Theorem 1): runs of bad estimators cost their
    whole variance.
    ``"inverse-variance"``, ``sum_k (N_k / v_k) mean_k / sum_k N_k / v_k``, hardly feels
    them; its bias is about ``-sum_k p_k (1 - p_k) m3_k / (N_k V_k)``, p_k the share of
    the weight and m3_k the third central moment, so it grows with skewness; under
    adaptive choices there is some for symmetric laws too, and where a variance is
    estimated far too low (no rare event seen yet) the estimate is ruined. Hence
    `least_values`, and an estimator whose values are all alike counts as having the
    least positive variance of the others. ``"predictable"`` weighs each value with
    1 / v_k of the values before its batch: of a batch all weigh the same, told in any order.
    The sum of weighted errors is then a martingale whatever the choices, and `interval` an
    asymptotic confidence sequence; for a guarantee it takes a `value_range`. The estimate
    divides by the sum of the weights, and a weight is never taken back: the first rare
    large value of an estimator that looked exact is ruinous. Not for such estimators.

    A sample variance of 0 is taken at its word by the policies on variances: that
    estimator is run until two of its values differ. `variances` are 0 where the standard
    deviation is below 1e-14 of the mean; of very many equal values rounding may leave more.
    A weight of ``"predictable"`` is at most 1e90 times that of the estimator weighed first.

    Units. Values should have standard deviations between 1e-100 and 1e100, within which units
    change nothing. `interval` without bets refuses others. Below some 1e-162 squares become 0,
    and an estimator of such values looks exact; `tell` refuses values above 1e150.

    Rewards of the bandit policies. With equal costs ``1 - (X - centre)^2 / B^2``,
    at least 0; any centre keeps the order of the variances. B is the distance of
    the farther end of `value_range`, or 4 times the standard deviation of the
    pilot's least spread estimators. With ``costs="told"`` two runs make one reward,
    ``1 - (D + D') (X - X')^2 / (4 S)``, where S is ``max_cost B^2 / 2``, or follows from
    the pilot.

    O(K) a decision.

    **Threads.** One at a time; a second gets a RuntimeError, of a `policy` that was given too.

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
        """Sample variance of each estimator's values; NaN below two values.

        0 where the standard deviation is below 1e-14 of the mean, which is rounding; of very
        many equal values it may be more.
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
        """Estimated standard deviation of `estimate`; NaN where variances are not known."""
        return self._combine().error

    def interval(self, *, delta=0.05, method=None, anytime=None):
        """Return an interval for the estimators' mean.

        Parameters
        ----------
        delta : float, default 0.05
            Probability of missing the mean, in (0, 1).
        method : {"betting", "asymptotic", "normal"}, optional
            ``"betting"``, where `value_range` was given, and then the default: misses at any
            time with probability at most `delta`; see Notes. One may look after every
            `tell` and stop when it is short.
            ``"asymptotic"``, the default with ``weights="predictable"``: for all times
            too, but about `delta`, and no guarantee: it trusts sample variances.
            ``"normal"``, otherwise the default: for one look at a time fixed beforehand,
            about `delta`.
        anytime : bool, optional
            Whether it must be for all times: without `method`, True asks for
            ``"asymptotic"`` where there is no range, and False for ``"normal"``.

        Returns
        -------
        low, high : float
            ``"betting"``: as far as the ranges allow before the first value; where values
            belie the ranges, low may pass high. The others: minus and plus infinity where
            an estimator with over a hundredth of the weight has a variance of 0, or fewer
            than 10 values, its commonest one counted once (50 with
            ``weights="inverse-variance"``), and where the estimate's skewness is above 0.15.

        Raises
        ------
        ValueError
            If the method does not go with the weights, no range was given for bets, a
            value was outside its range, or, for the others, an estimator with over a
            hundredth of the weight has a standard deviation below 1e-100 or above 1e100.

        Notes
        -----
        Bets. Estimator k lies in [a_k, b_k] and has the mean mu. Let F be what is known when
        a batch is asked: which estimators it runs follows of F, and of random numbers that
        know no values. Against a possible mean m, bet g wins ``1 + b (x - m)`` on each value
        x of the batch, ``b = min(g (N_k + 1) / ((b_k - a_k)^2 / 4 + S_k), 0.9 / (m - a_k))``,
        N_k values and S_k their squares about their mean in F. As ``x - m >= a_k - m``
        it is at least 0.1. Given F, b is fixed and the batch's values are independent with
        mean mu, so for m = mu the product over the batch has mean 1, in whatever order the
        batch is told. The capital of a bet, the product over all batches, and that of the 20
        bets together, their mean, is thus a nonnegative martingale that begins at 1, whatever
        the choices were. By Ville's inequality it ever reaches ``2 / delta`` with probability
        at most ``delta / 2``. It falls as m grows: low is the largest m for which it ever
        reached that after a batch, and high is the same for ``-x``. So mu is outside at some
        time with probability at most `delta`. No variance is trusted: N_k and S_k only make good
        bets, larger on an estimator that is more precise. Assumed are the ranges, values that are
        independent given what ran, and that which runs are lost, or too late, does not
        depend on their values.

        Bets keep all values, 32 bytes each, and play them again for each interval: some 0.2
        us a value. The others look at sums, O(n_arms).
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
        """The estimator of the least variance times cost seen, int64 of shape (1,)."""
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
            Names of the estimators; their numbers by default.

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
        if self.guard.reason is not None:
            return super().__repr__()
        with self.guard.reading():
            return (f"<EstimatorAllocator: {self.n_arms} estimators, {self.n_pulls} runs, "
                    f"estimate {self.estimate:.6g} +- {self.standard_error:.2g}>")

    def _options(self):
        return super()._options() | {"weights": self.weights, "least_values": self.least_values}
