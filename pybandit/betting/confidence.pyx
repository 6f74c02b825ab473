"""Confidence sequences: bounds on a mean that are valid at all times simultaneously.

Values are read one by one, without replacement from a population of N, or independently. The
bounds may be read after every value, and reading may stop at any time.
"""

import functools
import math
from typing import NamedTuple

import numpy as np

from pybandit._shared.checks import check_choice, check_delta
from pybandit.betting._sequence_checks import (
    ARRAYS, OPTIONS, check_ends_for, check_method, check_plan, check_population, check_room,
    check_sequence_state, check_values,
)
from pybandit.betting._state import check_mapping

cimport cython
from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport int64_t

from pybandit._shared.guard cimport Guard
from pybandit.betting._csrc cimport (
    PB_CONFIDENCE_ASYMPTOTIC, PB_CONFIDENCE_BERNSTEIN,
    PB_CONFIDENCE_BETTING, PB_CONFIDENCE_HOEFFDING, pb_confidence, pb_confidence_add,
    pb_confidence_agrees, pb_confidence_init, pb_scaled, pb_scaled_value,
)
from pybandit.betting._scaled cimport scaled_bets

__all__ = ["ConfidenceBounds", "ConfidenceSequence", "confidence_sequence"]

_METHODS = {
    "betting": PB_CONFIDENCE_BETTING,
    "empirical-bernstein": PB_CONFIDENCE_BERNSTEIN,
    "hoeffding": PB_CONFIDENCE_HOEFFDING,
    "asymptotic": PB_CONFIDENCE_ASYMPTOTIC,
}
# The geometric grid of bets of the exponential forms. The smallest is best for a mean known to
# 0.004 standard deviations, the largest for the first ten values; the empirical Bernstein form
# needs bets below 1.
SMALLEST_BET, LARGEST_BET, LARGEST_BERNSTEIN_BET, N_BETS = 0.004, 2.0, 0.9, 16
# Number of values between two checks for Ctrl-C.
PIECE = 1024
HISTORY = sizeof(pb_scaled_value) // sizeof(double)


@functools.cache
def grid_of(method, n_bets):
    """Return the bets of an exponential form; cached, as NumPy takes 50 us for them."""
    largest = LARGEST_BERNSTEIN_BET if method == "empirical-bernstein" else LARGEST_BET
    grid = np.geomspace(SMALLEST_BET, largest, n_bets)
    grid.flags.writeable = False
    return grid


class ConfidenceBounds(NamedTuple):
    """Bounds on the mean after each value.

    Attributes
    ----------
    lower, upper : ndarray of float64, shape (n,)
        Bounds in the units of the values. With probability at least 1 - delta the mean is
        between them after every value.

    Notes
    -----
    **Threads.** Immutable, so threads may share it.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> bounds = pb.confidence_sequence(np.random.default_rng(0).random(1000))
    >>> bounds.lower[[9, 99, 999]].round(2), bounds.upper[[9, 99, 999]].round(2)
    (array([0.21, 0.45, 0.49]), array([0.8 , 0.6 , 0.55]))
    """

    lower: object
    upper: object


def confidence_sequence(values, *, population_size=math.inf, delta=0.05, value_range=(0, 1),
                        method="betting", n_bets=None, planned=None):
    """Return bounds on a mean that are valid after every value simultaneously.

    With probability at least ``1 - delta`` the mean of the population is inside the bounds at all
    times, so reading may stop at any time and for any reason.

    Parameters
    ----------
    values : array_like of float, shape (n,)
        Values in the order in which they were read: uniformly at random without replacement, or
        independently with a common mean.
    population_size : int or float, default math.inf
        Number of values in the population, N, at least n; ``math.inf`` for independent values.
    delta : float, default 0.05
        Maximum probability that the bounds ever miss the mean, in (0, 1).
    value_range : (float, float), optional
        Smallest and largest possible value, both finite. None is allowed for
        ``method="asymptotic"`` only.
    method : {"betting", "empirical-bernstein", "hoeffding", "asymptotic"}
        See Notes.
    n_bets : int, optional
        Size G of the grid of bets of "empirical-bernstein" and "hoeffding", in [1, 64];
        by default 16.
    planned : int, optional
        For "betting": the number of values, at least 1, after which the bounds should be
        narrowest. Bounds stay valid before and after it.

    Returns
    -------
    ConfidenceBounds
        ``lower`` and ``upper``, float64 arrays of shape (n,).

    Raises
    ------
    ValueError, TypeError
        If an argument is outside its range, more than N values are given, or a value is NaN or
        outside `value_range`. Values are never clipped.

    Notes
    -----
    Let x be the values scaled to [0, 1], S the sum of those before the t-th, and mu a possible
    mean. Under mu the t-th value has the conditional mean ``m_t = (N mu - S) / (N - t + 1)``, or
    mu itself if values are independent.

    ``"betting"`` bets against mu. Each bet multiplies its wealth by
    ``1 + min(g N / (N - t + 1) / sd_t h_t, f / m_t) (x_t - m_t)``, where ``sd_t`` is the standard
    deviation of the values before the t-th with two imagined ones of squared deviation 1/4, and
    ``h_t`` is 1, or ``sqrt(2 log(2/delta) / (t log(t + 1)))`` for two of the bets. A factor is at
    least 1 - f, and has conditional mean 1 if mu is the mean, because the bet is known before x_t.
    So the total wealth K of the bets, weighted from 1, is a nonnegative martingale, and by Ville's
    inequality it ever reaches 2 / delta with probability at most delta / 2. The lower bound is the
    largest mu for which K has reached 2 / delta; the upper bound is the same for ``1 - x``. K falls
    as mu grows. Bounds are found by stepping upwards, in steps of 1/256 of the width, and with a
    lower bound on K, so they are wider than the exact ones: typically by less than 1 % of the
    width per side, and in tests by at most 2.4 %. The tilt N / (N - t + 1) makes the width
    shrink as fast as the population is used up (Waudby-Smith & Ramdas 2024, without their
    truncation at one sample size). There are 15 bets with g from 1 to 2^-11 and f = .6 or .9 if N
    or `planned` is at most 30,000, else 17 with g from 2 to 2^-12. With `planned`, half of the
    wealth is on one more bet, ``g = 3 / sqrt(planned)``.

    ``"empirical-bernstein"`` uses ``exp(sum lambda_t (x_t - m_t) - psi(lambda_t) (x_t - c_t)^2)``
    as the wealth of a bet, with ``psi(l) = -log(1 - l) - l``, ``c_t = (1/2 + S) / t`` and
    ``lambda_t = min(lambda N / (N - t + 1), 0.9)``. It is a supermartingale by Fan's inequality,
    ``exp(l y - psi(l) y^2) <= 1 + l y`` for y >= -1 and 0 <= l < 1, applied to ``y = x_t - c_t``
    (Howard et al. 2021; Waudby-Smith & Ramdas 2020). ``"hoeffding"`` has ``lambda_t^2 / 8``
    instead of the psi term, by Hoeffding's lemma. The guarantee is the same.

    ``"asymptotic"`` has no guarantee. It is the normal mixture boundary with an estimated standard
    deviation (Waudby-Smith et al. 2021), ``mean +- std sqrt(2 (n' r + 1) / (n'^2 r) log(sqrt(n' r
    + 1) / delta))`` with ``n' = n / (1 - n/N)`` and r chosen so that it is tightest at n' = 1000.
    Its error approaches delta if n is large before the first look; it misses rare large values
    until one is seen. At n = 1 the bounds are infinite (without `value_range`).

    The bounds of the first three methods never widen, and stay within the means that are still
    possible, ``[S_n / N, (S_n + N - n) / N]`` of the range. At n = N all bounds equal the mean. If
    the values prove a bound wrong, the end of the range that is still possible replaces it. A
    lower bound above the upper one also shows that a bound is wrong; both events together have
    probability at most delta.

    Betting plays all values so far again when the width has fallen by a constant factor.
    While the width falls as ``n**-0.5`` that is O(n) in total: .15 to .2 us per value for 10,000
    to 100,000 values. It keeps 24 bytes per value for the history. The exponential forms take .03
    to .07 us per value and the asymptotic one .06 us, and they keep no values.

    Examples
    --------
    >>> import numpy as np, pybandit as pb
    >>> scores = np.random.default_rng(0).random(1000)
    >>> lower, upper = pb.confidence_sequence(scores, population_size=100_000)
    >>> print(lower[-1].round(3), upper[-1].round(3))
    0.488 0.547
    """
    return ConfidenceSequence(population_size=population_size, delta=delta,
                              value_range=value_range, method=method, n_bets=n_bets,
                              planned=planned).tell(values)


@cython.final
cdef class ConfidenceSequence:
    """A confidence sequence for values that arrive in pieces; see `confidence_sequence`.

    The bounds do not depend, bit for bit, on how the values are divided into pieces.

    Parameters
    ----------
    population_size, delta, value_range, method, n_bets, planned
        As in `confidence_sequence`.

    Attributes
    ----------
    n : int
        Number of values read.
    mean : float
        Mean of the values read; NaN before the first.
    lower, upper : float
        Current bounds; `value_range` before the first value, or infinite.

    Raises
    ------
    ValueError, TypeError
        As in `confidence_sequence`.

    See Also
    --------
    confidence_sequence : for values that are all available at once.

    Notes
    -----
    **Threads.** One thread at a time; a second one gets a RuntimeError.

    Examples
    --------
    >>> import pybandit as pb
    >>> sequence = pb.betting.ConfidenceSequence(population_size=4)
    >>> bounds = sequence.tell([1.0, 0.0, 1.0])
    >>> sequence.n, sequence.lower, sequence.upper
    (3, 0.5, 0.75)
    """

    cdef pb_confidence sequence
    cdef double[:, ::1] history  # betting: the prepared values
    cdef double low, high, scale  # a kernel bound b means low + scale b, at most high
    cdef readonly object population_size, delta, value_range, method, n_bets, planned
    cdef Guard guard

    def __cinit__(self, *arguments, **options):
        self.guard = Guard(type(self))
        self.guard.shut()
        self.history = np.empty((0, HISTORY))

    def __init__(self, *, population_size=math.inf, delta=0.05, value_range=(0, 1),
                 method="betting", n_bets=None, planned=None):
        check_choice("method", method, tuple(_METHODS))
        population_size = check_population(population_size)
        delta = check_delta(delta)
        value_range = check_ends_for(method, value_range)
        n_bets, planned = check_plan(method, n_bets, planned, population_size)
        cdef pb_scaled bets
        cdef const double[::1] grid = grid_of(method, n_bets or 1)
        if method == "betting":
            bets = scaled_bets(population_size, planned, delta)
        self.guard.begin()
        self.population_size, self.delta, self.value_range = population_size, delta, value_range
        self.method, self.n_bets, self.planned = method, n_bets, planned
        self.low, self.high = (0.0, 1.0) if value_range is None else value_range
        self.scale = self.high - self.low
        if value_range is None:
            self.high = math.inf
        pb_confidence_init(&self.sequence, _METHODS[method], population_size, delta, &bets,
                           &grid[0], n_bets or 0, value_range is not None)
        self.guard.open()

    @property
    def n(self):
        return self._look()[0]

    @property
    def mean(self):
        return self._look()[1]

    @property
    def lower(self):
        return self._look()[2]

    @property
    def upper(self):
        return self._look()[3]

    def tell(self, values):
        """Add values and return the bounds after each of them.

        Ctrl-C ends the call between pieces of 1024 values; the sequence is then unchanged.

        Parameters
        ----------
        values : array_like of float, shape (n,), or float

        Returns
        -------
        ConfidenceBounds
            Arrays of shape (n,).

        Raises
        ------
        ValueError, TypeError
            As in `confidence_sequence`; the sequence is then unchanged.
        RuntimeError
            If another thread is in a call of this sequence.
        """
        self.guard.enter()  # check first: converting the values may run arbitrary code
        self.guard.leave()
        values = (check_values(values, self.value_range) - self.low) / self.scale
        self.guard.enter()
        try:
            return self._tell(values)
        finally:
            self.guard.leave()

    def get_state(self):
        """Return the state of the sequence as a dict of numbers and arrays."""
        with self.guard:
            return self._state()

    cdef dict _state(self):
        cdef pb_confidence *c = &self.sequence
        cdef int64_t n_bets = c.n_bets
        state = {name: getattr(self, name) for name in OPTIONS}
        state["n"] = c.count
        if self.method == "betting":  # all else follows from the values
            state["history"] = np.array(self.history[:c.count, 0])
            return state
        state["current"] = np.array([c.lower, c.upper])
        state["moments"] = np.array([c.mean, c.square])
        state["sides"] = np.array([<double[:2]>c.sum, <double[:2]>c.bound])
        state["exponents"] = (np.array([<double[:n_bets]>c.gain, <double[:n_bets]>c.clock,
                                        <double[:n_bets]>c.cost])
                              if n_bets else np.zeros((3, 0)))
        return state

    @staticmethod
    def from_state(state):
        """Return the sequence that `get_state` saved; it continues bit for bit.

        Betting adds all its values again.

        Raises
        ------
        ValueError, TypeError
            If a part is missing, outside its range, or inconsistent with the others.
        """
        method = check_method(state)
        check_mapping("state", state, (*OPTIONS, "n", *ARRAYS[method == "betting"]))
        cdef ConfidenceSequence self = ConfidenceSequence(**{name: state[name] for name in OPTIONS})
        cdef pb_confidence *c = &self.sequence
        cdef int64_t n_bets = c.n_bets
        arrays = check_sequence_state(state, self.get_state())
        if method == "betting":
            self._tell(arrays["history"])
            return self
        c.lower, c.upper = arrays["current"]
        c.mean, c.square = arrays["moments"]
        (<double[:2]>c.sum)[:], (<double[:2]>c.bound)[:] = arrays["sides"]
        gain, clock, cost = arrays["exponents"]
        if n_bets:
            (<double[:n_bets]>c.gain)[:] = gain
            (<double[:n_bets]>c.clock)[:] = clock
            (<double[:n_bets]>c.cost)[:] = cost
        c.count = arrays["n"]
        if not pb_confidence_agrees(c):
            raise ValueError("state must be that of a sequence; got bounds that do not follow from "
                             "its sums")
        return self

    def __reduce__(self):
        return ConfidenceSequence.from_state, (self.get_state(),)

    def __repr__(self):
        n, _, lower, upper = self._look()
        return (f"ConfidenceSequence(n={n}, lower={lower!r}, upper={upper!r}, "
                f"method={self.method!r}, population_size={self.population_size!r})")

    cdef tuple _look(self):
        """Return n, mean and both bounds, read together under the guard."""
        cdef pb_confidence *c = &self.sequence
        self.guard.enter()
        try:
            mean = self.low + self.scale * (c.sum[0] / c.count) if c.count else math.nan
            return c.count, mean, self._in_units(c.lower), self._in_units(c.upper)
        finally:
            self.guard.leave()

    cdef object _tell(self, double[::1] values):
        cdef int64_t n = values.shape[0], done = 0, piece
        cdef int64_t count = self.sequence.count
        check_room(count + n, self.population_size)
        lower, upper = np.empty(n), np.empty(n)
        bounds = ConfidenceBounds(lower, upper)  # made first: no Python code runs after the kernel
        cdef double[::1] lower_view = lower, upper_view = upper
        cdef pb_confidence before = self.sequence
        cdef pb_scaled_value *history = NULL
        if n == 0:
            return bounds
        if self.method == "betting":
            self._make_room(count + n)
            history = <pb_scaled_value *>&self.history[0, 0]
        try:
            while done < n:
                piece = min(PIECE, n - done)
                with nogil:
                    pb_confidence_add(&self.sequence, &values[done], piece, history,
                                      &lower_view[done], &upper_view[done])
                PyErr_CheckSignals()
                done += piece
        except BaseException:
            self.sequence = before
            raise
        for done in range(n):
            lower_view[done] = self._in_units(lower_view[done])
            upper_view[done] = self._in_units(upper_view[done])
        return bounds

    cdef int _make_room(self, int64_t needed) except -1:
        """Make room for so many values in the history; what it holds stays."""
        cdef int64_t count = self.sequence.count
        if needed > self.history.shape[0]:
            grown = np.empty((max(needed, 2 * count), HISTORY))
            grown[:count] = self.history[:count]
            self.history = grown
        return 0

    cdef double _in_units(self, double bound) noexcept nogil:
        cdef double scaled = self.low + self.scale * bound
        # high - low is rounded, so the sum may exceed the end of the range
        return scaled if scaled <= self.high else self.high
