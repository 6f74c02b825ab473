"""Wrap the C schedule of successive rejects, and run its looks on a table in memory."""

import numpy as np

cimport numpy as cnp
from libc.stdint cimport int64_t
from libc.stdlib cimport free, malloc

from pybandit.betting._csrc cimport (
    pb_rejects, pb_rejects_begin, pb_rejects_block, pb_rejects_keep,
)
from pybandit.betting._kernels cimport Books, LeaderRace

cnp.import_array()


cdef class Rejects:
    """The schedule: items to read per arm, arms to keep. See pybandit/betting/rejects.h."""

    cdef pb_rejects rules
    cdef double[::1] _weights

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


cdef struct limits:
    double low, high, most


# Copies an item's rewards for the surviving arms. Returns 0 if one of them is outside
# [low, high] or if they differ by more than `most`.
cdef bint gather(double *out, const double *cells, const int64_t *arms, int64_t n_arms,
                 const limits *within) noexcept nogil:
    cdef int64_t i
    cdef double value, least = cells[arms[0]], most = least
    cdef bint fine = True
    for i in range(n_arms):
        value = cells[arms[i]]
        fine &= within.low <= value <= within.high
        least = value if value < least else least
        most = value if value > most else most
        out[i] = value
    return fine and most - least <= within.most


def read_looks(LeaderRace race not None, Books books not None, Rejects rejects not None,
               measure, const double[:, ::1] table not None, const int64_t[::1] order,
               int64_t budget, const int64_t[::1] keys, within, advance):
    """Run a race for the single best arm on a table of rewards, as ask and tell would.

    Stops before a look that contains an invalid reward, so that `tell` can report it. When the
    first arm is eliminated, `measure` is called with the rewards of that look and returns the
    schedule for the rest of the race. It is None if `rejects` already is that schedule.
    """
    cdef limits allowed
    allowed.low, allowed.high, allowed.most = within
    allowed.most *= 1 + 1e-12
    cdef int64_t n_alive, length, kept, row, n_items = table.shape[0]
    cdef int64_t left = budget - int(books.pulls.sum())
    cdef const double **rows = <const double **>malloc(n_items * sizeof(double *))
    if rows == NULL:
        raise MemoryError
    try:
        while not race.race.decided and books.n_items < n_items:
            n_alive = race.race.n_alive
            length = rejects.block(n_alive, 1, books.n_items, left)
            kept = rejects.keep(n_alive, 1, books.n_items + length, left - length * n_alive)
            if length == 0:
                break
            arms, values = race.alive, np.empty((length, n_alive))
            for row in range(length):
                rows[row] = <double *>cnp.PyArray_DATA(values) + row * n_alive
                if not gather(<double *>rows[row], &table[order[books.n_items + row], 0],
                              race.race.arms, n_alive, &allowed):
                    return
            if kept < n_alive and measure is not None:
                rejects, measure = measure(values), None
                kept = rejects.keep(n_alive, 1, books.n_items + length, left - length * n_alive)
            race._take(books, arms, values, rows, kept, &keys[0])
            left -= length * n_alive
            advance(length * n_alive)
    finally:
        free(rows)
