"""Bets on the common mean of several estimators, for an anytime-valid interval."""

import numpy as np

from pybandit._shared.checks import check_numeric

from libc.math cimport log, sqrt
from libc.stdint cimport int64_t
from libc.stdlib cimport free, realloc

from pybandit.montecarlo._csrc cimport pb_stake, pb_stakes, pb_stakes_bound

# Number of bets. Bet g suits a mean that is wrong by 2^-g of the possible range: the smallest
# suits a mean known to 2e-6 of it. A multiple of 4.
N_BETS = 20
# Limits of widths whose squares can be used as divisors.
NARROWEST, WIDEST = 1e-100, 1e100
cdef double NARROW = NARROWEST, WIDE = WIDEST


cdef class Stakes:
    """All values received, with the weights that the values before their batch determined.

    Parameters
    ----------
    ranges : ndarray of float64, shape (n_arms, 2)
        Range of the values of each estimator.
    """

    def __cinit__(self, ranges):
        self.lows = np.array(ranges[:, 0], dtype=float)
        self.highs = np.array(ranges[:, 1], dtype=float)
        low, high = self.possible
        self.bets = max(high - low, NARROWEST) * 0.5 ** np.arange(N_BETS)
        self.wrong_estimator = -1

    def __dealloc__(self):
        free(self.memory)

    @property
    def possible(self):
        """Range of the mean: the intersection of all ranges."""
        return float(np.max(self.lows)), float(np.min(self.highs))

    cdef double weight_of(self, int64_t estimator, int64_t n, double deviation) noexcept nogil:
        # Adds one value half a range from the mean, the largest possible standard deviation.
        # Widths outside [NARROW, WIDE] are clipped here and rejected in `bounds`.
        cdef double width = self.highs[estimator] - self.lows[estimator]
        cdef double half = 0.5 * min(max(width, NARROW), WIDE)
        cdef double most = n * half * half
        if not deviation <= most:  # values are outside the range; `bounds` raises
            deviation = most
        deviation = max(deviation, 0.0)  # may be a rounding error below 0 for equal values
        return (n + 1.0) / (half * half + deviation)

    cdef void add(self, int64_t estimator, double value, double weight,
                  int64_t batch) noexcept nogil:
        cdef pb_stake *grown
        cdef int64_t room
        if self.n == self.room:
            room = 2 * self.room if self.room else 64
            grown = <pb_stake *>realloc(self.memory, room * sizeof(pb_stake))
            if not grown:
                self.memory_ran_out = True
                return
            self.memory, self.room = grown, room
        if self.wrong_estimator < 0 and not (
                self.lows[estimator] <= value <= self.highs[estimator]):
            self.wrong_estimator, self.wrong_value = estimator, value
        self.memory[self.n] = pb_stake(value, weight, estimator, batch != self.batch)
        self.batch = batch
        self.n += 1
        self.total += weight
        self.weighted += weight * (value - self.lows[0])

    def bounds(self, double delta):
        """Return (low, high): against means in between no wealth has reached 2 / delta."""
        cdef pb_stakes stakes
        self._check()
        stakes = pb_stakes(self.memory, self.n, &self.lows[0], &self.highs[0], &self.bets[0],
                           self.bets.shape[0])
        if not self.n:
            return self.possible
        return self._bound(stakes, delta, 0), self._bound(stakes, delta, 1)

    cdef double _bound(self, pb_stakes stakes, double delta, int side):
        cdef double[::1] capital = np.empty(self.bets.shape[0])
        cdef double low, high, bound, start, step, centre
        # the sum of all wealths is compared with 2 / delta times its start, plus rounding
        cdef double limit = 2.0 / delta * self.bets.shape[0] * (1.0 + 1e-9)
        low, high = self.possible
        if not low < high:
            return high if side else low
        # first guess: the weighted mean and its normal half-width
        centre = self.lows[0] + self.weighted / self.total
        step = min(sqrt(2.0 * log(limit) / self.total), 0.5 * (high - low))
        start = (min(centre + step, 0.5 * (centre + high)) if side
                 else max(centre - step, 0.5 * (centre + low)))
        if not low < start < high:
            start = 0.5 * (low + high)
        with nogil:
            bound = pb_stakes_bound(&stakes, low, high, limit, start, step, side, &capital[0])
        return bound

    def _check(self):
        cdef int64_t k = self.wrong_estimator
        widths = np.subtract(self.highs, self.lows)
        if k >= 0:
            raise ValueError(f"value_range must contain all values for method='betting'; got "
                             f"{self.wrong_value!r} of estimator {k}, outside "
                             f"[{self.lows[k]!r}, {self.highs[k]!r}]")
        if self.memory_ran_out:
            raise MemoryError(f"no memory for values after the first {self.n}: method='betting' "
                              "needs all of them")
        if not ((widths >= NARROWEST) & (widths <= WIDEST)).all():
            raise ValueError(f"value_range must be {NARROWEST:g} to {WIDEST:g} wide for "
                             f"method='betting'; got widths {widths}")

    def get_progress(self):
        """Return values, weights, estimators, and 1 for the first of each batch: shape (4, n)."""
        rows = np.empty((4, self.n))
        cdef double[:, ::1] row = rows
        cdef int64_t j
        for j in range(self.n):
            row[0, j], row[1, j] = self.memory[j].value, self.memory[j].weight
            row[2, j], row[3, j] = self.memory[j].estimator, self.memory[j].begins
        return rows

    def set_progress(self, rows):
        """Restore the progress that `get_progress` returned."""
        cdef double[:, ::1] row = _checked(rows, self.lows.shape[0])
        cdef int64_t j, batch = 0
        self.n, self.total, self.weighted, self.wrong_estimator = 0, 0.0, 0.0, -1
        self.memory_ran_out, self.batch = False, 0
        for j in range(row.shape[1]):
            batch += <int64_t>row[3, j]
            self.add(<int64_t>row[2, j], row[0, j], row[1, j], batch)
        self.batch = -1  # the next value starts a batch


def _checked(rows, n_arms):
    try:
        rows = check_numeric("stakes", rows)
    except (TypeError, ValueError):
        rows = np.empty(0)
    if rows.ndim != 2 or rows.shape[0] != 4:
        raise ValueError(f"stakes of the state must be numbers of shape (4, n); got shape "
                         f"{rows.shape}")
    if not np.isfinite(rows).all():
        raise ValueError("stakes of the state must be finite; got NaN or infinity")
    _, weights, estimators, begins = rows
    good = (weights > 0) & np.isin(begins, (0, 1))
    good &= (estimators >= 0) & (estimators < n_arms) & (estimators % 1 == 0)
    if not good.all():
        raise ValueError(f"state must hold stakes with weights above 0 and estimators in [0, "
                         f"{n_arms}); got {rows[:, int(np.argmin(good))]}")
    return rows
