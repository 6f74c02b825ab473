"""Memory of a race (private to pybandit)."""

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

    # Reset to the initial state.
    cdef void renew(self) noexcept
    # Return the order from which later draws continue, for pickles; None if the kind keeps none.
    cdef object order(self)
    cdef int take_order(self, order) except -1


# One stream per population; a population of size 0 has none.
cdef class Subsamples:
    cdef pb_subsample *streams
    cdef uint32_t *memory


cdef class RacePlan:
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
    cdef pb_race *race  # &sampler.race
    cdef readonly RacePlan plan
    cdef Subsample subsample
    cdef Source source
    cdef LeaderRace betting
    cdef object row_labels
    cdef double *offsets
    cdef double[:, ::1] tile  # for rows of a matrix that are not doubles

    # Run one race: `run` on the present offsets, `draw` on those of a new draw.
    cdef pb_status run(self, pb_bitgen *bitgen) noexcept nogil
    cdef pb_status draw(self, pb_bitgen *bitgen, int64_t *state) noexcept nogil
    # Reset in a forked child process, if a draw was under way in another thread.
    cdef void renew(self) noexcept
    cdef raise_failure(self, pb_status status)
    cdef _last_read(self)
    cdef _raise_refused(self)
    cdef _range_message(self)


cdef Track make_track(factors, bound, delta, looks, kind, row_labels)
