"""The kernel's schedule of rejects, with memory of its own."""

import numpy as np

from libc.stdint cimport int64_t

from pybandit.betting._csrc cimport (
    pb_rejects, pb_rejects_begin, pb_rejects_block, pb_rejects_keep,
)


cdef class Rejects:
    """How deep arms are read, and how many stay; see pybandit/betting/rejects.h."""

    cdef pb_rejects rules
    cdef double[::1] _weights

    def __cinit__(self, int64_t n_arms, int64_t n_items, double tilt):
        self._weights = np.zeros(n_arms + 1)
        self.rules.n_items, self.rules.weights = n_items, &self._weights[0]
        pb_rejects_begin(&self.rules, n_arms, tilt)

    def keep(self, int64_t n_alive, int64_t places, int64_t n_read, int64_t cells):
        """How many of n_alive arms stay at this depth."""
        if not 1 <= places < n_alive < self._weights.size or n_read >= self.rules.n_items:
            return n_alive
        return pb_rejects_keep(&self.rules, n_alive, places, n_read, cells)

    def block(self, int64_t n_alive, int64_t places, int64_t n_read, int64_t cells):
        """Items before the next look."""
        if not 1 <= places < n_alive < self._weights.size:
            return 0
        return pb_rejects_block(&self.rules, n_alive, places, n_read, cells)
