"""Draw the order of a race's items, and read a table in memory without Python between the looks."""

import numpy as np

cimport numpy as cnp
from libc.stdint cimport int64_t, uint64_t
from libc.stdlib cimport free, malloc

from pybandit._shared._csrc cimport (
    PB_FLOAT32, PB_FLOAT64, PB_INT8, PB_INT32, PB_INT64, PB_UINT8, pb_bitgen, pb_bitgen_permutation,
)
from pybandit._shared.bits cimport bitgen_of
from pybandit.betting._csrc cimport (
    pb_order, pb_order_draw, pb_order_seed, pb_table, pb_table_gather,
)
from pybandit.betting._kernels cimport Books, LeaderRace, Race
from pybandit.betting._rejects cimport Rejects

cnp.import_array()

CELLS = {np.dtype(name): kind for name, kind in {
    "float64": PB_FLOAT64, "float32": PB_FLOAT32, "bool": PB_UINT8, "uint8": PB_UINT8,
    "int8": PB_INT8, "int32": PB_INT32, "int64": PB_INT64}.items()}


def permutation(rng, int64_t n):
    """Return ``rng.permutation(n)``, the same numbers in a third of the time; 0 < n < 2**32."""
    order = np.empty(n, dtype=np.int64)
    cdef int64_t[::1] out = order
    cdef pb_bitgen *bitgen = bitgen_of(rng)
    with rng.bit_generator.lock, nogil:
        pb_bitgen_permutation(bitgen, n, &out[0])
    return order


cdef class DrawnOrder:
    """The items 0 to n - 1 in random order, drawn as far as they are read; 0 < n < 2**32.

    It has the array methods that races need. A Generator, `rng`, gives three words to seed a
    private one, so the order does not depend on when it is drawn. An order that is known
    completely can be given too.
    """

    cdef readonly int64_t size
    cdef object taken, array, inverse
    cdef pb_order order

    def __cinit__(self, rng, int64_t n, known=None):
        self.size = n
        self.order.n_items = n
        self.array = (np.empty(n, dtype=np.int64) if known is None
                      else np.ascontiguousarray(known, dtype=np.int64))
        self.order.items = <int64_t *>cnp.PyArray_DATA(self.array)
        if known is not None:
            self.order.n_drawn = n
            return
        self.taken = np.zeros((n + 63) // 64, dtype=np.uint64)
        self.order.taken = <uint64_t *>cnp.PyArray_DATA(self.taken)
        cdef pb_bitgen *bitgen = bitgen_of(rng)
        with rng.bit_generator.lock:
            pb_order_seed(&self.order, bitgen)

    cdef const int64_t *until(self, int64_t n) noexcept nogil:
        """Draw at least n items; return the first."""
        if n > self.order.n_drawn:
            pb_order_draw(&self.order, n)
        return self.order.items

    def __len__(self):
        return self.size

    def __getitem__(self, places):
        if isinstance(places, slice):
            start, stop, step = places.indices(self.size)
            self.until(stop if step > 0 else start + 1)
            return self.array[places].copy()
        at = np.asarray(places)
        self.until(min(at.max() + 1, self.size) if at.size and at.min() >= 0 else self.size)
        return self.array[places]

    def places(self, items):
        """Return the places of items in the order."""
        if self.inverse is None:
            self.until(self.size)
            inverse = np.empty(self.size, dtype=np.int64)
            inverse[self.array] = np.arange(self.size)
            self.inverse = inverse
        return self.inverse[items]

    def __array__(self, dtype=None, copy=None):
        return self.copy().astype(np.int64 if dtype is None else dtype, copy=False)

    def copy(self):
        """Return all items as an array."""
        return self[:]


cdef class Table:
    """A table of rewards (items, arms) in memory, and the limits of valid rewards.

    `values` is an aligned array of one of the types in `CELLS`, with any strides. After every
    `most` rows or more `give_back` is called, unless `most` is None.
    """

    cdef object values, give_back
    cdef pb_table table
    cdef int64_t most, n_since

    def __cinit__(self, values not None, limits, most=None, give_back=None):
        if values.ndim != 2 or values.dtype not in CELLS or not values.flags.aligned:
            raise TypeError(f"values must be an aligned table of numbers; got {values.dtype}")
        self.values = values
        self.table.cells = <const char *>cnp.PyArray_DATA(values)
        self.table.item_stride, self.table.arm_stride = values.strides
        self.table.type = CELLS[values.dtype]
        self.table.low, self.table.high, self.table.most = limits
        self.table.most *= 1 + 1e-12
        self.most, self.give_back = most or 0, give_back

    cdef object read(self, const int64_t *items, int64_t n_items, const int64_t *arms,
                     int64_t n_arms, const double **rows):
        """Return the rewards (items, arms), or None if one is invalid; writes their rows."""
        cdef int64_t row, n_read, n, done = 0
        values = np.empty((n_items, n_arms))
        cdef double *out = <double *>cnp.PyArray_DATA(values)
        for row in range(n_items):
            rows[row] = out + row * n_arms
        while done < n_items:
            n = min(n_items - done, self.most) if self.most else n_items
            with nogil:
                n_read = pb_table_gather(&self.table, items + done, n, arms, n_arms,
                                         out + done * n_arms)
            if n_read < n:
                return None
            done += n
            self.n_since += n
            if self.most and self.n_since >= self.most:
                self.n_since = 0
                self.give_back(self.values)
        return values


cdef const int64_t *arms_of(arms):
    return <const int64_t *>cnp.PyArray_DATA(arms)


def read_looks(LeaderRace race not None, Books books not None, Rejects rejects not None,
               measure, Table table not None, DrawnOrder order not None, int64_t budget,
               const int64_t[::1] keys, advance):
    """Run a race for the single best arm within a budget, as ask and tell would.

    Stops before a look that contains an invalid reward, so that `tell` can report it. When the
    first arm is eliminated, `measure` is called with the rewards of that look and returns the
    schedule for the rest of the race. It is None if `rejects` already is that schedule.
    """
    cdef int64_t n_alive, length, kept, n_items = order.size
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
            arms = race.alive
            values = table.read(order.until(books.n_items + length) + books.n_items, length,
                                arms_of(arms), n_alive, rows)
            if values is None:
                break
            if kept < n_alive and measure is not None:
                rejects, measure = measure(values), None
                kept = rejects.keep(n_alive, 1, books.n_items + length, left - length * n_alive)
            race._take(books, arms, values, rows, kept, &keys[0])
            left -= length * n_alive
            advance(length * n_alive)
    finally:
        free(rows)


cdef struct blocks:
    int64_t fixed, smallest, share, most_pairs


cdef int64_t block_length(const blocks *rule, int64_t n_alive, int64_t n_read, int64_t n_items,
                          int64_t left) noexcept:
    """Return the number of items of the next block, as `Ordered._block_length` does."""
    cdef int64_t length = rule.fixed if rule.fixed else max(rule.smallest, n_read // rule.share)
    return min(length, max(1, rule.most_pairs // n_alive), n_items - n_read, left // n_alive)


def read_blocks(Race race not None, Books books not None, Table table not None,
                DrawnOrder order not None, int64_t most_pulls, rule, advance):
    """Run a race with a guarantee, as ask and tell would.

    Stops before a block that contains an invalid reward, so that `tell` can report it. `rule` has
    the fixed length of a block or 0, the smallest length, the share of the items read, and the
    maximum number of pairs.
    """
    cdef blocks length_of
    length_of.fixed, length_of.smallest, length_of.share, length_of.most_pairs = rule
    cdef int64_t length, n_alive, n_items = order.size
    cdef int64_t left = most_pulls - int(books.pulls.sum())
    cdef const double **rows = <const double **>malloc(n_items * sizeof(double *))
    if rows == NULL:
        raise MemoryError
    try:
        while not race.decided_flag[0] and books.n_items < n_items:
            n_alive = race.n_alive[0]
            length = block_length(&length_of, n_alive, books.n_items, n_items, left)
            if length <= 0:
                break
            arms = race.alive
            values = table.read(order.until(books.n_items + length) + books.n_items, length,
                                arms_of(arms), n_alive, rows)
            if values is None:
                break
            race._take(books, arms, values, rows, 0, NULL)
            left -= length * n_alive
            advance(length * n_alive)
    finally:
        free(rows)
