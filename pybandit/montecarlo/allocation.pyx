"""A budget shared among unbiased estimators of one number, and their values combined.

Neufeld, György, Schuurmans and Szepesvári, Adaptive Monte Carlo via bandit
allocation, ICML 2014.
"""

import math

import numpy as np

from pybandit import policies
from pybandit._shared.checks import (
    InfeasibleBudget, check_choice, check_counts, check_in, check_integer, check_positive,
    check_scalar,
)
from pybandit._shared.generators import private_generator, restore_stream, stream_state
from pybandit.montecarlo._weights import inverse_variance, normal_width, pooled, sequence_width

from libc.math cimport INFINITY, isnan
from libc.stdint cimport int64_t

from pybandit.montecarlo._rules cimport BanditRule, ThompsonRule
from pybandit.montecarlo._rules import BanditRule as _BanditRule, LCBRule, Rule as UniformRule
from pybandit.montecarlo._csrc cimport pb_variance, pb_variance_least
from pybandit.policies._csrc cimport pb_batch
from pybandit.policies.base cimport NativePolicy

__all__ = ["EstimatorAllocator"]

BANDITS = ("ucb1", "ucb-v", "kl-ucb", "thompson")
RULES = ("uniform", "lcb-variance", "thompson-variance")
WEIGHTS = ("mean", "inverse-variance", "predictable")


cdef class EstimatorAllocator(NativePolicy):
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
        super().__init__(check_integer("n_estimators", n_estimators, 1), 1)
        self.costs = check_choice("costs", costs, ("equal", "observed"))
        self.weights = check_choice("weights", weights, WEIGHTS)
        self.batch_size = check_integer("batch_size", batch_size, 1)
        self.cost_floor = check_positive("cost_floor", cost_floor)
        self.dependent_costs, self.predictable = bool(dependent_costs), weights == "predictable"
        if least_values is None:
            least_values = 30 if weights == "inverse-variance" else 10
        self.least_values = check_integer("least_values", least_values, 2)
        self._wants_rewards, self._wants_costs = True, costs == "observed"
        self.all_arms, self.cost_sums = np.arange(self.n_arms), np.zeros(self.n_arms)
        self.squares = np.zeros(self.n_arms)
        self.rng_given = rng is not None
        self._make_rule(policy)
        self._set_scale(value_range, centre, max_cost, pilot)
        self._set_budget(budget)
        self._use(private_generator(rng) if self.rng_given else None)

    def _make_rule(self, policy):
        cdef int64_t per_reward = 1
        self.policy = policy
        if policy == "uniform":
            self.rule = UniformRule(self.n_arms)
        elif policy == "lcb-variance":
            self.rule = LCBRule(self.n_arms)
        elif policy == "thompson-variance":
            self.rule = ThompsonRule(self.n_arms)
        else:
            if self.costs == "observed":
                per_reward = 3 if self.dependent_costs else 2
            self.rule = _BanditRule(self.n_arms, _bandit(policy, self.n_arms), per_reward,
                                    self.costs == "observed")
        self.rule.bind(self._pulls, self._sums, self._deviations, self.cost_sums)
        self.runs = self.batch_size * per_reward

    def _set_scale(self, value_range, centre, max_cost, pilot):
        """What a bandit's rewards follow of: a range, or a pilot."""
        if centre is not None:
            centre = check_scalar("centre", centre, "finite", np.isfinite)
        if max_cost is not None:
            max_cost = check_positive("max_cost", max_cost)
        if value_range is not None:
            value_range = _ranges(value_range, self.n_arms)
        self.value_range, self.centre, self.max_cost = value_range, centre, max_cost
        self.pilot = check_integer("pilot", pilot, 2)
        if isinstance(self.rule, BanditRule):
            self._check_range_of_each(value_range)
            self.rule.set_range(value_range, centre, max_cost)
            if self.rule.waits:
                self.rule.expect_pilot(self.pilot)
            else:
                self.pilot = 0
        elif self.policy == "uniform":
            self.pilot = 0

    def _check_range_of_each(self, value_range):
        if value_range is None or value_range.ndim == 1:
            return
        if self._wants_costs:
            raise ValueError("value_range must be one range for all where costs are observed; got "
                             f"one for each of {self.n_arms} estimators")
        if not hasattr((<BanditRule>self.rule).inner, "_set_scales"):
            raise ValueError(f"value_range must be one range for all unless the policy compares "
                             f"upper bounds; got one for each with {self.policy!r}")

    def _set_budget(self, budget):
        self.budget, self.most_cost = None, INFINITY
        if budget is None:
            return
        if self._wants_costs:
            self.budget = check_positive("budget", budget)
        else:
            self.budget = check_integer("budget", budget, 1)
            if self.budget < self.pilot * self.n_arms:
                raise InfeasibleBudget(
                    f"budget must be at least {self.pilot * self.n_arms}: the pilot runs each of "
                    f"{self.n_arms} estimators {self.pilot} times; got {self.budget}")
        self.most_cost = self.budget

    def _use(self, generator):
        """The stream that Thompson sampling draws from; None: a fresh one."""
        self.generator = private_generator(None) if generator is None else generator
        if isinstance(self.rule, ThompsonRule):
            (<ThompsonRule>self.rule).seed(self.generator)
        elif isinstance(self.rule, BanditRule):
            (<BanditRule>self.rule).inner._seed(self.generator)

    def _seed(self, rng):
        if not self.rng_given and not self.n_pulls:
            self._use(private_generator(rng))

    @property
    def _is_endless(self):
        return self.budget is None

    cdef bint _is_done(self) noexcept nogil:
        return self.total_cost >= self.most_cost

    cdef pb_batch _next(self) noexcept nogil:
        cdef pb_batch batch
        cdef double left = self.most_cost - self.total_cost
        if self.n_pulls < self.pilot * self.n_arms:
            batch.arms, batch.counts = &self.all_arms[0], NULL
            batch.n_arms, batch.first = self.n_arms, 0
            batch.n_pulls = self.pilot * self.n_arms
            return batch
        batch = self.rule.next()
        batch.n_pulls *= self.runs
        if not self._wants_costs and batch.n_pulls > left:
            batch.n_pulls = <int64_t>left
        return batch

    cdef void _absorb(self, const int64_t *arms, const double *rewards, int64_t n) noexcept nogil:
        cdef int64_t j
        for j in range(n):
            self._take(arms[j], rewards[j], 1.0)

    cdef void _absorb_with_cost(self, int64_t arm, double reward, double cost) noexcept nogil:
        self._take(arm, reward, cost if cost > self.cost_floor else self.cost_floor)

    cdef void _take(self, int64_t arm, double value, double cost) noexcept nogil:
        cdef double weight
        self.total_cost += cost
        if self.total_cost > self.most_cost:
            return  # too late
        self.cost_sums[arm] += cost
        if isnan(value):
            return
        if self.predictable:
            if self.weight == 0.0:
                self.origin = value
            weight = self._weight_of(arm)
            self.weight += weight
            self.weighted += weight * (value - self.origin)
            self.squares[arm] += weight * weight
            self.n_weighted += weight > 0.0
        NativePolicy._absorb(self, &arm, &value, 1)
        self.rule.absorb(arm, value, cost)

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

    cdef void _advance(self) noexcept nogil:
        cdef int64_t first = self.pilot * self.n_arms
        if self.told < first:
            self.told = first
            if self.rule.waits:
                with gil:
                    self.rule.end_pilot()
            return
        self.rule.advance((self.n_pulls - self.told + self.runs - 1) // self.runs)
        self.told = self.n_pulls

    def tell(self, estimators, values, costs=None, missing="raise"):
        """Give the values of the estimators that `ask` returned; all or nothing.

        Parameters
        ----------
        estimators : array_like of int, shape (n,)
            Those of `ask`, in any order.
        values : array_like of float, shape (n,)
            What each gave.
        costs : array_like of float, shape (n,), optional
            What each run cost, finite and at least 0, in the units of the budget;
            with ``costs="observed"`` only, and then required.
        missing : {"raise", "drop"}
            ``"drop"`` takes NaN for a run that gave no value: its cost counts.

        Raises
        ------
        ValueError, TypeError
            Where an argument is not as above. The allocator is then as before.
        """
        cdef const int64_t[::1] told = None
        cdef const double[::1] given = None, paid = None
        cdef int64_t j, n
        if not self._wants_costs:
            if costs is not None:
                raise ValueError("costs must not be given where all runs cost 1; make the "
                                 "allocator with costs=\"observed\"")
            return NativePolicy.tell(self, estimators, values, missing)
        if costs is None:
            raise ValueError("costs must be given: the allocator was made with costs=\"observed\"")
        check_choice("missing", missing, ("raise", "drop"))
        try:
            told, given, paid = estimators, values, costs
        except (TypeError, ValueError):
            pass  # not arrays of these types; they can become some
        if not self._as_asked(told, given):
            told, given = self._checked(estimators, values, missing)
        n = told.shape[0]
        if not _are_costs(paid, n):
            paid = _checked_costs(costs, n)
        with nogil:
            for j in range(n):
                self._absorb_with_cost(told[j], given[j], paid[j])
            self._finish(n)

    @property
    def variances(self):
        """Sample variance of each estimator's values; NaN below two, 0 for rounding errors."""
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
        pulls, variances = np.asarray(self._pulls), self.variances
        if self.weight > 0.0:
            error = math.sqrt(np.nansum(self.squares * variances)) / self.weight
            return self.origin + self.weighted / self.weight, error
        if self.weights == "inverse-variance":
            return inverse_variance(pulls, self.means, variances, self.least_values)
        return pooled(pulls, self.means, variances)

    @property
    def mean_costs(self):
        """Mean cost of a value of each estimator; float64, NaN where there is none."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(np.asarray(self._pulls) > 0,
                            np.asarray(self.cost_sums) / np.asarray(self._pulls), np.nan)

    def recommend(self):
        """The estimator of the least variance times cost seen, int64 of shape (1,)."""
        spreads = self.variances * self.mean_costs
        return np.array([np.argmin(np.where(np.isnan(spreads), np.inf, spreads))], dtype=np.int64)

    def plot(self, axes=None):
        """Each estimator's mean, share of the runs and the estimate; a matplotlib Figure."""
        from pybandit.montecarlo._figure import allocation_figure

        return allocation_figure(self, axes)

    def __repr__(self):
        return (f"<EstimatorAllocator: {self.n_arms} estimators, {self.n_pulls} runs, estimate "
                f"{self.estimate:.6g} +- {self.standard_error:.2g}>")

    def _options(self):
        policy = self.policy
        if not isinstance(policy, str):
            policy = type(policy).__name__, policy._options()
        options = dict(n_estimators=self.n_arms, policy=policy, value_range=self.value_range)
        for name in ("costs", "weights", "budget", "batch_size", "centre", "max_cost",
                     "dependent_costs", "cost_floor", "least_values"):
            options[name] = getattr(self, name)
        return options | {"pilot": max(self.pilot, 2)}

    def _get_progress(self):
        return {
            "total_cost": self.total_cost,
            "cost_sums": np.array(self.cost_sums),
            "weight": self.weight,
            "weighted": self.weighted,
            "origin": self.origin,
            "n_weighted": self.n_weighted,
            "squares": np.array(self.squares),
            "rule": self.rule.get_progress(),
            "stream": stream_state(self.generator),
        }

    def _set_progress(self, progress):
        self.total_cost = progress["total_cost"]
        np.asarray(self.cost_sums)[:] = progress["cost_sums"]
        self.weight, self.weighted = progress["weight"], progress["weighted"]
        self.origin, self.n_weighted = progress["origin"], progress["n_weighted"]
        np.asarray(self.squares)[:] = progress["squares"]
        self.rule.set_progress(progress["rule"])
        restore_stream(self.generator, progress["stream"])

    def _restore(self, state):
        super()._restore(state)
        first = self.pilot * self.n_arms
        if self.n_pulls < first and self.n_pulls:
            raise ValueError(f"state must hold n_pulls = 0 or at least {first}, the pilot's; got "
                             f"{self.n_pulls}")
        check_counts(state, "pulls", self.n_pulls)
        self.told = self.n_pulls
        self.rule.waits = self.rule.waits and not self.told

    @classmethod
    def from_state(cls, state):
        options = dict(state["options"])
        if not isinstance(options["policy"], str):
            name, inner = options["policy"]
            options["policy"] = getattr(policies, name)(**inner)
        return super().from_state({**state, "options": options})


cdef bint _are_costs(const double[::1] costs, int64_t n):
    cdef int64_t j
    if costs is None or costs.shape[0] != n:
        return False
    for j in range(n):
        if not 0.0 <= costs[j] < INFINITY:
            return False
    return True


def _checked_costs(costs, n):
    costs = check_in("costs", costs, "finite and at least 0", lambda c: np.isfinite(c) & (c >= 0))
    if costs.shape != (n,):
        raise ValueError(f"costs must have the shape of estimators, ({n},); got {costs.shape}")
    return np.ascontiguousarray(costs)


def _bandit(policy, n_arms):
    """The bandit policy of this name, or the policy itself if it may serve."""
    if isinstance(policy, str):
        check_choice("policy", policy, (*RULES, *BANDITS))
        cls = {"ucb1": policies.UCB1, "ucb-v": policies.UCBV, "kl-ucb": policies.KLUCB,
               "thompson": policies.ThompsonSampling}[policy]
        return cls(n_arms)
    if not isinstance(policy, NativePolicy) or not policy._is_endless:
        raise TypeError(f"policy must be one of {(*RULES, *BANDITS)} or a policy of this package "
                        f"without a budget; got {policy!r}")
    if policy.n_arms != n_arms or policy.n_pulls:
        raise ValueError(f"policy must be fresh and have n_estimators = {n_arms} arms; got "
                         f"{policy!r}")
    return policy


def _ranges(value_range, n_arms):
    """The range of all values, shape (2,), or of each estimator's, (n_arms, 2)."""
    ranges = check_in("value_range", value_range, "finite", np.isfinite)
    if ranges.ndim == 0:
        ranges = np.array([0.0, ranges])
    if ranges.shape not in ((2,), (n_arms, 2)) or not (ranges[..., 0] < ranges[..., 1]).all():
        raise ValueError(f"value_range must be (low, high), a positive number or of shape "
                         f"({n_arms}, 2), low below high; got {value_range!r}")
    return ranges
