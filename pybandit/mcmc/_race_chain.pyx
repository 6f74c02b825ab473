# cython: auto_pickle=False
"""Chains of racing tests with a compiled loop, for built-in proposals and controls."""

import math

import numpy as np

from pybandit._shared.checks import read_only, shown
from pybandit.racing._linear_control import viewed

from cpython.exc cimport PyErr_CheckSignals
from libc.math cimport INFINITY
from libc.stdint cimport int64_t, uintptr_t
from numpy.random cimport bitgen_t
from numpy.random.c_distributions cimport random_standard_exponential

from pybandit._shared._csrc cimport PB_OK, pb_bitgen, pb_status
from pybandit._shared.bits cimport bitgen_of, next_normal
from pybandit.mcmc._csrc cimport (
    pb_race_chain, pb_race_chain_begin, pb_race_chain_step,
)
from pybandit.mcmc._move_list cimport MoveList
from pybandit.racing._csrc cimport pb_accept
from pybandit.racing._source cimport take_back

cdef enum:
    ROWS = 1 << 14        # maximum number of rows read between two checks for Ctrl-C
    STEPS = 1 << 10       # maximum number of steps: Python functions may be slow


cdef double next_exponential(void *state) noexcept nogil:
    return random_standard_exponential(<bitgen_t *>state)


cdef class RaceChain:
    """One chain. Use it in one thread at a time.

    Parameters
    ----------
    test : AcceptanceTest
        Not shared with other chains; its log ratios read `points`.
    points : ndarray of float64, shape (2, d)
        The starting point, twice.
    moves : sequence of Move
        Moves of theta.
    rng : Generator
        Not shared with other chains.
    log_prior : callable or None
    precision : ndarray of float64, shape (d, d), or None
    control : object with center, gradient and hessian, or None
    ranges : Ranges or None
        If given, sets the range of the betting bound in each decision.
    adapts : bool
        True if steps adapt the scales of the moves.
    """

    cdef pb_race_chain chain
    cdef readonly object test
    cdef MoveList moves
    cdef object rng, lock, log_prior, error
    cdef pb_bitgen *bitgen
    cdef double[:, ::1] points
    cdef tuple shown_points       # read-only views of its rows, passed to the prior
    cdef double[::1] memory
    cdef const double[::1] center, gradient
    cdef const double[:, ::1] precision, hessian, inverse

    def __cinit__(self, test not None, double[:, ::1] points not None, moves, rng, log_prior,
                  precision, control, ranges, bint adapts):
        cdef int64_t d = points.shape[1]
        self.points, self.rng, self.lock = points, rng, rng.bit_generator.lock
        self.shown_points = tuple(read_only(np.asarray(points)))
        self.bitgen, self.chain.n_parameters = bitgen_of(rng), d
        self.chain.adapts = adapts
        self.chain.normal, self.chain.exponential = next_normal, next_exponential
        self.memory = np.zeros(5 * d)
        self.chain.points, self.chain.work = &self.points[0, 0], &self.memory[0]
        self.chain.start, self.chain.farthest = &self.memory[3 * d], NULL
        self.take_test(test)
        self.moves = MoveList(moves, d)
        self.chain.moves, self.chain.n_moves = self.moves.moves, self.moves.n
        self._take_prior(log_prior, precision)
        if control is not None:
            self._take_control(control, ranges)
        self._begin()

    def take_test(self, test):
        """Use this test from now on."""
        self.test = test
        self.chain.test = <pb_accept *><uintptr_t>test.address

    cdef _take_prior(self, log_prior, precision):
        cdef int64_t d = self.chain.n_parameters
        self.log_prior = log_prior
        if log_prior is not None:
            self.chain.log_prior, self.chain.prior_data = _ask_prior, <void *>self
        if precision is not None:
            self.precision = viewed("precision", precision, d, d)
            self.chain.precision = &self.precision[0, 0]

    cdef _take_control(self, control, ranges):
        cdef int64_t d = self.chain.n_parameters
        self.center = viewed("center", control.center, d)
        self.gradient = viewed("gradient", control.gradient, d)
        self.hessian = viewed("hessian", control.hessian, d, d)
        self.chain.center, self.chain.gradient = &self.center[0], &self.gradient[0]
        self.chain.hessian = &self.hessian[0, 0]
        self.chain.farthest = self.chain.start + d
        if ranges is None:
            return
        self.inverse, self.chain.is_line = viewed("inverse", ranges.inverse, d, d), ranges.is_line
        self.chain.inverse = &self.inverse[0, 0]
        self.chain.largest, self.chain.slack = ranges.largest, ranges.slack

    cdef _begin(self):
        cdef int64_t i, d = self.chain.n_parameters
        cdef pb_status status
        for i in range(d):
            self.memory[3 * d + i] = self.memory[4 * d + i] = self.points[0, i]
        with self.lock:
            status = pb_race_chain_begin(&self.chain)
        if status != PB_OK:
            self._fail()
        if not self.chain.log_density > -INFINITY:
            raise ValueError(f"initial, or the value of a step, must have a finite log prior; got "
                             f"{self.chain.log_density} at {self.values}")

    shown = ("scale",)

    @property
    def scale(self):
        """Factor by which warm-up scaled the proposal; for a mixture, an array of one per part."""
        return self.moves.scale

    @property
    def values(self):
        """Current point; float64, shape (d,)."""
        return np.array(self.points[0])

    @property
    def travel(self):
        """Starting point, and the point of warm-up farthest from it."""
        cdef int64_t d = self.chain.n_parameters
        return np.array(self.memory[3 * d:4 * d]), np.array(self.memory[4 * d:5 * d])

    @property
    def counts(self):
        """Numbers of steps, accepted steps, looks, rows read, tests of all rows, since `clear`."""
        chain = &self.chain
        return (chain.n_steps, chain.n_accepted, chain.n_looks, chain.n_evaluations,
                chain.n_exact)

    def clear(self):
        self.chain.n_steps = self.chain.n_accepted = self.chain.n_looks = 0
        self.chain.n_evaluations = self.chain.n_exact = 0

    def end_warmup(self):
        """End adaptation of the scales and recording of `travel`."""
        self.chain.adapts, self.chain.farthest = False, NULL
        self.clear()
        self.moves.end_warmup()

    def advance(self, int64_t t, int64_t until, int64_t thin, double[:, ::1] values, columns):
        """Take steps from t up to at most `until`; return the step reached, to allow Ctrl-C.

        After every `thin` steps at t >= 0, store the values and statistics: the share of proposals
        accepted, the share of rows read, and the numbers of looks, of rows read, and of tests that
        read all rows.
        """
        cdef double[::1] accepted = columns[0], fraction = columns[1]
        cdef int64_t[::1] n_looks = columns[2], n_evaluations = columns[3], n_exact = columns[4]
        cdef int64_t d = values.shape[1], last = min(until, t + STEPS), budget = ROWS, j, row
        cdef double all_rows = <double>thin * <double>self.chain.test.factors.n_factors
        cdef pb_status status = PB_OK
        cdef int is_test = 0
        cdef pb_race_chain *chain = &self.chain
        self.test._hold(self.lock)
        with self.lock, nogil:
            while t < last and budget > 0:
                budget += chain.n_evaluations
                status = pb_race_chain_step(chain, self.bitgen, &is_test)
                if status != PB_OK:
                    break
                budget -= chain.n_evaluations
                t += 1
                if t > 0 and t % thin == 0:
                    row = t // thin - 1
                    for j in range(d):
                        values[row, j] = chain.points[j]
                    accepted[row] = chain.n_accepted / <double>thin
                    fraction[row] = chain.n_evaluations / all_rows
                    n_looks[row], n_evaluations[row] = chain.n_looks, chain.n_evaluations
                    n_exact[row] = chain.n_exact
                    chain.n_accepted = chain.n_looks = chain.n_evaluations = chain.n_exact = 0
        if status != PB_OK:
            if is_test:
                self.test.raise_status(<int>status)
            self._fail()
        return t

    def steps(self, int64_t n):
        """Take n steps."""
        cdef int64_t _t
        cdef pb_status status = PB_OK
        cdef int is_test = 0
        self.test._hold(self.lock)
        for _t in range(n):
            with self.lock, nogil:
                status = pb_race_chain_step(&self.chain, self.bitgen, &is_test)
            if status != PB_OK:
                if is_test:
                    self.test.raise_status(<int>status)
                self._fail()
            PyErr_CheckSignals()

    cdef _fail(self):
        error, self.error = self.error, None
        raise error


def set_range(test, double most):
    """Set the range of log ratios to (-most, most) for the next bets of a test."""
    cdef pb_accept *accept = <pb_accept *><uintptr_t>test.address
    accept.betting.items.high, accept.betting.items.low = most, -most


cdef int _ask_prior(const double *theta, void *data, double *out) noexcept with gil:
    """Write the user-defined log prior at one of the chain's two points."""
    cdef RaceChain self = <RaceChain>data
    try:
        point = self.shown_points[0 if theta == self.chain.points else 1]
        self.lock.release()  # the function may use the generator
        try:
            value = self.log_prior(point)
        finally:
            take_back(self.lock)
        out[0] = checked_prior(value, point)
        return 0
    except BaseException as error:
        self.error = error
        return 1


def checked_prior(value, point):
    """Return a log prior as a float; raise unless it is a number below +inf."""
    try:
        number = float(value)
    except Exception:
        raise TypeError(f"log_prior must return a number; got {shown(value)}") from None
    if not number < math.inf:
        raise ValueError(f"log_prior must be below +inf and not NaN; got {number} at {point}")
    return number
