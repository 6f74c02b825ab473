# cython: auto_pickle=False
"""Statistics of the values that an allocator received, and their weights."""

import numpy as np

from pybandit._shared.checks import MOST_PULLS, check_choice, check_integer
from pybandit._shared.schema import Schema, anything, finite, integer, number
from pybandit.montecarlo._intervals import LEAST_DIFFERENT_AHEAD
from pybandit.montecarlo._sharing import SHARED
from pybandit.montecarlo._weights import MOST_WEIGHT, inverse_variance, pooled, predictable

from libc.math cimport frexp, ldexp
from libc.stdint cimport int64_t

from pybandit.montecarlo._csrc cimport pb_variance
from pybandit.montecarlo._sharing cimport SharedBudget
from pybandit.montecarlo._stakes cimport Stakes

WEIGHTS = ("mean", "inverse-variance", "predictable")

# Maximum number of distinct values counted; no caller needs more.
cdef int64_t MOST_DIFFERENT = LEAST_DIFFERENT_AHEAD
cdef double HEAVIEST = MOST_WEIGHT


cdef class WeighedValues(SharedBudget):
    """A shared budget that keeps the sums which an estimate and its intervals need."""

    def __init__(self, n_arms, policy, *, weights, least_values, **options):
        super().__init__(n_arms, policy, **options)
        self.weights = check_choice("weights", weights, WEIGHTS)
        self.predictable = weights == "predictable"
        if least_values is None:
            least_values = 30 if weights == "inverse-variance" else 10
        self.least_values = check_integer("least_values", least_values, 2, MOST_PULLS)
        self.thirds = np.zeros(self.n_arms)
        self.common = np.zeros((self.n_arms, MOST_DIFFERENT))
        self.n_common = np.zeros((self.n_arms, MOST_DIFFERENT), dtype=np.int64)
        self.weighed_in = np.zeros(self.n_arms, dtype=np.int64)
        self.start_variances, self.start_weights, self.start_stakes = np.zeros((3, self.n_arms))
        self.powers = np.zeros((3, self.n_arms))
        self.bets = self.value_range is not None
        if self.bets:
            self.stakes = Stakes(np.broadcast_to(self.value_range, (self.n_arms, 2)))

    cdef object _schema(self):
        return ALLOCATOR

    cdef void _weigh(self, int64_t arm, double value) noexcept nogil:
        cdef double weight
        # n_batches counts finished batches, so this batch has the next number
        if self.weighed_in[arm] != self.n_batches + 1:
            self._begin_batch(arm)
        if self.predictable:
            weight = self.start_weights[arm]
            if weight > self.weight:  # keeps rounding errors of a noisy origin small
                self.weighted += self.weight * (self.origin - value)
                self.origin = value
            self.weight += weight
            self.weighted += weight * (value - self.origin)
            self.powers[0, arm] += weight
            self.powers[1, arm] += weight * weight
            self.powers[2, arm] += weight * weight * weight
        if self.bets:
            self.stakes.add(arm, value, self.start_stakes[arm], self.n_batches + 1)
        self._note(arm, value)

    cdef void _begin_batch(self, int64_t arm) noexcept nogil:
        """Set the weights of the values of `arm` in this batch, from those before the batch.

        Values of the same batch must not enter: they may be reported in any order, so a value
        could influence its position and with it its weight.
        """
        cdef double variance = pb_variance(self._pulls[arm], self._sums[arm],
                                           self._deviations[arm])
        cdef int exponent = 0
        self.weighed_in[arm] = self.n_batches + 1
        self.start_variances[arm] = variance
        if self.bets:
            self.start_stakes[arm] = self.stakes.weight_of(arm, self._pulls[arm],
                                                           self._deviations[arm])
        self.start_weights[arm] = 0.0
        if not self.predictable or self._pulls[arm] < self.least_values:
            return
        if variance == 0.0:
            variance = self._least_variance(arm)
        if variance > 0.0:
            if self.scale == 0.0:
                frexp(variance, &exponent)
                self.scale = ldexp(1.0, exponent)
            self.start_weights[arm] = min(self.scale / variance, HEAVIEST)

    cdef double _least_variance(self, int64_t arm) noexcept nogil:
        """Return the smallest positive variance of all estimators at the batch's start, or 0."""
        cdef double least = 0.0, variance
        cdef int64_t k
        for k in range(self.n_arms):
            if self.weighed_in[k] == self.n_batches + 1:
                variance = self.start_variances[k]
            else:
                variance = pb_variance(self._pulls[k], self._sums[k], self._deviations[k])
            if variance > 0.0 and (least == 0.0 or variance < least):
                least = variance
        return least

    cdef void _note(self, int64_t arm, double value) noexcept nogil:
        """Update skewness and counts of distinct values, before the other statistics."""
        cdef double n = self._pulls[arm] + 1.0, change, part
        if n > 1.0:
            change = value - self._sums[arm] / (n - 1.0)
            part = change / n
            self.thirds[arm] += part * (change * part * (n - 1.0) * (n - 2.0)
                                        - 3.0 * self._deviations[arm])
        self._count(arm, value)

    cdef void _count(self, int64_t arm, double value) noexcept nogil:
        """Count each distinct value, the most frequent one first, up to MOST_DIFFERENT.

        Counting stops when MOST_DIFFERENT values differ from the most frequent one. Until then
        there are fewer distinct values than that, so that the arrays have room for each.
        """
        cdef double[::1] values = self.common[arm]
        cdef int64_t[::1] counts = self.n_common[arm]
        cdef int64_t j = 0
        if self._pulls[arm] - counts[0] + 1 >= MOST_DIFFERENT:
            return
        while counts[j] and values[j] != value:
            j += 1
            if j == MOST_DIFFERENT:
                return  # only possible in a state that did not come from runs
        values[j] = value
        counts[j] += 1
        if counts[j] > counts[0]:
            values[0], values[j] = values[j], values[0]
            counts[0], counts[j] = counts[j], counts[0]

    def _combine(self):
        """Return estimate, standard error and sums of weights."""
        with self.guard.reading():
            pulls, variances = np.array(self._pulls), self.variances
            if self.weight > 0.0:
                return predictable(self.origin + self.weighted / self.weight,
                                   *np.array(self.powers), variances)
            if self.weights == "inverse-variance":
                return inverse_variance(pulls, self.means, variances, self.least_values)
            return pooled(pulls, self.means, variances)

    def _get_progress(self):
        return super()._get_progress() | {
            "thirds": np.array(self.thirds),
            "common": np.array(self.common),
            "n_common": np.array(self.n_common),
            "weight": self.weight,
            "weighted": self.weighted,
            "scale": self.scale,
            "origin": self.origin,
            "powers": np.array(self.powers),
            "stakes": self.stakes.get_progress() if self.bets else None,
        }

    def _set_progress(self, progress):
        super()._set_progress(progress)
        self.weight, self.weighted = progress["weight"], progress["weighted"]
        self.origin, self.scale = progress["origin"], progress["scale"]
        np.asarray(self.powers)[:] = progress["powers"]
        np.asarray(self.thirds)[:] = progress["thirds"]
        np.asarray(self.common)[:] = progress["common"]
        np.asarray(self.n_common)[:] = progress["n_common"]
        if self.bets:
            self.stakes.set_progress(progress["stakes"])
            if self.stakes.n != np.sum(self._pulls):
                raise ValueError(f"state must hold the stakes of all {np.sum(self._pulls)} "
                                 f"values; got {self.stakes.n}")


def weights_have_a_scale(s):
    """a scale above 0 if there is a weight"""
    return s.scale > 0.0 or s.weight == 0.0


ALLOCATOR = Schema(
    [finite("weight", low=0.0), finite("weighted"), finite("scale", low=0.0), finite("origin"),
     finite("powers", low=0.0, shape=(3, "n_arms")), number("thirds", shape=("n_arms",)),
     finite("common", shape=("n_arms", LEAST_DIFFERENT_AHEAD)),
     integer("n_common", 0, "n_pulls", ("n_arms", LEAST_DIFFERENT_AHEAD)),
     anything("stakes")],
    base=SHARED, invariants=[weights_have_a_scale])
