# cython: auto_pickle=False
"""Silent arms of a policy and the times of their retries; `Policy` documents the rules."""

import numpy as np

from pybandit._shared.checks import MOST_PULLS

cimport cython
from libc.math cimport exp2
from libc.stdint cimport int64_t
from libc.string cimport memset

from pybandit.policies._csrc cimport pb_batch

cdef enum:
    # default of `silent_after`
    SILENT_AFTER = 10
    # a silent arm is given up after LAST_CHANCES * silent_after lost pulls in a row
    LAST_CHANCES = 3

cdef double MOST = MOST_PULLS


@cython.final
cdef class Silence:
    """Counts of pulls lost in a row; an arm with `limit` of them is set aside until it answers."""

    def __cinit__(self, n_arms):
        self.n_arms, self.limit = n_arms, SILENT_AFTER

    cdef int make(self) except -1:
        self.lost, self.due, self.asked = np.zeros((3, self.n_arms), dtype=np.int64)
        self.aside = np.zeros(self.n_arms, dtype=np.uint8)
        self.arms = np.arange(self.n_arms)
        self.counts = True
        return 0

    cdef bint lose(self, int64_t arm, int64_t n_pulls, double first_wait) noexcept nogil:
        cdef bint falls
        cdef double times
        self.lost[arm] += 1
        falls = not self.aside[arm] and 0 < self.limit <= self.lost[arm]
        if falls:
            self.aside[arm] = True
            self.n_aside += 1
        if self.aside[arm]:
            # the waiting time doubles with each loss
            times = min(max(self.lost[arm] - self.limit, 0), 60)
            self.due[arm] = n_pulls + <int64_t>min(
                max(self.limit, 1) * first_wait * exp2(times), MOST)
        return falls

    cdef bint answer(self, int64_t arm, int64_t n_pulls, bint enough) noexcept nogil:
        cdef int64_t other
        if self.n_aside == self.n_arms:  # losses during which no arm answered do not count
            for other in range(self.n_arms):
                self.lost[other] = min(self.lost[other], self.limit)
                self.due[other] = n_pulls
        self.lost[arm], self.due[arm] = 0, n_pulls
        if not self.aside[arm] or not enough:
            return False
        self.aside[arm] = False
        self.n_aside -= 1
        return True

    cdef void plan(self, int64_t n_pulls, int64_t room, int64_t repeats, bint in_turn,
                   bint gives_up) noexcept nogil:
        """Choose one arm if `room` is 1, else pulls of all arms that may be asked, in rounds."""
        cdef int64_t arm, before = -1
        if room == 1:
            arm = self.first(n_pulls, in_turn, gives_up)
            if arm >= 0:
                self.asked[arm], self.n_asked = 1, 1
            return
        while before < self.n_asked and self.n_asked < room:
            before = self.n_asked
            for arm in range(self.n_arms):
                if (self.n_asked < room and self.asked[arm] < repeats
                        and self.may_ask(arm, n_pulls, in_turn, gives_up)):
                    self.asked[arm] += 1
                    self.n_asked += 1

    cdef bint may_ask(self, int64_t arm, int64_t n_pulls, bint in_turn,
                      bint gives_up) noexcept nogil:
        """Return True if a retry may include another pull of this arm."""
        if not self.aside[arm]:
            return False
        if gives_up:
            return self.lost[arm] + self.asked[arm] < self.most_lost()
        return in_turn or self.due[arm] <= n_pulls

    cdef int64_t first(self, int64_t n_pulls, bint in_turn, bint gives_up) noexcept nogil:
        """Return the arm due first or, if `in_turn`, with fewest losses; -1 if there is none."""
        cdef int64_t arm, found = -1
        cdef const int64_t *keys = &self.lost[0] if in_turn else &self.due[0]
        for arm in range(self.n_arms):
            if (found < 0 or keys[arm] < keys[found]) and self.may_ask(arm, n_pulls, in_turn,
                                                                       gives_up):
                found = arm
        return found

    cdef void clear(self) noexcept nogil:
        if self.n_asked:
            memset(&self.asked[0], 0, self.n_arms * sizeof(int64_t))
            self.n_asked = 0

    cdef int64_t most_lost(self) noexcept nogil:
        return LAST_CHANCES * max(self.limit, 1)

    cdef bint gave_up(self) noexcept nogil:
        cdef int64_t arm
        for arm in range(self.n_arms):
            if self.aside[arm] and self.lost[arm] < self.most_lost():
                return False
        return True

    cdef pb_batch batch(self) noexcept nogil:
        cdef pb_batch batch
        batch.arms, batch.counts, batch.first = &self.arms[0], &self.asked[0], 0
        batch.n_arms, batch.n_pulls = self.n_arms, self.n_asked
        return batch

    cdef dict get_state(self):
        """Return a dict of numbers and arrays, which are empty before the first lost pull."""
        few = np.zeros(0, dtype=np.int64)
        return {"after": self.limit, "n_counted": self.n_arms if self.counts else 0,
                "lost": np.array(self.lost) if self.counts else few,
                "due": np.array(self.due) if self.counts else few,
                "aside": np.array(self.aside, dtype=bool) if self.counts else few.astype(bool),
                "asked": np.array(self.asked) if self.counts else few}

    cdef int set_state(self, known) except -1:
        """Restore a checked state; the arrays must exist if the state has any."""
        self.limit = known["after"]
        if known["n_counted"]:
            np.asarray(self.lost)[:], np.asarray(self.due)[:] = known["lost"], known["due"]
            np.asarray(self.aside)[:], np.asarray(self.asked)[:] = known["aside"], known["asked"]
            self.n_aside, self.n_asked = known["aside"].sum(), known["asked"].sum()
        return 0
