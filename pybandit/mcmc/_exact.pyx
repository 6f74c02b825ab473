# cython: auto_pickle=False
"""Regressions ready for exact tests on minibatches, and the chains that walk on them."""

import numpy as np

from cpython.exc cimport PyErr_CheckSignals
from libc.math cimport fmin
from libc.stdint cimport int64_t
from numpy.random cimport bitgen_t
from numpy.random.c_distributions cimport random_poisson, random_standard_normal

from pybandit._shared._csrc cimport PB_OK, pb_bitgen, pb_status
from pybandit._shared.bits cimport bitgen_of
from pybandit.mcmc._csrc cimport (
    PB_MINIBATCH_AUXILIARY, PB_MINIBATCH_FACTORISED, PB_MOVE_AUTOREGRESSIVE, PB_MOVE_WALK,
    pb_alias, pb_alias_build, pb_chain, pb_chain_memory, pb_chain_place, pb_chain_step,
    pb_glm_anchor, pb_glm_family, pb_glm_remainder, pb_glm_row, pb_glm_sums, pb_glm_third,
    pb_minibatch, pb_minibatch_spread, pb_move,
)

cdef enum:
    ROW = 4               # doubles of a pb_glm_row
    COLUMN = 2            # and of a pb_alias
    ROWS = 1 << 16        # that are read between two looks for Ctrl-C
    STEPS = 1 << 14       # and steps

FAMILIES = {"logistic": 0, "probit": 1, "student": 2}


cdef double next_normal(void *state) noexcept nogil:
    return random_standard_normal(<bitgen_t *>state)


cdef int64_t next_poisson(void *state, double mean) noexcept nogil:
    return random_poisson(<bitgen_t *>state, mean)


cdef class Regression:
    """Data of one family; read only once `anchor` has run, so that threads share it.

    Parameters
    ----------
    x, y : ndarray of float64, shapes (N, d) and (N,)
        Checked, C-contiguous.
    trials : ndarray of float64, shape (N,), or None
    family : {"logistic", "probit", "student"}
    df, scale : float
        Of Student's law.
    """

    cdef pb_minibatch problem
    cdef const double[:, ::1] x
    cdef const double[::1] y, trials
    cdef double[:, ::1] row_memory, alias_memory, factor_memory
    cdef double[::1] mode_memory, slope_memory

    def __cinit__(self, const double[:, ::1] x, const double[::1] y, trials, str family,
                  double df, double scale):
        self.x, self.y = x, y
        glm = &self.problem.glm
        glm.family = <pb_glm_family><int>FAMILIES[family]
        glm.n_rows, glm.n_parameters = x.shape[0], x.shape[1]
        glm.features, glm.labels, glm.trials = &x[0, 0], &y[0], NULL
        glm.df, glm.scale = df, scale
        if trials is not None:
            self.trials = trials
            glm.trials = &self.trials[0]

    @property
    def third(self):
        """The most that the third derivative of a trial's log likelihood is in size."""
        return pb_glm_third(&self.problem.glm)

    @property
    def total(self):
        """The sum of the rows' bounds; 0 before `anchor`."""
        return self.problem.total

    @property
    def is_near(self):
        """Whether p and 1 - p of all rows are doubles, of a logistic regression."""
        if self.problem.glm.family != FAMILIES["logistic"]:
            return True
        return bool(np.abs(self.rows[:, 2]).min() > 1e-304)

    @property
    def rows(self):
        """bound, third, anchor and weight of each row, for tests; shape (N, 4)."""
        return np.asarray(self.row_memory)

    def sums(self, const double[::1] theta, int64_t stride=1, bint is_safe=False):
        """Log likelihood, gradient and Hessian of every stride-th row; see pb_glm_sums."""
        cdef int64_t n = self.problem.glm.n_rows, d = self.problem.glm.n_parameters
        cdef int64_t begin = 0, end
        cdef double value = 0.0
        cdef double[::1] gradient = np.zeros(d)
        cdef double[:, ::1] hessian = np.zeros((d, d))
        while begin < n:
            end = min(n, begin + ROWS * stride)
            with nogil:
                pb_glm_sums(&self.problem.glm, begin, end, stride, is_safe, &theta[0], &value,
                            &gradient[0], &hessian[0, 0])
            PyErr_CheckSignals()
            begin += ROWS * stride
        lower = np.asarray(hessian)
        return value, np.asarray(gradient), lower + np.tril(lower, -1).T

    def anchor(self, double[::1] mode, double[:, ::1] factor, double[::1] slope):
        """Bounds of all rows around a mode, and their alias table; once."""
        cdef int64_t n = self.problem.glm.n_rows, d = self.problem.glm.n_parameters
        cdef int64_t begin = 0
        cdef double[::1] work = np.empty(d)
        cdef int64_t[::1] stacks
        self.mode_memory, self.factor_memory, self.slope_memory = mode, factor, slope
        self.row_memory, self.alias_memory = np.empty((n, ROW)), np.empty((n, COLUMN))
        cdef pb_glm_row *rows = <pb_glm_row *>&self.row_memory[0, 0]
        while begin < n:
            with nogil:
                pb_glm_anchor(&self.problem.glm, begin, min(n, begin + ROWS), &mode[0],
                              &factor[0, 0], rows, &work[0])
            PyErr_CheckSignals()
            begin += ROWS
        stacks = np.empty(n, dtype=np.int64)
        cdef pb_alias *alias = <pb_alias *>&self.alias_memory[0, 0]
        with nogil:
            self.problem.total = pb_alias_build(&rows[0].bound, ROW, n, alias, &stacks[0])
        self.problem.rows, self.problem.alias = rows, alias
        self.problem.mode, self.problem.factor = &mode[0], &factor[0, 0]
        self.problem.slope = &slope[0]

    def decide_by(self, str test, double gamma, double most):
        """Which test chains take, and how many rows it may expect to read before it reads all."""
        self.problem.test = (PB_MINIBATCH_FACTORISED if test == "factorised"
                             else PB_MINIBATCH_AUXILIARY)
        self.problem.gamma, self.problem.most = gamma, most

    def remainder(self, int64_t row, double change):
        """r_i at this change of x_i'theta from the mode, for tests."""
        return pb_glm_remainder(&self.problem.glm, &self.problem.rows[row], change)


def spread(const double[::1] z, const double[::1] other):
    """M(z, z') of pb_minibatch_spread, for tests."""
    return pb_minibatch_spread(&z[0], &other[0], z.shape[0])


cdef class Chain:
    """Where one chain is; used by one thread at a time.

    Parameters
    ----------
    regression : Regression
        Anchored.
    moves : sequence of Move
    rng : Generator
        Its own.
    start : ndarray of float64, shape (d,)
    adapts : bool
    """

    cdef Regression regression
    cdef pb_chain chain
    cdef object rng, lock, kept
    cdef pb_bitgen *bitgen
    cdef double[::1] memory
    cdef const char[::1] move_memory
    cdef double[::1] first_scales

    def __cinit__(self, Regression regression not None, moves, rng, start, bint adapts=False):
        cdef int64_t d = regression.problem.glm.n_parameters
        if not regression.problem.rows:
            raise ValueError("regression must be anchored")
        self.regression, self.chain.problem = regression, &regression.problem
        self.rng, self.lock, self.bitgen = rng, rng.bit_generator.lock, bitgen_of(rng)
        self.chain.normal, self.chain.poisson = next_normal, next_poisson
        self.chain.adapts = adapts
        self.memory = np.zeros(pb_chain_memory(d))
        self.chain.z, self.chain.point = &self.memory[0], &self.memory[d]
        self.chain.next_z, self.chain.next_point = &self.memory[2 * d], &self.memory[3 * d]
        self.chain.work = &self.memory[4 * d]
        self._take(tuple(moves))
        self._begin_at(np.ascontiguousarray(start))

    cdef _begin_at(self, const double[::1] start):
        """z = L^{-1} (start - mode)."""
        cdef const double[:, ::1] factor = self.regression.factor_memory
        cdef double *z = self.chain.z
        cdef double left
        cdef int64_t i, j
        for i in range(start.shape[0]):
            left = start[i] - self.regression.problem.mode[i]
            for j in range(i):
                left -= factor[i, j] * z[j]
            z[i] = left / factor[i, i]
        pb_chain_place(&self.chain)

    cdef _take(self, tuple moves):
        cdef const double[:, ::1] factor
        cdef const double[::1] center
        cdef pb_move *to
        self.kept = moves  # their arrays are read
        self.move_memory = np.zeros(len(moves) * sizeof(pb_move), dtype=np.int8)
        self.chain.moves, self.chain.n_moves = <pb_move *>&self.move_memory[0], len(moves)
        self.first_scales = np.array([move.scale for move in moves])
        for i, move in enumerate(moves):
            to = self.chain.moves + <int64_t>i
            to.kind = PB_MOVE_WALK if move.is_walk else PB_MOVE_AUTOREGRESSIVE
            to.below, to.target, to.scale = move.below, move.target, move.scale
            if move.factor is not None:
                factor = move.factor
                to.factor = &factor[0, 0]
            if move.center is not None:
                center = move.center
                to.center = &center[0]

    shown = ("scale",)

    @property
    def scale(self):
        """What warm-up multiplied the proposal's length by; of a mixture one a part."""
        scales = np.array([self.chain.moves[i].scale for i in range(self.chain.n_moves)])
        scales /= self.first_scales
        return scales if scales.size > 1 else float(scales[0])

    @property
    def values(self):
        """Where it is; float64, shape (d,)."""
        cdef int64_t d = self.regression.problem.glm.n_parameters
        return np.asarray(self.regression.mode_memory) + np.asarray(
            <double[:d]>self.chain.point)

    @property
    def counts(self):
        """Steps accepted, rows read and tests that read all, since `clear`."""
        return self.chain.n_accepted, self.chain.n_evaluations, self.chain.n_exact

    def clear(self):
        self.chain.n_accepted = self.chain.n_evaluations = self.chain.n_exact = 0

    def end_warmup(self):
        cdef int64_t i
        self.chain.adapts = False
        self.clear()
        for i in range(self.chain.n_moves):
            if self.chain.moves[i].kind == PB_MOVE_AUTOREGRESSIVE:
                self.chain.moves[i].scale = fmin(1.0, self.chain.moves[i].scale)

    def advance(self, int64_t t, int64_t until, int64_t thin, double[:, ::1] values, columns):
        """Steps t to at most until - 1; returns how far it came, for looks at Ctrl-C.

        Of every thin-th one at t >= 0 the values and statistics are kept: shares accepted and
        read, rows read, tests that read all.
        """
        cdef double[::1] accepted = columns[0], fraction = columns[1]
        cdef int64_t[::1] n_evaluations = columns[2], n_exact = columns[3]
        cdef int64_t d = values.shape[1], budget = ROWS, last = min(until, t + STEPS), j, row
        cdef double all_rows = <double>thin * <double>self.regression.problem.glm.n_rows
        cdef pb_status status = PB_OK
        cdef pb_chain *chain = &self.chain
        cdef const double *mode = self.regression.problem.mode
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
            self._fail()
        return t

    def steps(self, int64_t n):
        """Take n steps."""
        cdef int64_t t = 0, before
        cdef pb_status status = PB_OK
        while t < n:
            before = self.chain.n_evaluations
            with self.lock, nogil:
                while t < n and self.chain.n_evaluations - before < ROWS:
                    status = pb_chain_step(&self.chain, self.bitgen)
                    if status != PB_OK:
                        break
                    t += 1
                    if t % STEPS == 0:
                        break
            if status != PB_OK:
                self._fail()
            PyErr_CheckSignals()

    cdef _fail(self):
        cdef int64_t d = self.regression.problem.glm.n_parameters
        mode = np.asarray(self.regression.mode_memory)
        now = mode + np.asarray(<double[:d]>self.chain.point)
        then = mode + np.asarray(<double[:d]>self.chain.next_point)
        raise ValueError(
            f"the bound of row {self.chain.bad_row} does not hold: its remainder may differ by "
            f"{self.chain.bad_bound!r} and differs by {self.chain.bad_difference!r} between "
            f"theta = {now} and {then}; draws made so far are not of the posterior")
