"""A race of pybandit's on a foreign package's own compiled factors."""

from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.stdint cimport int64_t, uint32_t

import numpy as np

from pybandit._csrc cimport (
    PB_OK, PB_SUBSAMPLE_PERMUTATION, pb_bitgen, pb_factors, pb_race, pb_status, pb_subsample,
)
from pybandit.racing cimport run_race


cdef extern from *:
    """
    #include "pybandit/subsample.h"
    static void hold(pb_subsample *s, uint32_t *permutation) { s->memory = permutation; }
    """
    void hold(pb_subsample *subsample, uint32_t *permutation) noexcept nogil


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
    cdef int64_t n = y.shape[0]
    cdef uint32_t[::1] permutation = np.arange(n, dtype=np.uint32)
    # more is never needed: run_race returns PB_OK at once
    cdef int64_t[::1] indices = np.empty(2 * n, dtype=np.int64)
    cdef int64_t[:, ::1] states = np.empty((2, n_states), dtype=np.int64)
    cdef double[::1] rewards = np.empty(2 * n * n_states)
    cdef double[::1] moments = np.empty(6 * n_states), offsets = np.zeros(n_states)
    cdef pb_subsample subsample
    cdef pb_race race
    cdef pb_status status
    cdef pb_bitgen *bitgen = <pb_bitgen *>PyCapsule_GetPointer(rng.bit_generator.capsule,
                                                               "BitGenerator")
    subsample.kind, subsample.size, subsample.run = PB_SUBSAMPLE_PERMUTATION, n, 1
    hold(&subsample, &permutation[0])
    race.factors = pb_factors(n, n_states, NULL, square_loss, <void *>&y[0])
    race.schedule.n_looks, race.schedule.rows = rows.shape[0], &rows[0]
    race.schedule.scale, race.schedule.slack = &scale[0], &slack[0]
    race.subsample, race.offsets = &subsample, &offsets[0]
    race.pairwise, race.ranges, race.difference_range = True, NULL, 0.0
    race.betting = NULL
    race.states, race.kept, race.moments_memory = &states[0, 0], &states[1, 0], &moments[0]
    race.indices, race.indices_capacity = &indices[0], indices.shape[0]
    race.rewards, race.rewards_capacity = &rewards[0], rewards.shape[0]
    with rng.bit_generator.lock, nogil:
        status = run_race(&race, bitgen)
    assert status == PB_OK
    return race.winner, race.n_looks, race.n_evaluations
