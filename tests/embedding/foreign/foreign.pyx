"""A race of pybandit's on a foreign package's own compiled factors."""

cimport pybandit
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.stdint cimport int64_t, uintptr_t

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
    schedule = pybandit.pb_schedule(rows.shape[0], &rows[0], &scale[0], &slack[0], NULL)
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


def accept(uintptr_t test, double log_threshold, uintptr_t bits):
    """Return the status of a test through its address, and its outcome."""
    cdef pybandit.pb_accept *accept = <pybandit.pb_accept *>test
    cdef pybandit.pb_status status
    with nogil:
        status = pybandit.accept_run(accept, log_threshold, <pybandit.pb_bitgen *>bits)
    return status, (accept.accepted != 0, accept.n_looks, accept.n_evaluations,
                    accept.exact != 0)


def confidence(const double[::1] values, double population, double alpha,
               const double[::1] bets):
    """Return the lower and upper bounds of a confidence sequence by betting."""
    cdef pybandit.pb_confidence sequence
    cdef double[::1] lower = np.empty(values.shape[0]), upper = np.empty(values.shape[0])
    pybandit.confidence_init(&sequence, pybandit.PB_CONFIDENCE_BETTING, population, alpha,
                             &bets[0], bets.shape[0], True)
    pybandit.confidence_add(&sequence, &values[0], values.shape[0], &lower[0], &upper[0])
    return np.asarray(lower), np.asarray(upper)


def pull_order(int64_t n_arms, int64_t size, int64_t repeats, int64_t n_batches):
    """Return the batches of a round robin; what a header defines inline keeps its name."""
    cdef int64_t[::1] arms = np.arange(n_arms)
    cdef pybandit.pb_round_robin ring
    cdef pybandit.pb_batch batch
    ring.arms = &arms[0]
    pybandit.round_robin_begin(&ring, n_arms)
    counts = np.zeros((n_batches, n_arms), dtype=np.int64)
    for i in range(n_batches):
        batch = pybandit.round_robin_next(&ring, size, repeats)
        for arm in range(n_arms):
            counts[i, arm] = pybandit.pb_batch_count(&batch, arm)
        pybandit.round_robin_pulled(&ring, batch.n_pulls)
    return counts
