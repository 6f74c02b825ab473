# cython: auto_pickle=False
"""Rules that choose the next estimator so that variance times cost becomes small."""

import numpy as np

from pybandit._shared.schema import Schema, anything, finite, integer, made_from, number

from libc.math cimport INFINITY, NAN, isnan
from libc.stdint cimport int64_t
from numpy.random cimport bitgen_t
from numpy.random.c_distributions cimport random_standard_gamma

from pybandit._shared.bits cimport bitgen_of
from pybandit.montecarlo._csrc cimport (
    pb_spreads, pb_spreads_drawn, pb_spreads_lacking, pb_spreads_optimistic, pb_variance,
    pb_variance_least,
)
from pybandit.policies._csrc cimport pb_batch, pb_batch_one
from pybandit.policies.protocol.base cimport NativePolicy

cdef enum:
    # squared distances are capped at this multiple of the smallest variance
    CAP = 16
    # the same for half squared differences of pairs, whose mean is the variance
    PAIR_CAP = 8


cdef double next_gamma(void *state, double shape) noexcept nogil:
    return random_standard_gamma(<bitgen_t *>state, shape)


cdef class Rule:
    """Run each estimator in turn. Base class of the other rules."""

    def __cinit__(self, int64_t n_arms, *_):
        self.n_arms, self.chosen = n_arms, -1
        self.asked = np.zeros(n_arms, dtype=np.int64)

    def bind(self, pulls, sums, deviations, cost_sums):
        """Set the arrays that the allocator keeps up to date."""
        self.pulls, self.sums, self.deviations, self.cost_sums = pulls, sums, deviations, cost_sums
        self.spreads = pb_spreads(self.n_arms, &self.pulls[0], &self.sums[0],
                                  &self.deviations[0], &self.cost_sums[0])

    cdef pb_batch next(self) noexcept nogil:
        if self.chosen < 0:
            self.chosen = pb_spreads_lacking(&self.spreads, &self.asked[0], self.n_decisions)
        if self.chosen < 0:
            self.chosen = self._choose()
        if self.chosen < 0:
            self.chosen = self.n_decisions % self.n_arms
        return pb_batch_one(&self.chosen)

    cdef int64_t _choose(self) noexcept nogil:
        return self.n_decisions % self.n_arms

    cdef void absorb(self, int64_t arm, double value, double cost) noexcept nogil:
        pass

    cdef void end_pilot(self) noexcept nogil:
        """Called when all values of the pilot have been reported, if `waits` is set."""

    cdef void advance(self, int64_t n) noexcept nogil:
        cdef pb_batch batch = self.next()
        cdef int64_t j
        for j in range(n):
            self.asked[batch.arms[j % batch.n_arms]] += 1
        self.n_decisions += n
        self.chosen = -1

    def get_progress(self):
        return {"chosen": self.chosen, "asked": np.array(self.asked),
                "n_decisions": self.n_decisions}

    def set_progress(self, progress, n_pulls, n_decided):
        """Restore the progress after `n_pulls` pulls and `n_decided` decisions since the pilot."""
        checked = RULE.checked_part("rule", progress, {
            "n_arms": self.n_arms, "last_arm": self.n_arms - 1, "decided": n_decided})
        self.chosen, self.n_decisions = checked["chosen"], checked["n_decisions"]
        np.asarray(self.asked)[:] = checked["asked"]


cdef class LCBRule(Rule):
    """Choose argmin log(cost variance) - sqrt(4 log t / N), a lower bound of the variance."""

    cdef int64_t _choose(self) noexcept nogil:
        # t counts the runs of the pilot too
        return pb_spreads_optimistic(&self.spreads,
                                     <double>(self.n_first + self.n_decisions + 1))


cdef class ThompsonRule(Rule):
    """Choose argmin cost s^2 (N - 1) / chi^2_{N - 1}: draws from the variances' posteriors."""

    cdef seed(self, generator):
        self.generator, self.bitgen = generator, bitgen_of(generator)

    cdef int64_t _choose(self) noexcept nogil:
        return pb_spreads_drawn(&self.spreads, next_gamma, self.bitgen)


cdef class BanditRule(Rule):
    """Run a bandit policy on rewards 1 - (value - centre)^2 / scale, or on pairs with costs."""

    def __cinit__(self, int64_t n_arms, NativePolicy inner not None, int64_t per_reward,
                  bint has_costs):
        self.inner, self.per_reward, self.has_costs = inner, per_reward, has_costs
        self.scales, self.waits = np.ones(n_arms), True
        self.held, self.held_costs = np.zeros((n_arms, 2)), np.zeros(n_arms)
        self.n_held = np.zeros(n_arms, dtype=np.int64)

    cdef claim(self):
        """Mark the policy as used by this rule; the caller holds its guard."""
        if self.inner._serves_a_rule or self.inner.n_pulls:
            raise ValueError(f"policy must be fresh; got {self.inner!r} of another allocator")
        self.inner._serves_a_rule = True
        if self.scales_each:
            self.inner._set_scales(np.array(self.scales))

    def set_range(self, value_range, centre, max_cost):
        """Scale rewards by the ranges of values and costs, if they are known.

        `value_range` has shape (2,) or, with one range per estimator, (n_arms, 2). In the second
        case each estimator's losses are in its own units, and its upper bound is scaled back
        (Appendix B).
        """
        self.has_centre = centre is not None
        self.set_centre = 0.0 if centre is None else centre
        if value_range is None or (self.has_costs and max_cost is None):
            return
        with np.errstate(over="ignore", under="ignore"):
            if self.has_costs:
                scales = 0.5 * max_cost * (value_range[1] - value_range[0]) ** 2
            else:
                self.centre = value_range[..., 0].min() if centre is None else centre
                scales = np.abs(value_range - self.centre).max(axis=-1) ** 2
        if not (np.isfinite(scales) & (scales > 0)).all():
            raise ValueError("value_range must not make squared distances underflow or overflow "
                             f"with this policy; got {value_range.tolist()}")
        self.waits = False
        self.scales = np.full(self.n_arms, scales)
        self.scales_each = value_range.ndim == 2

    def expect_pilot(self, int64_t n):
        """Keep the first n values of each estimator until `end_pilot`."""
        self.pilot_values = np.full((self.n_arms, n), np.nan)
        self.pilot_costs = np.full((self.n_arms, n), np.nan)

    cdef void end_pilot(self) noexcept nogil:
        """Set centre and scale by the values of the pilot, and pass these values to the policy."""
        cdef int64_t arm, j, n = self.pilot_values.shape[1]
        cdef double least = self._least_spread()
        self.waits = False
        if not self.has_costs:
            self.centre = self.set_centre if self.has_centre else self._pilot_centre()
        for arm in range(self.n_arms):
            self.scales[arm] = (PAIR_CAP if self.has_costs else CAP) * least
        for j in range(n):
            for arm in range(self.n_arms):
                if not isnan(self.pilot_values[arm, j]):
                    self._feed(arm, self.pilot_values[arm, j], self.pilot_costs[arm, j])
        self.advance(n * self.n_arms // self.per_reward)

    cdef double _least_spread(self) noexcept nogil:
        """Return the smallest variance times cost above 0; 1 if no two values differ."""
        cdef double least = INFINITY, spread
        cdef int64_t k
        for k in range(self.n_arms):
            if self.pulls[k] > 1:
                spread = pb_variance(self.pulls[k], self.sums[k], self.deviations[k])
                spread *= self.cost_sums[k] / self.pulls[k]
                if 0.0 < spread < least:
                    least = spread
        return least if least < INFINITY else 1.0

    cdef double _pilot_centre(self) noexcept nogil:
        """Return the inverse-variance weighted mean of estimators with two values or more."""
        cdef double total = 0.0, weighted = 0.0, variance, weight
        cdef double least = pb_variance_least(&self.pulls[0], &self.sums[0], &self.deviations[0],
                                              self.n_arms)
        cdef int64_t k
        for k in range(self.n_arms):
            if not self.pulls[k] or (least > 0.0 and self.pulls[k] < 2):
                continue
            variance = pb_variance(self.pulls[k], self.sums[k], self.deviations[k])
            weight = self.pulls[k] if least == 0.0 else self.pulls[k] / max(variance, least)
            total += weight
            weighted += weight * (self.sums[k] / self.pulls[k])
        return weighted / total if total > 0.0 else 0.0

    cdef pb_batch next(self) noexcept nogil:
        return self.inner._next()

    cdef double loss(self, int64_t arm, double value, double cost) noexcept nogil:
        """Return the loss, which is to be minimised; NaN until the arm has the runs of a loss."""
        cdef double first, second
        cdef int64_t n = self.n_held[arm]
        if self.per_reward == 1:
            return (value - self.centre) * (value - self.centre)
        if n < 2:
            self.held[arm, n] = value
        if n < self.per_reward - 1:
            self.held_costs[arm] += cost
            self.n_held[arm] += 1
            return NAN
        first, second = self.held[arm, 0], value
        if self.per_reward == 3:
            second = self.held[arm, 1]  # the third run determines only the cost
        else:
            cost = 0.5 * (cost + self.held_costs[arm])
        self.n_held[arm], self.held_costs[arm] = 0, 0.0
        return 0.5 * cost * (first - second) * (first - second)

    cdef void absorb(self, int64_t arm, double value, double cost) noexcept nogil:
        if self.waits:
            self.pilot_values[arm, self.pulls[arm] - 1] = value
            self.pilot_costs[arm, self.pulls[arm] - 1] = cost
        else:
            self._feed(arm, value, cost)

    cdef void _feed(self, int64_t arm, double value, double cost) noexcept nogil:
        cdef double loss = self.loss(arm, value, cost), reward
        if isnan(loss):
            return
        reward = max(0.0, 1.0 - loss / self.scales[arm])
        self.inner._absorb(&arm, &reward, 1)

    cdef void advance(self, int64_t n) noexcept nogil:
        self.inner.n_pulls += n
        self.inner.n_batches += 1
        self.inner._advance()

    def get_progress(self):
        # The pilot's values are not saved: the pilot is one batch, reported as a whole.
        return {"inner": self.inner.get_state(), "centre": self.centre,
                "scales": np.array(self.scales), "held": np.array(self.held),
                "held_costs": np.array(self.held_costs), "n_held": np.array(self.n_held)}

    def set_progress(self, progress, n_pulls, n_decided):
        cdef NativePolicy inner
        saved = progress.get("inner") if isinstance(progress, dict) else None
        options = self.inner._options()
        check_inner(saved, options)
        inner = made_from(type(self.inner), {**saved, "options": options})
        inner._serves_a_rule = True
        inner._restore(saved)
        if n_pulls and self.waits:
            n_decided += self.pilot_values.shape[1] * self.n_arms // self.per_reward
        checked = BANDIT.checked_part("rule", progress, {
            "n_arms": self.n_arms, "most_held": self.per_reward - 1, "decided": n_decided,
            "per_reward": self.per_reward, "pulls": np.array(self.pulls), "waits": self.waits,
            "own_centre": self.centre, "own_scales": np.array(self.scales),
            "inner_n_pulls": inner.n_pulls, "inner_pulls": inner.pulls})
        self.inner, self.centre = inner, checked["centre"]
        for name, array in dict(scales=self.scales, held=self.held, n_held=self.n_held,
                                held_costs=self.held_costs).items():
            np.asarray(array)[:] = checked[name]


def decisions_were_asked(s):
    """asked that add up to n_decisions"""
    return s.asked.sum(dtype=float) == s.n_decisions


RULE = Schema(
    [integer("chosen", -1, "last_arm"), integer("n_decisions", "decided", "decided"),
     integer("asked", 0, "n_decisions", shape=("n_arms",))],
    invariants=[decisions_were_asked])


def range_sets_scales(s):
    """the centre and scales that value_range determines, if it was given"""
    return s.waits or (s.centre == s.own_centre and np.array_equal(s.scales, s.own_scales))


def values_became_rewards(s):
    """an inner policy with n_decisions pulls, and each value in one of its rewards or held"""
    return (s.inner_n_pulls == s.decided
            and np.array_equal(s.inner_pulls * s.per_reward + s.n_held, s.pulls))


BANDIT = Schema(
    [anything("inner"), finite("centre"),
     number("scales", low=5e-324, shape=("n_arms",), nan=False),
     finite("held", shape=("n_arms", 2)),
     number("held_costs", low=0.0, shape=("n_arms",), nan=False),
     integer("n_held", 0, "most_held", shape=("n_arms",))],
    invariants=[range_sets_scales, values_became_rewards])


def check_inner(inner, options):
    """Raise unless `inner` is the state of a bandit policy with these options."""
    if not isinstance(inner, dict) or not isinstance(inner.get("options"), dict):
        raise ValueError(f"state must hold inner, the state of a policy; got {repr(inner)[:60]}")
    saved = inner["options"]
    if set(saved) != set(options) or not all(
            np.array_equal(saved[name], options[name]) for name in options):
        raise ValueError(f"state must hold inner, the state of a policy with the options "
                         f"{options}; got {repr(saved)[:200]}")
