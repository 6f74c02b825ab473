"""The sampler of csrc for compiled code: no Python in it, and nothing to call from Python.

Cython reaches these functions by ``cimport pybandit``, numba by
``numba.extending.get_cython_function_address("pybandit.embedding", name)``.
"""

from libc.stdint cimport int64_t

from pybandit._shared._csrc cimport pb_bitgen, pb_status
from pybandit.racing._csrc cimport (
    pb_convention, pb_factors, pb_race, pb_race_begin, pb_race_run, pb_sampler, pb_sampler_draw,
    pb_sampler_init, pb_sampler_memory, pb_schedule, pb_schedule_memory, pb_schedule_normal,
    pb_subsample_kind,
)


cdef int64_t schedule_memory(int64_t n_factors, int64_t first_look,
                             double max_fraction) noexcept nogil:
    return pb_schedule_memory(n_factors, first_look, max_fraction)


cdef pb_status schedule_normal(double delta, pb_convention convention, int64_t n_factors,
                               int64_t n_states, int64_t first_look, double max_fraction,
                               void *memory, pb_schedule *schedule) noexcept nogil:
    return pb_schedule_normal(delta, convention, n_factors, n_states, first_look, max_fraction,
                              memory, schedule)


cdef int64_t sampler_memory(const pb_factors *factors, const pb_schedule *schedule,
                            pb_subsample_kind kind) noexcept nogil:
    return pb_sampler_memory(factors, schedule, kind)


cdef void sampler_init(pb_sampler *sampler, const pb_factors *factors,
                       const pb_schedule *schedule, const double *log_prior,
                       pb_subsample_kind kind, void *memory) noexcept nogil:
    pb_sampler_init(sampler, factors, schedule, log_prior, kind, memory)


cdef pb_status sampler_draw(pb_sampler *sampler, pb_bitgen *bitgen,
                            int64_t *state) noexcept nogil:
    return pb_sampler_draw(sampler, bitgen, state)


cdef void race_begin(pb_race *race, pb_bitgen *bitgen) noexcept nogil:
    pb_race_begin(race, bitgen)


cdef pb_status race_run(pb_race *race, pb_bitgen *bitgen) noexcept nogil:
    return pb_race_run(race, bitgen)
