# cython: auto_pickle=False
"""Rewards with truncated normal distributions."""

import math

import numpy as np

from pybandit._shared.checks import check_in, check_numeric, check_scalar
from pybandit.simulation._truncated_law import largest_variance, natural_parameters
from pybandit.simulation.base import arm_values

from libc.math cimport exp, expm1, log1p
from libc.stdint cimport int64_t
from numpy.random cimport bitgen_t
from numpy.random.c_distributions cimport random_standard_normal

from pybandit._shared._csrc cimport pb_bitgen
from pybandit.simulation.base cimport Environment


cdef struct Law:
    # if `whole`: propose from the normal distribution with this mode and standard deviation
    bint whole
    double mode, deviation
    # else: from an exponential distribution from one end inward, truncated at the other
    double end, direction, rate
    # accept with probability exp(-curve (t - centre)^2), t the distance from the end
    double curve, centre


cdef class TruncatedNormalBandit(Environment):
    """Arms with normal rewards, truncated to an interval.

    Parameters
    ----------
    means : array_like of float, shape (n_arms,)
        Mean reward of each arm, inside the interval.
    noise_std : array_like of float, shape (n_arms,), or float
        Standard deviation of each arm's rewards, one for all or one per arm: at least 1e-150, and
        below that of the exponential distribution on the interval with the same mean. If the mean
        is the midpoint, that distribution is uniform: (high - low) / sqrt(12).
    low, high : float, default 0 and 1
        Ends of the interval, low below high.

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range.

    Notes
    -----
    The constructor solves for the parameters of the normal distribution before truncation.
    Rewards are exact, by rejection: from the normal distribution if at least a quarter of it is
    inside the interval, otherwise from an exponential or uniform distribution on the interval. A
    reward usually takes at most two proposals.

    **Threads.** Pulls do not change it: threads may share it.

    Examples
    --------
    >>> import pybandit as pb
    >>> bandit = pb.environments.TruncatedNormalBandit([0.5, 0.5], [0.1, 0.28])
    >>> bandit.noise_std.tolist()
    [0.1, 0.28]
    """

    cdef Law[::1] laws
    cdef readonly double low, high

    def __init__(self, means, noise_std, *, low=0.0, high=1.0):
        low = check_scalar("low", low, "finite", np.isfinite)
        high = check_scalar("high", high, f"finite and above low, {low!r}",
                            lambda x: np.isfinite(x) & (x > low))
        means = arm_values("means", np.atleast_1d(check_numeric("means", means)),
                           f"between {low!r} and {high!r}, low and high",
                           lambda m: (m > low) & (m < high))
        noise_std = check_in("noise_std", noise_std, "finite and at least 1e-150",
                             lambda s: np.isfinite(s) & (s >= 1e-150))
        super().__init__(means, noise_std)
        self.low, self.high = low, high
        cdef Law[::1] laws = np.zeros(self.n_arms, dtype=_LAW)
        for i in range(self.n_arms):
            limit = largest_variance(self._means[i], self.low, self.high)
            if self._variances[i] >= limit * (1.0 - 1e-9):
                raise ValueError(
                    f"noise_std must be below {math.sqrt(limit):.6g} for a mean of "
                    f"{self._means[i]!r} in [{low!r}, {high!r}]; got {self._noise_std[i]!r} at "
                    f"index {i}")
            laws[i] = self._law(self._means[i], self._variances[i])
        self.laws = laws
        self._draws_each = True
        self._made(TruncatedNormalBandit, dict(means=means, low=low, high=high,
                                               noise_std=np.array(self._noise_std)))

    cdef Law _law(self, double mean, double variance):
        """Return the parameters for drawing with this mean and variance."""
        cdef Law law
        cdef double s = math.sqrt(variance)
        slope, curve = natural_parameters(mean, variance, self.low, self.high)
        slope, law.curve = slope / s, max(curve, 0.0) / variance
        law.centre = law.rate = 0.0
        law.end, law.direction = self.low, 1.0
        # slopes of the log density at both ends
        at_low = slope - 2.0 * law.curve * (self.low - mean)
        at_high = slope - 2.0 * law.curve * (self.high - mean)
        if at_low <= 0.0:
            law.rate = -at_low
        elif at_high >= 0.0:
            law.end, law.direction, law.rate = self.high, -1.0, at_high
        else:
            law.centre = mean + slope / (2.0 * law.curve) - self.low
        law.whole = False
        law.mode, law.deviation = 0.0, 1.0
        if law.curve > 0.0:
            law.mode = mean + slope / (2.0 * law.curve)
            law.deviation = math.sqrt(0.5 / law.curve)
            scale = law.deviation * math.sqrt(2.0)
            inside = (math.erf((self.high - law.mode) / scale)
                      - math.erf((self.low - law.mode) / scale)) / 2.0
            law.whole = inside >= 0.25
        return law

    cdef double _draw(self, int64_t arm, int64_t seen, pb_bitgen *bitgen) noexcept nogil:
        cdef Law *law = &self.laws[arm]
        cdef double x, t, length = self.high - self.low
        if law.whole:
            while True:
                x = law.mode + law.deviation * random_standard_normal(<bitgen_t *>bitgen)
                if self.low <= x <= self.high:
                    return x
        while True:
            t = bitgen.next_double(bitgen.state)
            if law.rate * length > 1e-10:
                t = -log1p(t * expm1(-law.rate * length)) / law.rate
            else:
                t *= length
            if bitgen.next_double(bitgen.state) < exp(-law.curve * (t - law.centre) ** 2):
                return law.end + law.direction * t


_LAW = np.dtype([("whole", np.intc), *((name, float) for name in (
    "mode", "deviation", "end", "direction", "rate", "curve", "centre"))], align=True)
