"""Kernels of pybandit, called by another package on its compiled factors."""

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
    factors = pybandit.pb_factors(y.shape[0], n_states, NULL, square_loss, <void *>&y[0],
                                  <pybandit.pb_cell_type>0)
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
    """Return the rows and the scale of the normal bound, computed in C."""
    cdef pybandit.pb_schedule schedule
    cdef double[::1] memory = np.empty(
        pybandit.schedule_memory(n_factors, first_look, max_fraction) // 8)
    assert pybandit.schedule_normal(delta, pybandit.PB_ONE_SIDED, n_factors, n_states, first_look,
                                    max_fraction, &memory[0], &schedule) == pybandit.PB_OK
    n = schedule.n_looks
    return [schedule.rows[t] for t in range(n)], [schedule.scale[t] for t in range(n)]


def accept(uintptr_t test, double log_threshold, uintptr_t bits):
    """Return the status and the outcome of a test, called by its address."""
    cdef pybandit.pb_accept *accept = <pybandit.pb_accept *>test
    cdef pybandit.pb_status status
    with nogil:
        status = pybandit.accept_run(accept, log_threshold, <pybandit.pb_bitgen *>bits)
    return status, (accept.accepted != 0, accept.n_looks, accept.n_evaluations,
                    accept.exact != 0)


def made_test(const double[::1] ratios, double delta, int64_t first_look, thresholds, rng):
    """Return status, outcome and number of ratios read of tests set up in this module."""
    cdef pybandit.pb_bitgen *bitgen = <pybandit.pb_bitgen *>PyCapsule_GetPointer(
        rng.bit_generator.capsule, "BitGenerator")
    cdef pybandit.pb_factors factors = pybandit.pb_factors(ratios.shape[0], 1, &ratios[0], NULL,
                                                           NULL, <pybandit.pb_cell_type>0)
    cdef pybandit.pb_schedule schedule
    cdef pybandit.pb_accept accept
    cdef int64_t accepted, n_read
    cdef double[::1] looks = np.empty(
        pybandit.schedule_memory(ratios.shape[0], first_look, 1.0) // 8)
    cdef double[::1] memory = np.empty(
        pybandit.accept_memory(&factors, pybandit.PB_SUBSAMPLE_PERMUTATION) // 8 + 1)
    assert pybandit.schedule_normal(delta, pybandit.PB_TWO_SIDED, ratios.shape[0], 2, first_look,
                                    1.0, &looks[0], &schedule) == pybandit.PB_OK
    pybandit.accept_init(&accept, &factors, &schedule, pybandit.PB_SUBSAMPLE_PERMUTATION,
                         &memory[0])
    outcomes = []
    for threshold in thresholds:
        status = pybandit.accept_decide(&accept, threshold, bitgen, &accepted, &n_read)
        outcomes.append((status, accepted, n_read))
    return outcomes


def sums(const double[:, ::1] table, const int64_t[::1] labels, const double[::1] values,
         const double[:, ::1] parts):
    """Return the totals of factors from a table, and of quadratic ones."""
    cdef pybandit.pb_pairwise pairs = pybandit.pb_pairwise(
        table.shape[1], table.shape[0], &table[0, 0], &labels[0], NULL, NULL)
    cdef pybandit.pb_quadratic quadratic = pybandit.pb_quadratic(
        parts.shape[1], &parts[0, 0], &parts[1, 0], &parts[2, 0], 0.0, &values[0], NULL)
    cdef double[::1] work = np.empty(pybandit.pb_pairwise_memory(&pairs))
    cdef double[::1] first = np.empty(table.shape[1]), second = np.empty(parts.shape[1])
    assert pybandit.pairwise_totals(&pairs, labels.shape[0], &work[0], &first[0]) == -1
    pybandit.quadratic_totals(&quadratic, values.shape[0], &second[0])
    return np.asarray(first), np.asarray(second)


def confidence(const double[::1] values, double population, double alpha):
    """Return the lower and upper bounds of a confidence sequence by betting."""
    cdef pybandit.pb_confidence sequence
    cdef pybandit.pb_scaled bets
    cdef pybandit.pb_scaled_value history[1000]
    cdef double[::1] lower = np.empty(values.shape[0]), upper = np.empty(values.shape[0])
    assert values.shape[0] <= 1000
    pybandit.scaled_init(&bets, population, population, 0.0, alpha)
    pybandit.confidence_init(&sequence, pybandit.PB_CONFIDENCE_BETTING, population, alpha,
                             &bets, NULL, 0, True)
    pybandit.confidence_add(&sequence, &values[0], values.shape[0], history, &lower[0],
                            &upper[0])
    return np.asarray(lower), np.asarray(upper)


def pull_order(int64_t n_arms, int64_t size, int64_t repeats, int64_t n_batches):
    """Return the batches of a round robin; inline functions of headers keep their names."""
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
