# cython: auto_pickle=False
"""Chains with exact tests on minibatches."""

import numpy as np

from pybandit._shared.checks import read_only

from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport int64_t
from numpy.random cimport bitgen_t
from numpy.random.c_distributions cimport random_poisson

from pybandit._shared._csrc cimport PB_CALLBACK, PB_NOT_FINITE, PB_OK, pb_bitgen, pb_status
from pybandit._shared.bits cimport bitgen_of, next_normal
from pybandit.mcmc._csrc cimport (
    pb_chain, pb_chain_memory, pb_chain_place, pb_chain_step, pb_own_rows,
)
from pybandit.mcmc._move_list cimport MoveList
from pybandit.mcmc._problem cimport Problem
from pybandit.racing._source cimport Source, take_back

cdef enum:
    ROWS = 1 << 16        # maximum number of rows read between two checks for Ctrl-C
    STEPS = 1 << 14       # maximum number of steps between two checks


cdef int64_t next_poisson(void *state, double mean) noexcept nogil:
    return random_poisson(<bitgen_t *>state, mean)


cdef class UserRows:
    """User-defined rows, for one chain.

    Parameters
    ----------
    factors : Factors
        One state: log ratios between the rows of `points`, less the values of a control.
    points : ndarray of float64, shape (2, d)
        Input of the functions, written by the chain.
    slack : float
        Amount by which a difference may exceed its bound.
    spread : callable or None
        ``spread(points)`` returns M.
    """

    cdef pb_own_rows own
    cdef Source source
    cdef double[:, ::1] memory
    cdef object spread, points, error     # points: a read-only view, passed to `spread`

    def __cinit__(self, factors, points, double slack, spread=None):
        self.source = Source(factors)
        self.memory, self.points = points, read_only(points)
        self.own.factors, self.own.points = self.source.factors, &self.memory[0, 0]
        self.own.slack, self.spread = slack, spread
        self.own.spread, self.own.spread_data = _ask_spread, <void *>self

    cdef raise_error(self):
        error, self.error = self.error, None
        if error is not None:
            raise error
        self.source.raise_error()


cdef int _ask_spread(void *data, double *out) noexcept with gil:
    """Write the larger M of both directions, so that M is symmetric."""
    cdef UserRows own = <UserRows>data
    try:
        own.source.lock.release()  # the function may use the generator
        try:
            there, back = own.spread(own.points), own.spread(own.points[::-1].copy())
        finally:
            take_back(own.source.lock)
        out[0] = max(float(there), float(back))
        return 0
    except BaseException as error:
        own.error = error
        return 1


cdef class Chain:
    """One chain. Use it in one thread at a time.

    Parameters
    ----------
    problem : Problem
        A problem on which `anchor` was called.
    moves : sequence of Move
    rng : Generator
        Not shared with other chains.
    start : ndarray of float64, shape (d,)
    adapts : bool
        True if steps adapt the scales of the moves.
    own : UserRows, optional
        User-defined rows, not shared with other chains.
    """

    cdef Problem problem
    cdef UserRows own
    cdef pb_chain chain
    cdef MoveList moves
    cdef object rng, lock
    cdef pb_bitgen *bitgen
    cdef double[::1] memory

    def __cinit__(self, Problem problem not None, moves, rng, start, bint adapts=False,
                  UserRows own=None):
        cdef int64_t d = problem.problem.glm.n_parameters
        if not problem.problem.rows:
            raise ValueError("problem must have rows with bounds: call anchor first")
        self.problem, self.chain.problem = problem, &problem.problem
        self.own = own
        if own is not None:
            self.chain.own = &own.own
        self.rng, self.lock, self.bitgen = rng, rng.bit_generator.lock, bitgen_of(rng)
        self.chain.normal, self.chain.poisson = next_normal, next_poisson
        self.chain.adapts = adapts
        self.memory = np.zeros(pb_chain_memory(d))
        self.chain.z, self.chain.point = &self.memory[0], &self.memory[d]
        self.chain.next_z, self.chain.next_point = &self.memory[2 * d], &self.memory[3 * d]
        self.chain.work = &self.memory[4 * d]
        self.moves = MoveList(moves, d)
        self.chain.moves, self.chain.n_moves = self.moves.moves, self.moves.n
        self._begin_at(np.ascontiguousarray(start))

    cdef _begin_at(self, const double[::1] start):
        """Set z = L^{-1} (start - mode)."""
        cdef const double[:, ::1] factor = self.problem.factor_memory
        cdef double *z = self.chain.z
        cdef double left
        cdef int64_t i, j
        if start.shape[0] != factor.shape[0]:
            raise ValueError(f"the start must have {factor.shape[0]} values; got "
                             f"{start.shape[0]}")
        for i in range(start.shape[0]):
            left = start[i] - self.problem.problem.mode[i]
            for j in range(i):
                left -= factor[i, j] * z[j]
            z[i] = left / factor[i, i]
        pb_chain_place(&self.chain)
        if not np.linalg.norm(<double[:start.shape[0]]>z) <= self.problem.problem.radius:
            raise ValueError(f"chains must start within radius = {self.problem.problem.radius} "
                             f"of the mode, in standard deviations of the approximation; got "
                             f"{np.asarray(start)}")

    shown = ("scale",)

    @property
    def scale(self):
        """Factor by which warm-up scaled the proposal; for a mixture, an array of one per part."""
        return self.moves.scale

    @property
    def values(self):
        """Current point; float64, shape (d,)."""
        cdef int64_t d = self.problem.problem.glm.n_parameters
        return np.asarray(self.problem.mode_memory) + np.asarray(
            <double[:d]>self.chain.point)

    @property
    def counts(self):
        """Numbers of accepted steps, rows read, and tests that read all rows, since `clear`."""
        return self.chain.n_accepted, self.chain.n_evaluations, self.chain.n_exact

    def clear(self):
        self.chain.n_accepted = self.chain.n_evaluations = self.chain.n_exact = 0

    def end_warmup(self):
        self.chain.adapts = False
        self.clear()
        self.moves.end_warmup()

    def advance(self, int64_t t, int64_t until, int64_t thin, double[:, ::1] values, columns):
        """Take steps from t up to at most `until`; return the step reached, to allow Ctrl-C.

        After every `thin` steps at t >= 0, store the values and statistics: the share of proposals
        accepted, the share of rows read, the number of rows read, and the number of tests that
        read all rows.
        """
        cdef double[::1] accepted = columns[0], fraction = columns[1]
        cdef int64_t[::1] n_evaluations = columns[2], n_exact = columns[3]
        cdef int64_t d = values.shape[1], budget = ROWS, last = min(until, t + STEPS), j, row
        cdef double all_rows = <double>thin * <double>self.problem.problem.glm.n_rows
        cdef pb_status status = PB_OK
        cdef pb_chain *chain = &self.chain
        cdef const double *mode = self.problem.problem.mode
        self._hold()
        with self.lock, nogil:
            while t < last and budget > 0:
                budget += chain.n_evaluations
                status = pb_chain_step(chain, self.bitgen)
                if status != PB_OK:
                    break
                budget -= chain.n_evaluations
                t += 1
                if t > 0 and t % thin == 0:
                    row = t // thin - 1
                    for j in range(d):
                        values[row, j] = mode[j] + chain.point[j]
                    accepted[row] = chain.n_accepted / <double>thin
                    fraction[row] = chain.n_evaluations / all_rows
                    n_evaluations[row], n_exact[row] = chain.n_evaluations, chain.n_exact
                    chain.n_accepted = chain.n_evaluations = chain.n_exact = 0
        if status != PB_OK:
            self._fail(status)
        return t

    def steps(self, int64_t n):
        """Take n steps."""
        cdef int64_t t = 0, before
        cdef pb_status status = PB_OK
        while t < n:
            before = self.chain.n_evaluations
            self._hold()
            with self.lock, nogil:
                while t < n and self.chain.n_evaluations - before < ROWS:
                    status = pb_chain_step(&self.chain, self.bitgen)
                    if status != PB_OK:
                        break
                    t += 1
                    if t % STEPS == 0:
                        break
            if status != PB_OK:
                self._fail(status)
            PyErr_CheckSignals()

    cdef _hold(self):
        if self.own is not None:
            self.own.source.hold(self.lock)

    cdef _fail(self, pb_status status):
        cdef int64_t d = self.problem.problem.glm.n_parameters
        if status == PB_CALLBACK:
            self.own.raise_error()
        mode = np.asarray(self.problem.mode_memory)
        now = mode + np.asarray(<double[:d]>self.chain.point)
        then = mode + np.asarray(<double[:d]>self.chain.next_point)
        where = f"between theta = {now} and {then}"
        row, value = self.chain.bad_row, self.chain.bad_difference
        if status == PB_NOT_FINITE:
            name = f"the log ratio of row {row}" if row >= 0 else "spread"
            wanted = "finite" if row >= 0 else "finite and at least 0"
            raise ValueError(f"{name} must be {wanted}; got {value!r} {where}")
        raise ValueError(
            f"the bound of row {row} does not hold: its remainder may change by "
            f"{self.chain.bad_bound!r} and changes by {value!r} {where}; the draws so far are "
            f"not from the posterior")
