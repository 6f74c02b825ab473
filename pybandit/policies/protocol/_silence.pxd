"""Private to pybandit: silent arms of a policy, and the times of retries."""

cimport cython
from libc.stdint cimport int64_t

from pybandit.policies._csrc cimport pb_batch


@cython.final
cdef class Silence:
    cdef int64_t limit                 # `silent_after`; 0: arms never fall silent
    cdef int64_t n_arms, n_aside
    cdef bint counts                   # the arrays exist, from the first lost pull on
    cdef int64_t[::1] lost             # pulls lost in a row
    cdef int64_t[::1] due              # n_pulls from which a silent arm is asked again
    cdef unsigned char[::1] aside
    # the current retry: pulls per arm, n_asked in all
    cdef int64_t n_asked
    cdef int64_t[::1] asked, arms

    cdef inline bint has(self, int64_t arm) noexcept nogil:
        return self.n_aside > 0 and self.aside[arm]

    cdef inline bint has_all(self) noexcept nogil:
        return self.n_aside == self.n_arms

    cdef int make(self) except -1
    # Records a lost pull; returns True if the arm falls silent. `first_wait` is in pulls.
    cdef bint lose(self, int64_t arm, int64_t n_pulls, double first_wait) noexcept nogil
    # Records an answer; returns True if the arm is taken back, which requires `enough` rewards.
    cdef bint answer(self, int64_t arm, int64_t n_pulls, bint enough) noexcept nogil
    # Chooses the pulls of a retry, at most `room` in all and `repeats` per arm.
    cdef void plan(self, int64_t n_pulls, int64_t room, int64_t repeats, bint in_turn,
                   bint gives_up) noexcept nogil
    cdef bint may_ask(self, int64_t arm, int64_t n_pulls, bint in_turn,
                      bint gives_up) noexcept nogil
    cdef int64_t first(self, int64_t n_pulls, bint in_turn, bint gives_up) noexcept nogil
    cdef void clear(self) noexcept nogil
    # Returns True if every silent arm has lost enough pulls to be given up.
    cdef bint gave_up(self) noexcept nogil
    cdef int64_t most_lost(self) noexcept nogil
    cdef pb_batch batch(self) noexcept nogil
    cdef dict get_state(self)
    cdef int set_state(self, known) except -1
