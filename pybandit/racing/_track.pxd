"""The memory of a race, private to pybandit."""

from libc.stdint cimport int64_t, uint32_t

from pybandit._shared._csrc cimport pb_bitgen, pb_status
from pybandit._shared.guard cimport Guard
from pybandit.betting._kernels cimport LeaderRace
from pybandit.racing._csrc cimport pb_race, pb_sampler, pb_schedule, pb_subsample
from pybandit.racing._source cimport Source


cdef class Subsample:
    cdef pb_subsample stream
    cdef uint32_t *memory
    cdef Guard guard

    # As it was made, whatever is there.
    cdef void renew(self) noexcept
    # The order that later draws go on from, for pickles; None for kinds that keep no order.
    cdef object order(self)
    cdef int take_order(self, order) except -1


# One stream a population; of no use where a size is 0.
cdef class Subsamples:
    cdef pb_subsample *streams
    cdef uint32_t *memory


cdef class Plan:
    cdef readonly object schedule, bound, limits
    cdef bint pairwise
    cdef double difference_range
    cdef const int64_t[::1] rows
    cdef const double[::1] scale, slack, unit
    cdef double[::1] ranges

    cdef _take_schedule(self, int64_t n_factors)
    cdef _set_ranges(self, value_range, difference_range, int64_t n_states)
    cdef void fill(self, pb_schedule *schedule) noexcept


cdef class Track:
    cdef pb_sampler sampler
    cdef pb_race *race  # the sampler's
    cdef readonly Plan plan
    cdef Subsample subsample
    cdef Source source
    cdef LeaderRace betting
    cdef object row_labels
    cdef double *offsets

    # One race, on the offsets as they are; or on those of one draw.
    cdef pb_status run(self, pb_bitgen *bitgen) noexcept nogil
    cdef pb_status draw(self, pb_bitgen *bitgen, int64_t *state) noexcept nogil
    # In the child of a fork, where the thread that drew was left behind.
    cdef void renew(self) noexcept
    cdef raise_failure(self, pb_status status)
    cdef _last_read(self)
    cdef _raise_refused(self)
    cdef _range_message(self)


cdef Track make_track(factors, bound, delta, looks, kind, row_labels)
