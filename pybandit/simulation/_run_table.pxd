"""Results of runs, and scores of answers, for the engine."""

from libc.stdint cimport int64_t


# The means of an environment, and the definition of a right answer.
cdef class Truth:
    cdef readonly int64_t n_arms
    cdef readonly object environment
    cdef double[::1] means, gaps, sorted
    cdef unsigned char[::1] right
    cdef int kind
    cdef double threshold, epsilon
    cdef bint is_known                    # no mean is NaN

    cdef double _best(self, int64_t k) noexcept nogil


cdef struct score:
    bint error
    double regret, lost
    int64_t leader


cdef class RunTable:
    cdef readonly int64_t n_runs, n_arms
    cdef readonly object checkpoints
    cdef const int64_t[::1] marks
    # one value per run; or per run and checkpoint
    cdef unsigned char[::1] errors, stopped
    cdef double[::1] regrets, lost
    cdef int64_t[::1] pulls, batches, totals
    cdef int64_t[:, ::1] arm_pulls        # no rows if not requested
    cdef unsigned char[:, ::1] mark_errors
    cdef double[:, ::1] mark_regrets, mark_lost
    cdef int64_t[:, ::1] mark_leaders

    cdef void _mark(self, int64_t i, int64_t j, score found) noexcept nogil
    cdef int _enter(self, int64_t i, score found, const int64_t *pulls, int64_t n_batches,
                    bint stopped) except -1


cdef score scored(Truth truth, const int64_t *chosen, int64_t n_chosen, int64_t k,
                  const int64_t *pulls, unsigned char *marks) noexcept nogil
