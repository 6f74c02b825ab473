"""Which estimator to run next, so that variance times cost becomes small."""

import numpy as np

from libc.math cimport INFINITY, NAN, isnan, log, sqrt
from libc.stdint cimport int64_t
from numpy.random cimport bitgen_t
from numpy.random.c_distributions cimport random_standard_gamma

from pybandit._csrc cimport pb_batch, pb_batch_one, pb_bitgen, pb_variance
from pybandit._race cimport bitgen_of
from pybandit.policies._base cimport NativePolicy


cdef class Rule:
    """Each estimator in turn; what the others share."""

    def __init__(self, int64_t n_arms):
        self.n_arms, self.chosen = n_arms, -1
        self.asked = np.zeros(n_arms, dtype=np.int64)

    def bind(self, pulls, sums, deviations, cost_sums):
        """Takes the arrays that the allocator keeps up to date."""
        self.pulls, self.sums, self.deviations, self.cost_sums = pulls, sums, deviations, cost_sums

    cdef pb_batch next(self) noexcept nogil:
        if self.chosen < 0:
            self._decide()
        return pb_batch_one(&self.chosen)

    cdef void _decide(self) noexcept nogil:
        """An estimator without two values first, but for its part of the decisions only."""
        cdef int64_t arm
        for arm in range(self.n_arms):
            if self.pulls[arm] < 2 and self.asked[arm] * self.n_arms <= self.n_decisions:
                self.chosen = arm
                return
        self._choose(<double>(self.n_decisions + 1))

    cdef void _choose(self, double t) noexcept nogil:
        self.chosen = self.n_decisions % self.n_arms

    cdef void absorb(self, int64_t arm, double value, double cost) noexcept nogil:
        pass

    cdef void advance(self, int64_t n) noexcept nogil:
        cdef pb_batch batch = self.next()
        cdef int64_t j
        for j in range(n):
            self.asked[batch.arms[j % batch.n_arms]] += 1
        self.n_decisions += n
        self.chosen = -1

    cdef double _spread(self, int64_t arm) noexcept nogil:
        """Variance times mean cost; what lost runs cost counts."""
        return (pb_variance(self.pulls[arm], self.sums[arm], self.deviations[arm])
                * self.cost_sums[arm] / self.pulls[arm])

    def get_progress(self):
        return {"chosen": self.chosen, "asked": np.array(self.asked),
                "n_decisions": self.n_decisions}

    def set_progress(self, progress):
        chosen = int(progress["chosen"])
        if not -1 <= chosen < self.n_arms:
            raise ValueError(f"state must hold chosen in [-1, {self.n_arms}); got {chosen}")
        self.chosen, self.n_decisions = chosen, progress["n_decisions"]
        np.asarray(self.asked)[:] = progress["asked"]


cdef class LCBRule(Rule):
    """argmin log(cost variance) - sqrt(4 log t / N): optimistic about the variance."""

    cdef void _choose(self, double t) noexcept nogil:
        cdef double best = INFINITY, index, width = sqrt(4.0 * log(t))
        cdef int64_t arm
        self.chosen = self.n_decisions % self.n_arms
        for arm in range(self.n_arms):
            if self.pulls[arm] < 2:
                continue
            index = log(self._spread(arm)) - width / sqrt(<double>self.pulls[arm])
            if index < best:
                self.chosen, best = arm, index


cdef class ThompsonRule(Rule):
    """argmin cost s^2 (N - 1) / chi^2_{N - 1}: a draw of each variance's posterior."""

    cdef seed(self, generator):
        self.generator, self.bitgen = generator, bitgen_of(generator)

    cdef void _choose(self, double t) noexcept nogil:
        cdef double best = INFINITY, half, drawn
        cdef int64_t arm
        self.chosen = self.n_decisions % self.n_arms
        for arm in range(self.n_arms):
            if self.pulls[arm] < 2:
                continue
            half = 0.5 * (self.pulls[arm] - 1)
            drawn = (self._spread(arm) * half
                     / random_standard_gamma(<bitgen_t *>self.bitgen, half))
            if drawn < best:
                self.chosen, best = arm, drawn


cdef class BanditRule(Rule):
    """A bandit policy on rewards 1 - (value - centre)^2 / scale, or on pairs with costs."""

    def __init__(self, int64_t n_arms, NativePolicy inner, int64_t per_reward):
        super().__init__(n_arms)
        self.inner, self.per_reward = inner, per_reward
        self.centre, self.scale = 0.0, 1.0
        self.lows, self.scales = np.zeros(n_arms), np.ones(n_arms)
        self.held, self.held_costs = np.zeros((n_arms, 2)), np.zeros(n_arms)
        self.n_held = np.zeros(n_arms, dtype=np.int64)

    def set_scale(self, double centre, double scale):
        """Losses are squares about `centre`, or of pairs, in units of `scale`."""
        self.centre, self.scale = centre, scale

    def set_ranges(self, double low, scales):
        """Losses are squares about `low`, each estimator's in units of its own."""
        self.centre, self.ranged = low, True
        np.asarray(self.scales)[:] = scales
        self.inner._set_scales(np.array(scales))

    cdef pb_batch next(self) noexcept nogil:
        return self.inner._next()

    cdef double loss(self, int64_t arm, double value, double cost) noexcept nogil:
        """What to make small; NaN while the pair is not complete."""
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
            second = self.held[arm, 1]  # the third run gives the cost only
        else:
            cost = 0.5 * (cost + self.held_costs[arm])
        self.n_held[arm], self.held_costs[arm] = 0, 0.0
        return 0.5 * cost * (first - second) * (first - second)

    cdef void absorb(self, int64_t arm, double value, double cost) noexcept nogil:
        cdef double loss = self.loss(arm, value, cost), reward
        if isnan(loss):
            return
        reward = 1.0 - loss / (self.scales[arm] if self.ranged else self.scale)
        if reward < 0.0:
            reward = 0.0
        self.inner._absorb(&arm, &reward, 1)

    cdef void advance(self, int64_t n) noexcept nogil:
        self.inner.n_pulls += n
        self.inner.n_batches += 1
        self.inner._advance()

    def get_progress(self):
        return {"inner": self.inner.get_state(), "centre": self.centre, "scale": self.scale,
                "held": np.array(self.held), "held_costs": np.array(self.held_costs),
                "n_held": np.array(self.n_held)}

    def set_progress(self, progress):
        n_held = np.asarray(progress["n_held"])
        if (n_held < 0).any() or (n_held >= self.per_reward).any():
            raise ValueError(f"state must hold n_held in [0, {self.per_reward}); got {n_held}")
        self.inner = type(self.inner).from_state(progress["inner"])
        self.centre, self.scale = progress["centre"], progress["scale"]
        np.asarray(self.held)[:] = progress["held"]
        np.asarray(self.held_costs)[:] = progress["held_costs"]
        np.asarray(self.n_held)[:] = n_held
