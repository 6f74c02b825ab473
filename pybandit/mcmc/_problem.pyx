# cython: auto_pickle=False
"""Log posteriors for exact tests on minibatches: a quadratic part, and rows with bounds."""

import numpy as np

from cpython.exc cimport PyErr_CheckSignals
from libc.math cimport INFINITY
from libc.stdint cimport int64_t

from pybandit.mcmc._csrc cimport (
    PB_MINIBATCH_AUXILIARY, PB_MINIBATCH_FACTORISED, PB_MINIBATCH_LINE, PB_MINIBATCH_OWN,
    PB_MINIBATCH_SPACE, pb_alias, pb_alias_build, pb_glm_anchor, pb_glm_family, pb_glm_remainder,
    pb_glm_row, pb_glm_sums, pb_glm_third, pb_minibatch_form, pb_minibatch_spread,
    pb_minibatch_spread_any,
)

cdef enum:
    ROW = 4               # doubles per pb_glm_row
    COLUMN = 2            # doubles per pb_alias
    ROWS = 1 << 16        # rows read between two checks for Ctrl-C

FAMILIES = {"logistic": 0, "probit": 1, "student": 2, "poisson": 3}
FORMS = {"line": PB_MINIBATCH_LINE, "space": PB_MINIBATCH_SPACE, "own": PB_MINIBATCH_OWN}


cdef class Problem:
    """A log posterior. Immutable after `anchor`, so that threads may share it."""

    @property
    def total(self):
        """Sum of the rows' bounds; 0 before `anchor`."""
        return self.problem.total

    @property
    def rows(self):
        """Bound, third, anchor and weight of each row, for tests; shape (N, 4)."""
        return np.asarray(self.row_memory)

    @property
    def radius(self):
        """Maximum of |L^{-1} (theta - mode)|."""
        return self.problem.radius

    def decide_by(self, str test, double gamma, double most):
        """Set the test; if it expects to read more than `most` rows, chains read all of them."""
        self.problem.test = (PB_MINIBATCH_FACTORISED if test == "factorised"
                             else PB_MINIBATCH_AUXILIARY)
        self.problem.gamma, self.problem.most = gamma, most

    def _arguments(self):
        """Return the arguments of __cinit__."""
        raise NotImplementedError

    def __reduce__(self):
        problem = &self.problem
        if problem.rows == NULL:  # before `anchor`
            return type(self), self._arguments()
        anchored = tuple(map(np.array, (self.mode_memory, self.factor_memory, self.slope_memory,
                                        self.row_memory)))
        test = "factorised" if problem.test == PB_MINIBATCH_FACTORISED else "auxiliary"
        return _anchored, (type(self), self._arguments(), anchored,
                           (test, problem.gamma, problem.most))

    def _anchor_again(self, mode, factor, slope, rows):
        self._begin(mode, factor, slope)
        np.asarray(self.row_memory)[:] = rows
        self._settle()

    cdef _begin(self, double[::1] mode, double[:, ::1] factor, double[::1] slope):
        cdef int64_t n = self.problem.glm.n_rows
        self.mode_memory, self.factor_memory, self.slope_memory = mode, factor, slope
        self.row_memory, self.alias_memory = np.empty((n, ROW)), np.empty((n, COLUMN))

    cdef _settle(self):
        """Build the alias table of the rows' bounds. The object is immutable afterwards."""
        cdef int64_t n = self.problem.glm.n_rows
        cdef int64_t[::1] stacks = np.empty(n, dtype=np.int64)
        cdef pb_glm_row *rows = <pb_glm_row *>&self.row_memory[0, 0]
        cdef pb_alias *alias = <pb_alias *>&self.alias_memory[0, 0]
        with nogil:
            self.problem.total = pb_alias_build(&rows[0].bound, ROW, n, alias, &stacks[0])
        self.problem.rows, self.problem.alias = rows, alias
        self.problem.mode, self.problem.factor = &self.mode_memory[0], &self.factor_memory[0, 0]
        self.problem.slope = &self.slope_memory[0]


def _anchored(cls, given, anchored, decided):
    """Return a problem that was pickled after `anchor`."""
    problem = cls(*given)
    problem._anchor_again(*anchored)
    problem.decide_by(*decided)
    return problem


cdef class Regression(Problem):
    """Data of a regression.

    Parameters
    ----------
    x, y : ndarray of float64, shapes (N, d) and (N,)
        Validated, C-contiguous.
    trials : ndarray of float64, shape (N,), or None
    family : {"logistic", "probit", "student", "poisson"}
    df, scale : float
        Parameters of Student's t distribution.
    radius : float
        Radius of the ball to which the target is restricted; inf: unrestricted.
    """

    cdef const double[:, ::1] x
    cdef const double[::1] y, trials

    def __cinit__(self, const double[:, ::1] x, const double[::1] y, trials, str family,
                  double df, double scale, double radius=INFINITY):
        self.x, self.y = x, y
        glm = &self.problem.glm
        glm.family = <pb_glm_family><int>FAMILIES[family]
        glm.n_rows, glm.n_parameters = x.shape[0], x.shape[1]
        glm.features, glm.labels, glm.trials = &x[0, 0], &y[0], NULL
        glm.df, glm.scale, glm.radius = df, scale, radius
        self.problem.radius, self.problem.form = radius, PB_MINIBATCH_LINE
        if trials is not None:
            self.trials = trials
            glm.trials = &self.trials[0]

    def _arguments(self):
        glm = &self.problem.glm
        trials = None if glm.trials == NULL else np.asarray(self.trials)
        family = next(name for name, code in FAMILIES.items() if code == glm.family)
        return (np.asarray(self.x), np.asarray(self.y), trials, family, glm.df, glm.scale,
                self.problem.radius)

    @property
    def third(self):
        """Bound on the absolute third derivative of a trial's log likelihood."""
        return pb_glm_third(&self.problem.glm)

    @property
    def is_near(self):
        """True unless p or 1 - p of a row underflows, in a logistic regression."""
        if self.problem.glm.family != FAMILIES["logistic"]:
            return True
        return bool(np.abs(self.rows[:, 2]).min() > 1e-304)

    def sums(self, const double[::1] theta, int64_t stride=1, bint is_safe=False):
        """Return log likelihood, gradient and Hessian, summed over every stride-th row."""
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
        """Compute the bounds of all rows around a mode and their alias table. Call it once."""
        cdef int64_t n = self.problem.glm.n_rows, begin = 0
        cdef double[::1] work = np.empty(self.problem.glm.n_parameters)
        self._begin(mode, factor, slope)
        cdef pb_glm_row *rows = <pb_glm_row *>&self.row_memory[0, 0]
        while begin < n:
            with nogil:
                pb_glm_anchor(&self.problem.glm, begin, min(n, begin + ROWS), &mode[0],
                              &factor[0, 0], rows, &work[0])
            PyErr_CheckSignals()
            begin += ROWS
        self._settle()

    def remainder(self, int64_t row, double change):
        """Return r_i if x_i'theta differs by `change` from its value at the mode; for tests."""
        return pb_glm_remainder(&self.problem.glm, &self.problem.rows[row], change)


cdef class Expanded(Problem):
    """Rows whose remainders a user-defined function returns.

    Parameters
    ----------
    n_rows, n_parameters : int
    features : ndarray of float64, shape (N, d), or None
        x_i, C-contiguous, for rows that depend on x_i'theta alone.
    form : {"line", "space", "own"}
        Formula of M in |r_i(z') - r_i(z)| <= c_i M(z, z'); "line" requires features.
    radius : float
    """

    cdef const double[:, ::1] x

    def __cinit__(self, int64_t n_rows, int64_t n_parameters, features, str form, double radius):
        glm = &self.problem.glm
        glm.n_rows, glm.n_parameters, glm.features = n_rows, n_parameters, NULL
        if features is not None:
            self.x = features
            glm.features = &self.x[0, 0]
        self.problem.radius, self.problem.form = radius, <pb_minibatch_form><int>FORMS[form]

    def _arguments(self):
        glm = &self.problem.glm
        features = None if glm.features == NULL else np.asarray(self.x)
        form = next(name for name, code in FORMS.items() if code == self.problem.form)
        return glm.n_rows, glm.n_parameters, features, form, self.problem.radius

    def anchor(self, double[::1] mode, double[:, ::1] factor, double[::1] slope, bounds, third):
        """Set the bounds c_i and, for "line", third derivatives; build the table. Call it once."""
        self._begin(mode, factor, slope)
        rows = np.asarray(self.row_memory)
        rows[:] = 0.0
        rows[:, 0] = bounds
        if third is not None:
            rows[:, 1] = third
        self._settle()


def spread(const double[::1] z, const double[::1] other, bint any_form=False):
    """Return M(z, z') by pb_minibatch_spread or pb_minibatch_spread_any."""
    if any_form:
        return pb_minibatch_spread_any(&z[0], &other[0], z.shape[0])
    return pb_minibatch_spread(&z[0], &other[0], z.shape[0])
