# cython: boundscheck=False, wraparound=False
"""Gibbs sampling of a line's intercept and slope, each on a grid, without the GIL.

y_n = a + b x_n + noise with standard deviation 1. Given b, a is a discrete variable with one
factor per observation, and vice versa; each update is one race.
"""

cimport pybandit
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.stdint cimport int64_t
from libc.stdlib cimport free, malloc

import numpy as np


cdef struct Line:
    const double *x
    const double *y
    const double *intercepts  # the grids
    const double *slopes
    int64_t intercept         # the current states
    int64_t slope


cdef int intercept_factors(const int64_t *factors, int64_t n_factors, const int64_t *states,
                           int64_t n_states, double *out, void *user_data) noexcept nogil:
    cdef Line *line = <Line *>user_data
    cdef double slope = line.slopes[line.slope], rest, residual
    cdef int64_t f, s
    for f in range(n_factors):
        rest = line.y[factors[f]] - slope * line.x[factors[f]]
        for s in range(n_states):
            residual = rest - line.intercepts[states[s]]
            out[f * n_states + s] = -0.5 * residual * residual
    return 0


cdef int slope_factors(const int64_t *factors, int64_t n_factors, const int64_t *states,
                       int64_t n_states, double *out, void *user_data) noexcept nogil:
    cdef Line *line = <Line *>user_data
    cdef double rest, x, residual
    cdef int64_t f, s
    for f in range(n_factors):
        x = line.x[factors[f]]
        rest = line.y[factors[f]] - line.intercepts[line.intercept]
        for s in range(n_states):
            residual = rest - line.slopes[states[s]] * x
            out[f * n_states + s] = -0.5 * residual * residual
    return 0


cdef class Variable:
    """Owns the sampler of one variable."""

    cdef pybandit.pb_sampler sampler
    cdef void *memory
    cdef void *looks

    def __dealloc__(self):
        free(self.memory)
        free(self.looks)

    cdef begin(self, pybandit.pb_factor_function function, Line *line, int64_t n_factors,
               int64_t n_states, double delta):
        cdef pybandit.pb_schedule schedule
        cdef pybandit.pb_factors factors
        factors = pybandit.pb_factors(n_factors, n_states, NULL, function, line,
                                      <pybandit.pb_cell_type>0)
        self.looks = malloc(pybandit.schedule_memory(n_factors, 50, 1.0))
        if not self.looks:
            raise MemoryError
        if pybandit.schedule_normal(delta, pybandit.PB_ONE_SIDED, n_factors, n_states, 50, 1.0,
                                    self.looks, &schedule) != pybandit.PB_OK:
            raise ValueError(f"delta must be in (0, (D - 1) / 2); got {delta}")
        self.memory = malloc(pybandit.sampler_memory(&factors, &schedule,
                                                     pybandit.PB_SUBSAMPLE_PERMUTATION))
        if not self.memory:
            raise MemoryError
        pybandit.sampler_init(&self.sampler, &factors, &schedule, NULL,
                              pybandit.PB_SUBSAMPLE_PERMUTATION, self.memory)


def sample(const double[::1] x, const double[::1] y, const double[::1] intercepts,
           const double[::1] slopes, int64_t n_sweeps, rng, double delta=0.001):
    """Return the number of visits of each (intercept, slope), and the fraction of factors read."""
    cdef pybandit.pb_bitgen *bitgen = <pybandit.pb_bitgen *>PyCapsule_GetPointer(
        rng.bit_generator.capsule, "BitGenerator")
    cdef pybandit.pb_status status = pybandit.PB_OK
    cdef Line line = Line(&x[0], &y[0], &intercepts[0], &slopes[0], 0, 0)
    cdef Variable intercept = Variable(), slope = Variable()
    intercept.begin(intercept_factors, &line, y.shape[0], intercepts.shape[0], delta)
    slope.begin(slope_factors, &line, y.shape[0], slopes.shape[0], delta)
    cdef int64_t[:, ::1] visits = np.zeros((intercepts.shape[0], slopes.shape[0]), dtype=np.int64)
    cdef int64_t _sweep, n_read = 0
    with rng.bit_generator.lock, nogil:
        for _sweep in range(n_sweeps):
            status = pybandit.sampler_draw(&intercept.sampler, bitgen, &line.intercept)
            if status != pybandit.PB_OK:
                break
            status = pybandit.sampler_draw(&slope.sampler, bitgen, &line.slope)
            if status != pybandit.PB_OK:
                break
            visits[line.intercept, line.slope] += 1
            n_read += intercept.sampler.race.n_evaluations + slope.sampler.race.n_evaluations
    if status != pybandit.PB_OK:
        raise ValueError(f"a draw failed with status {status}: observations must be finite")
    return np.asarray(visits), n_read / (
        n_sweeps * y.shape[0] * (intercepts.shape[0] + slopes.shape[0]))
