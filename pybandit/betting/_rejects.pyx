"""Wrap the C schedule of successive rejects."""

import numpy as np

from libc.stdint cimport int64_t

from pybandit.betting._csrc cimport pb_rejects_begin, pb_rejects_block, pb_rejects_keep


cdef class Rejects:
    """The schedule: items to read per arm, arms to keep. See pybandit/betting/rejects.h."""

    def __cinit__(self, int64_t n_arms, int64_t n_items, int64_t k, double strength):
        self._weights = np.zeros(n_arms + 1)
        self.rules.n_items, self.rules.weights = n_items, &self._weights[0]
        pb_rejects_begin(&self.rules, n_arms, k, strength)

    cpdef int64_t keep(self, int64_t n_alive, int64_t places, int64_t n_read,
                       int64_t cells) noexcept:
        """Return how many of the n_alive arms to keep after n_read items."""
        if not 1 <= places < n_alive < self._weights.size or n_read >= self.rules.n_items:
            return n_alive
        return pb_rejects_keep(&self.rules, n_alive, places, n_read, cells)

    cpdef int64_t block(self, int64_t n_alive, int64_t places, int64_t n_read,
                        int64_t cells) noexcept:
        """Return the number of items to read before the next look."""
        if not 1 <= places < n_alive < self._weights.size:
            return 0
        return pb_rejects_block(&self.rules, n_alive, places, n_read, cells)
