"""A race of pybandit's on a foreign package's own compiled factors."""

cimport pybandit
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.stdint cimport int64_t

import numpy as np


# log f_n(i) = -(y_n - i / 4)^2
cdef int square_loss(const int64_t *factors, int64_t n_factors, const int64_t *states,
                     int64_t n_states, double *out, void *user_data) noexcept nogil:
    cdef const double *y = <const double *>user_data
    cdef double residual
    cdef int64_t f, s
    for f in range(n_factors):
        for s in range(n_states):
            residual = y[factors[f]] - 0.25 * states[s]
            out[f * n_states + s] = -residual * residual
    return 0


def race(const double[::1] y, int64_t n_states, const int64_t[::1] rows,
         const double[::1] scale, const double[::1] slack, rng):
    """Return winner, n_looks and n_evaluations of a pairwise race on this schedule."""
    cdef pybandit.pb_bitgen *bitgen = <pybandit.pb_bitgen *>PyCapsule_GetPointer(
        rng.bit_generator.capsule, "BitGenerator")
    cdef pybandit.pb_sampler sampler
    cdef pybandit.pb_status status
    cdef pybandit.pb_factors factors
    cdef pybandit.pb_schedule schedule
    cdef int64_t i
    factors = pybandit.pb_factors(y.shape[0], n_states, NULL, square_loss, <void *>&y[0])
    schedule = pybandit.pb_schedule(rows.shape[0], &rows[0], &scale[0], &slack[0])
    cdef double[::1] memory = np.empty(pybandit.sampler_memory(
        &factors, &schedule, pybandit.PB_SUBSAMPLE_PERMUTATION) // 8 + 1)
    pybandit.sampler_init(&sampler, &factors, &schedule, NULL,
                          pybandit.PB_SUBSAMPLE_PERMUTATION, &memory[0])
    for i in range(n_states):
        sampler.offsets[i] = 0.0
    with rng.bit_generator.lock, nogil:
        pybandit.race_begin(&sampler.race, bitgen)
        status = pybandit.race_run(&sampler.race, bitgen)
    assert status == pybandit.PB_OK
    return sampler.race.winner, sampler.race.n_looks, sampler.race.n_evaluations


def normal_schedule(double delta, int64_t n_factors, int64_t n_states, int64_t first_look,
                    double max_fraction):
    """Return rows and scale of the normal bound as C makes them."""
    cdef pybandit.pb_schedule schedule
    cdef double[::1] memory = np.empty(
        pybandit.schedule_memory(n_factors, first_look, max_fraction) // 8)
    assert pybandit.schedule_normal(delta, pybandit.PB_ONE_SIDED, n_factors, n_states, first_look,
                                    max_fraction, &memory[0], &schedule) == pybandit.PB_OK
    n = schedule.n_looks
    return [schedule.rows[t] for t in range(n)], [schedule.scale[t] for t in range(n)]
