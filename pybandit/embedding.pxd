"""The kernels of csrc that a sampler of one's own calls: resolved at import, nothing to link.

Contracts: pybandit/race.h, sampler.h and schedule.h, under the same names with pb_ before them.
"""

from libc.stdint cimport int64_t

from pybandit._shared._csrc cimport pb_bitgen, pb_status
from pybandit.racing._csrc cimport (
    pb_convention, pb_factors, pb_race, pb_sampler, pb_schedule, pb_subsample_kind,
)

cdef int64_t schedule_memory(int64_t n_factors, int64_t first_look,
                             double max_fraction) noexcept nogil
cdef pb_status schedule_normal(double delta, pb_convention convention, int64_t n_factors,
                               int64_t n_states, int64_t first_look, double max_fraction,
                               void *memory, pb_schedule *schedule) noexcept nogil

cdef int64_t sampler_memory(const pb_factors *factors, const pb_schedule *schedule,
                            pb_subsample_kind kind) noexcept nogil
cdef void sampler_init(pb_sampler *sampler, const pb_factors *factors,
                       const pb_schedule *schedule, const double *log_prior,
                       pb_subsample_kind kind, void *memory) noexcept nogil
cdef pb_status sampler_draw(pb_sampler *sampler, pb_bitgen *bitgen,
                            int64_t *state) noexcept nogil

cdef void race_begin(pb_race *race, pb_bitgen *bitgen) noexcept nogil
cdef pb_status race_run(pb_race *race, pb_bitgen *bitgen) noexcept nogil
