# cython: auto_pickle=False
"""A budget shared among estimators: the next runs, their costs, and the end of the budget."""

import sys

import numpy as np

from pybandit import policies
from pybandit._shared.checks import (
    MOST_HELD, MOST_PULLS, check_choice, check_integer, check_positive, check_scalar,
)
from pybandit._shared.errors import InfeasibleBudgetError
from pybandit._shared.generators import private_generator, restore_stream, stream_state
from pybandit._shared.labels import told_in_order
from pybandit._shared.schema import Schema, anything, check_size, finite, stream
from pybandit.montecarlo._arguments import RULES, bandit_policy, checked_costs, ranges_of
from pybandit.policies.protocol._states import NATIVE

from libc.math cimport INFINITY, isnan
from libc.stdint cimport int64_t

from pybandit.montecarlo._rules cimport BanditRule, ThompsonRule
from pybandit.montecarlo._rules import BanditRule as _BanditRule, LCBRule, Rule as UniformRule
from pybandit.policies._csrc cimport pb_batch
from pybandit.policies.protocol.base cimport NativePolicy

# Maximum number of runs in the pilot, which `ask` returns as one array.
MOST_PILOT = 10**8

# Without it, another thread could change an array between two reads.
cdef bint HAS_GIL = getattr(sys, "_is_gil_enabled", lambda: True)()


cdef class SharedBudget(NativePolicy):
    """Requests runs by its rule until the budget is spent. Subclasses combine the values."""

    def __init__(self, n_arms, policy, *, value_range, costs, budget, batch_size, pilot,
                 centre, max_cost, dependent_costs, cost_floor, rng):
        super().__init__(check_integer("n_arms", n_arms, 1, MOST_HELD), 1)
        self.costs = check_choice("costs", costs, ("equal", "told"))
        self.batch_size = check_integer("batch_size", batch_size, 1, MOST_PULLS)
        self.cost_floor = check_positive("cost_floor", cost_floor)
        self.dependent_costs = check_choice("dependent_costs", dependent_costs, (True, False))
        self._wants_rewards, self._wants_costs = True, costs == "told"
        self.all_arms, self.cost_sums = np.arange(self.n_arms), np.zeros(self.n_arms)
        self.rng_given = rng is not None
        self._make_rule(policy)
        self._set_scale(value_range, centre, max_cost, pilot)
        self._set_budget(budget)
        self.generator = private_generator(rng)

    cdef _make_rule(self, policy):
        cdef int64_t per_reward = 1
        self.policy = policy
        if not isinstance(policy, str) or policy not in RULES:
            if self.costs == "told":
                per_reward = 3 if self.dependent_costs else 2
            self.rule = _BanditRule(self.n_arms, bandit_policy(policy, self.n_arms), per_reward,
                                    self.costs == "told")
        elif policy == "uniform":
            self.rule = UniformRule(self.n_arms)
        elif policy == "lcb-variance":
            self.rule = LCBRule(self.n_arms)
        else:
            self.rule = ThompsonRule(self.n_arms)
        self.rule.bind(self._pulls, self._sums, self._deviations, self.cost_sums)
        self.runs = self.batch_size * per_reward

    cdef _set_scale(self, value_range, centre, max_cost, pilot):
        """Set how a bandit's rewards are scaled: by a range or by a pilot."""
        if centre is not None:
            centre = check_scalar("centre", centre, "finite", np.isfinite)
        if max_cost is not None:
            max_cost = check_positive("max_cost", max_cost)
        if value_range is not None:
            value_range = ranges_of(value_range, self.n_arms)
        self.value_range, self.centre, self.max_cost = value_range, centre, max_cost
        self.pilot = check_integer("pilot", pilot, 2, MOST_PILOT // self.n_arms)
        if isinstance(self.rule, BanditRule):
            self._check_range_of_each(value_range)
            self.rule.set_range(value_range, centre, max_cost)
            if self.rule.waits:
                self.rule.expect_pilot(self.pilot)
            else:
                self.pilot = 0
        elif self.policy == "uniform":
            self.pilot = 0
        self.rule.n_first = self.pilot * self.n_arms

    cdef _check_range_of_each(self, value_range):
        if value_range is None or value_range.ndim == 1:
            return
        if self._wants_costs:
            raise ValueError("value_range must be one range for all estimators with "
                             f"costs='told'; got one for each of {self.n_arms} estimators")
        if not hasattr((<BanditRule>self.rule).inner, "_set_scales"):
            raise ValueError(f"value_range must be one range for all estimators unless the policy "
                             f"compares upper bounds; got one for each with {self.policy!r}")

    cdef _set_budget(self, budget):
        self.budget, self.most_cost = None, INFINITY
        if budget is None:
            return
        if self._wants_costs:
            self.budget = check_positive("budget", budget)
            if self.budget < self.cost_floor:
                raise InfeasibleBudgetError(f"budget must be at least cost_floor, "
                                            f"{self.cost_floor!r}, the least cost of a run; got "
                                            f"{self.budget!r}")
        else:
            self.budget = check_integer("budget", budget, 1, MOST_PULLS)
            if self.budget < self.pilot * self.n_arms:
                raise InfeasibleBudgetError(
                    f"budget must be at least {self.pilot * self.n_arms}: the pilot runs each of "
                    f"{self.n_arms} estimators {self.pilot} times; got {self.budget}")
        self.most_cost = self.budget

    cdef _seed_rule(self):
        """Pass the stream to the rule or policy that draws from it; the caller holds the guard."""
        cdef NativePolicy inner
        if isinstance(self.rule, ThompsonRule):
            (<ThompsonRule>self.rule).seed(self.generator)
        elif isinstance(self.rule, BanditRule):
            inner = (<BanditRule>self.rule).inner
            inner.guard.lend(inner.seed, self.generator)

    cdef _adopt(self):
        """Make the given policy part of this allocator, with one guard for both.

        The policy has not been changed before. Its own guard is entered and never left, so that
        no other thread can enter in between.
        """
        cdef NativePolicy inner
        if not isinstance(self.rule, BanditRule):
            self._seed_rule()
            return
        inner = (<BanditRule>self.rule).inner
        inner.guard.enter()
        try:
            (<BanditRule>self.rule).claim()
            self._seed_rule()
        except BaseException:
            inner.guard.leave()
            raise
        inner.guard = self.guard

    def seed(self, rng):
        """Derive the stream from `rng`.

        No effect once a run was reported, or if the object was created with `rng=`.
        """
        with self.guard:
            if not self.rng_given and not self.n_pulls:
                self.generator = private_generator(rng)
                self._seed_rule()

    cdef bint _never_ends(self) noexcept:
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
        self.total_cost += cost
        if self.total_cost > self.most_cost:
            return  # the run ended beyond the budget
        self.cost_sums[arm] += cost
        if isnan(value):
            return
        self._weigh(arm, value)
        NativePolicy._absorb(self, &arm, &value, 1)
        self.rule.absorb(arm, value, cost)

    cdef void _weigh(self, int64_t arm, double value) noexcept nogil:
        """Called for each value that counts, before the statistics include it."""

    cdef void _advance(self) noexcept nogil:
        cdef int64_t first = self.pilot * self.n_arms
        if self.n_reported < first:
            self.n_reported = first
            if self.rule.waits:
                self.rule.end_pilot()
            return
        self.rule.advance((self.n_pulls - self.n_reported + self.runs - 1) // self.runs)
        self.n_reported = self.n_pulls

    def tell(self, estimators, values, costs=None, missing="raise"):
        """Report the values of the estimators that `ask` returned; all or nothing.

        Parameters
        ----------
        estimators : array_like of int, shape (n,)
            The estimators that `ask` returned, in any order.
        values : array_like of float, shape (n,)
            Value of each run.
        costs : array_like of float, shape (n,), optional
            Cost of each run, finite and at least 0, in the units of the budget. Required
            with ``costs="told"``, and not allowed otherwise.
        missing : {"raise", "drop"}
            ``"drop"`` accepts NaN for a run that gave no value: its cost counts.

        Raises
        ------
        ValueError, TypeError
            If an argument is invalid. The allocator is then unchanged.
        """
        if not self._wants_costs:
            if costs is not None:
                raise ValueError("costs must not be given if all runs cost 1; make the allocator "
                                 "with costs=\"told\"")
            return NativePolicy.tell(self, estimators, values, missing)
        self.guard.enter()
        try:
            self._tell_costs(estimators, values, costs, missing)
        finally:
            self.guard.leave()

    cdef int _tell_costs(self, estimators, values, costs, missing) except -1:
        cdef const int64_t[::1] told = None
        cdef const double[::1] given = None, paid = None
        cdef int64_t j, n
        if costs is None:
            raise ValueError("costs must be given: the allocator was made with costs=\"told\"")
        check_choice("missing", missing, ("raise", "drop"))
        told_in_order("costs", costs, estimators)
        if type(estimators) is type(values) is type(costs) is np.ndarray:
            try:
                if HAS_GIL:
                    told, given, paid = estimators, values, costs
                else:  # copies, which no other thread changes between check and use
                    told, given, paid = estimators.copy(), values.copy(), costs.copy()
            except (TypeError, ValueError):
                pass  # other types, which are converted below
        n = 0 if told is None or given is None else told.shape[0]
        if n == 0 or given.shape[0] != n or not self._is_as_asked(&told[0], &given[0], n):
            told, given = self._checked(estimators, values, missing)
            n = told.shape[0]
        if not _are_costs(paid, n):
            paid = checked_costs(costs, n)
        for j in range(n):
            self._absorb_with_cost(told[j], given[j], paid[j])
        self._finish(n)
        return 0

    @property
    def total_cost(self):
        """Total cost of all runs."""
        with self.guard.reading():
            return self.total_cost

    @property
    def mean_costs(self):
        """Mean cost per value of each estimator; float64, NaN if it has no values."""
        with self.guard.reading(), np.errstate(invalid="ignore", divide="ignore"):
            return np.where(np.asarray(self._pulls) > 0,
                            np.asarray(self.cost_sums) / np.asarray(self._pulls), np.nan)

    def _options(self):
        self.guard.check()
        policy = self.policy
        if not isinstance(policy, str):
            policy = type(policy).__name__, policy._options()
        options = dict(n_arms=self.n_arms, policy=policy, value_range=self.value_range)
        for name in ("costs", "budget", "batch_size", "centre", "max_cost", "dependent_costs",
                     "cost_floor"):
            options[name] = getattr(self, name)
        return options | {"pilot": max(self.pilot, 2)}

    def _get_progress(self):
        self.guard.check()
        return {
            "total_cost": self.total_cost,
            "cost_sums": np.array(self.cost_sums),
            "rule": self.rule.get_progress(),
            "stream": stream_state(self.generator),
        }

    def _set_progress(self, progress):
        cdef int64_t asked = max(self.n_pulls - self.pilot * self.n_arms, 0)
        self.total_cost = progress["total_cost"]
        np.asarray(self.cost_sums)[:] = progress["cost_sums"]
        self.rule.set_progress(progress["rule"], self.n_pulls,
                               (asked + self.runs - 1) // self.runs)
        restore_stream(self.generator, progress["stream"])

    cdef object _schema(self):
        return SHARED

    cdef dict _sizes(self):
        return NativePolicy._sizes(self) | {
            "first": self.pilot * self.n_arms, "runs": self.runs, "most_cost": self.most_cost,
            "each_costs_one": not self._wants_costs}

    cdef int _resume(self) except -1:
        self.n_reported = self.n_pulls
        self.rule.waits = self.rule.waits and not self.n_reported
        return 0

    @classmethod
    def from_state(cls, state):
        options = state.get("options") if isinstance(state, dict) else None
        if isinstance(options, dict) and isinstance(options.get("policy"), (tuple, list)):
            policy = _policy_of(options["policy"], state.get("pulls"))
            state = {**state, "options": {**options, "policy": policy}}
        return super().from_state(state)


def _policy_of(saved, pulls):
    """Return the bandit policy with a saved class name and options."""
    try:
        name, options = saved
        check_size(options, pulls)
        return getattr(policies, name)(**options)
    except (TypeError, AttributeError, MemoryError, OverflowError) as error:
        raise ValueError(f"state must hold a policy's name and options in options; got "
                         f"{repr(saved)[:60]}: {error}") from error


def pilot_is_whole(s):
    """n_pulls of 0, or at least the runs of the pilot"""
    return s.n_pulls == 0 or s.n_pulls >= s.first


def batches_are_whole(s):
    """whole batches of runs after the pilot, unless the budget cut the last one"""
    return (s.n_pulls <= s.first or (s.n_pulls - s.first) % s.runs == 0
            or s.each_costs_one and s.n_pulls == s.most_cost)


def runs_are_paid(s):
    """a total_cost within the budget and equal to n_pulls, if each run costs 1"""
    return not s.each_costs_one or s.n_pulls == s.total_cost <= s.most_cost


SHARED = Schema(
    [finite("total_cost", low=0.0), finite("cost_sums", low=0.0, shape=("n_arms",)),
     anything("rule"), stream()],
    base=NATIVE, invariants=[pilot_is_whole, batches_are_whole, runs_are_paid])


cdef bint _are_costs(const double[::1] costs, int64_t n):
    cdef int64_t j
    if costs is None or costs.shape[0] != n:
        return False
    for j in range(n):
        if not 0.0 <= costs[j] < INFINITY:
            return False
    return True
