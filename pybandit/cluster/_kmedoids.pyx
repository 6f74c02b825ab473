"""Stages of k-medoids: memory, and the order of candidates."""

import numpy as np

from cpython.exc cimport PyErr_CheckSignals
from cpython.mem cimport PyMem_Calloc, PyMem_Free
from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t

from pybandit.cluster._csrc cimport (
    PB_SWAP_ASK, PB_SWAP_DROP, PB_SWAP_MOST, PB_TILE, pb_kmedoids, pb_kmedoids_apart,
    pb_kmedoids_arrange, pb_kmedoids_bound, pb_kmedoids_sum, pb_kmedoids_surround,
    pb_kmedoids_tiles, pb_swap_gain, pb_swap_is_gain, pb_swap_make,
)
from pybandit.cluster._distances cimport Distances
from pybandit.cluster._team cimport Team, part_function
from pybandit.cluster._tiles cimport make_tiles, padded, parts_of
from pybandit.cluster._workspace cimport (
    PART, Job, Space, Workspace, estimate, fill, find_nearest, measure, measure_many, update,
)

cdef enum:
    MIXED = 16384            # points of the mixed sample
    FEWEST = 16              # candidates estimated at once after a swap
    MOST = 1024              # and at most
    TASK = 256               # candidates per part, at most
    LEAST = 32               # and at least, if there are several parts
    FEW = 16                 # candidates verified at once; up to PB_SWAP_MOST with few clusters
    SUMS = 2048              # of them per part, half a double per point
    POLISHED = 10            # candidates per cluster in a round of polishing


cdef class Stage:
    """The first n points of a random order, and swaps of medoids that lower their loss.

    Parameters
    ----------
    distances : Distances
    order : ndarray of int64, shape (n,)
        Rows in random order.
    medoids : ndarray of int64, shape (k,), k >= 2
        Distinct rows.
    weights : ndarray of float64 or None
        Weight of each row.
    tolerance : float
        A swap must lower the loss by more than this share.
    team : Team
        Threads. Results do not depend on their number; functions are called by one.
    """

    cdef pb_kmedoids km
    cdef Distances distances
    cdef Team team
    cdef Job job
    cdef Space **spaces       # by thread
    cdef list workspaces      # which own their memory
    cdef dict arrays          # memory of `km`, by name
    cdef double[::1] scores   # estimated gain of each point when it was dropped
    cdef double[::1] gains    # of the block of candidates that is being estimated
    cdef int32_t[::1] decisions
    cdef int64_t[::1] counts
    cdef int64_t first        # position of the first candidate of the block
    cdef int64_t together, most_together  # candidates verified at once
    cdef double[::1] parts    # sums of a verification
    cdef readonly int64_t n_swaps, n_distances, n_tried

    def __cinit__(self, Distances distances, const int64_t[::1] order, medoids, weights,
                  double tolerance, Team team not None):
        self.distances, self.team = distances, team
        self.km.distances, self.km.tolerance = distances.points, tolerance
        self.km.n, self.km.k = order.shape[0], len(medoids)
        self.km.n_mixed = min(self.km.n, <int64_t>MIXED)
        self.arrays, self.together = {}, 1
        self.most_together = max(FEW, min(PB_SWAP_MOST, SUMS // (self.km.k + 2)))
        self._make_workspaces()
        self.km.medoids = self._integers("medoids", np.array(medoids))
        self.km.by_row = self._integers("by_row", np.argsort(medoids, kind="stable"))
        self._allocate()
        if self.distances.is_metric():
            self.km.between = self._doubles("between", self.km.k * self.km.k, 0.0)
            self.km.pivots = self._integers("pivots", medoids)
            pb_kmedoids_bound(&self.km)
        self._arrange(order, weights)
        pb_kmedoids_sum(&self.km)

    def __dealloc__(self):
        PyMem_Free(self.spaces)

    def _make_workspaces(self):
        cdef int i
        cdef Workspace one
        self.spaces = <Space **>PyMem_Calloc(self.team.n_threads, sizeof(Space *))
        if self.spaces == NULL:
            raise MemoryError("cannot allocate the memory of threads")
        n = MOST if self.distances.is_function() else min(<int64_t>TASK, self.km.n)
        self.workspaces = [Workspace(self.distances, self.km.k, max(n, <int64_t>PB_SWAP_MOST))
                           for _ in range(self.team.n_threads)]
        for i in range(self.team.n_threads):
            one = self.workspaces[i]
            self.spaces[i] = &one.space
        self.job.km, self.job.spaces = &self.km, self.spaces

    cdef int _do(self, part_function function, int64_t n_parts) except -1:
        """Do all parts of the job, and raise the error of the first one that failed."""
        cdef int thread = self.team.run(function, &self.job, n_parts)
        cdef Space *space
        if thread >= 0:
            space = self.spaces[thread]
            self.distances.raise_failure(self.team.failed[thread], space.rows, space.n_rows,
                                         &space.tile, space.out)
        return 0

    cdef double *_doubles(self, name, int64_t size, double value) except NULL:
        cdef double[::1] array = np.full(max(size, 1), value)
        self.arrays[name] = array
        return &array[0]

    cdef int64_t *_integers(self, name, values) except NULL:
        cdef int64_t[::1] array = np.ascontiguousarray(values, dtype=np.int64)
        self.arrays[name] = array
        return &array[0]

    cdef int32_t *_clusters(self, name, int64_t size) except NULL:
        cdef int32_t[::1] array = np.zeros(size, dtype=np.int32)
        self.arrays[name] = array
        return &array[0]

    def _allocate(self):
        cdef int64_t k = self.km.k, n_mixed = padded(self.km.n_mixed)
        self.scores = np.full(self.km.n, -np.inf)
        self.gains, self.counts = np.empty(MOST), np.empty(MOST, dtype=np.int64)
        self.decisions = np.empty(MOST, dtype=np.int32)
        self.km.starts = self._integers("starts", np.zeros(k + 1, dtype=np.int64))
        self.km.removal = self._doubles("removal", k, 0.0)
        self.km.by_removal = self._integers("by_removal", np.arange(k))
        self.km.removal_in = self._doubles("removal_in", k * k, 0.0)
        self.km.mixed_d1 = self._doubles("mixed_d1", n_mixed, 0.0)
        self.km.mixed_d2 = self._doubles("mixed_d2", n_mixed, 0.0)
        self.km.mixed_nearest = self._clusters("mixed_nearest", n_mixed)
        self.km.mixed_stratum = self._clusters("mixed_stratum", n_mixed)
        self.km.mixed_rows = self._integers("mixed_rows", np.zeros(n_mixed, dtype=np.int64))
        self.km.mixed_slots = self._integers("mixed_slots", np.zeros(n_mixed, dtype=np.int64))
        self.km.mixed_reach = self._doubles("mixed_reach", n_mixed, 0.0)
        self.km.mixed_tiles = make_tiles(self.distances, self.arrays, "mixed_tiles",
                                         n_mixed // PB_TILE, self.distances.holds_rows())

    def _arrange(self, const int64_t[::1] order, weights):
        """Find the nearest medoids, and sort the points into tiles of their clusters."""
        cdef int64_t n_slots
        cdef double[::1] d1, d2
        cdef int32_t[::1] nearest, second
        cdef int64_t[::1] workspace = np.empty(2 * self.km.k, dtype=np.int64)
        n = order.shape[0]
        found = {"d1": np.empty(n), "d2": np.empty(n), "nearest": np.empty(n, dtype=np.int32),
                 "second": np.empty(n, dtype=np.int32)}
        d1, d2, nearest, second = found.values()
        self.job.order, self.job.d1, self.job.d2 = &order[0], &d1[0], &d2[0]
        self.job.nearest, self.job.second = &nearest[0], &second[0]
        self._do(find_nearest, parts_of(padded(n) // PB_TILE, PART))
        self.km.sizes = self._integers("sizes", np.bincount(nearest, minlength=self.km.k))
        self.km.slots = self._integers("slots", np.zeros(n, dtype=np.int64))
        self.km.n_tiles = pb_kmedoids_tiles(self.km.sizes, self.km.k)
        n_slots = self.km.n_tiles * PB_TILE
        self.km.tiles = make_tiles(self.distances, self.arrays, "tiles", self.km.n_tiles,
                                   self.distances.holds_rows())
        self.km.rows = self._integers("rows", np.zeros(n_slots, dtype=np.int64))
        pb_kmedoids_arrange(&self.km, &order[0], &nearest[0], &workspace[0])
        slots, d1, d2, second = np.asarray(self.arrays["slots"]), None, None, None

        def put(name):
            np.asarray(self.arrays[name])[slots] = found.pop(name)  # frees memory

        self.km.d1 = self._doubles("d1", n_slots, 0.0)
        put("d1")
        self.km.d2 = self._doubles("d2", n_slots, 0.0)
        put("d2")
        self.km.nearest = self._clusters("nearest", n_slots)
        nearest = None
        put("nearest")
        self.km.second = self._clusters("second", n_slots)
        put("second")
        if weights is not None:
            self.km.weights = self._doubles("weights", n_slots, 0.0)
            self.km.mixed_weights = self._doubles("mixed_weights", padded(self.km.n_mixed), 0.0)
            np.asarray(self.arrays["weights"])[slots] = weights[np.asarray(order)]
        self.km.measured = self._doubles("measured", n_slots, 0.0)
        self.parts = np.empty(parts_of(self.km.n_tiles, PART) * (self.km.k + 2))
        if self.km.between != NULL:
            self.km.radius = self._doubles("radius", self.km.n_tiles, 0.0)
            self.km.reach = self._doubles("reach", self.km.n_tiles, 0.0)
            pb_kmedoids_surround(&self.km)
        self._do(fill, parts_of(self.km.n_tiles, PART)
                 + parts_of(padded(self.km.n_mixed) // PB_TILE, PART))

    def _estimate(self, int64_t n):
        """Estimate the gains of the n candidates from position `first` on."""
        cdef int64_t n_threads = self.team.n_threads
        self.job.task = max(<int64_t>LEAST, min(<int64_t>TASK, parts_of(n, 4 * n_threads)))
        if self.distances.is_function():
            self._sort_candidates(n)
            self.job.task = n
        elif n_threads == 1:
            self.job.task = TASK
        self.job.first, self.job.n_candidates = self.first, n
        self.job.gains, self.job.decided = &self.gains[0], &self.decisions[0]
        self.job.counts = &self.counts[0]
        self._do(estimate, parts_of(n, self.job.task))

    def _sort_candidates(self, int64_t n):
        """Sort the candidates by row, as functions require."""
        cdef Workspace space = self.workspaces[0]
        slots = np.asarray(self.arrays["slots"])[(self.first + np.arange(n)) % self.km.n]
        rows = np.asarray(self.arrays["rows"])[slots]
        np.asarray(space.by_row)[:n] = np.argsort(rows, kind="stable")

    cdef _apart(self, const int64_t[::1] rows):
        """Return the lengths from rows to the pivots, or None if there are no bounds."""
        cdef double[:, ::1] apart
        cdef int64_t i
        if self.km.between == NULL:
            return None
        apart = np.empty((rows.shape[0], self.km.k))
        with nogil:
            for i in range(rows.shape[0]):
                pb_kmedoids_apart(&self.km, rows[i], &apart[i, 0])
        return apart

    cdef int _measure(self, part_function function, const int64_t[::1] rows,
                      double[::1] sums) except -1:
        """Measure the sums of the exact gains of several rows, or of one before its swap."""
        cdef double[:, ::1] apart = self._apart(rows)
        self.job.rows, self.job.n_rows, self.job.sums = &rows[0], rows.shape[0], &sums[0]
        self.job.apart = NULL if apart is None else &apart[0, 0]
        return self._do(function, parts_of(self.km.n_tiles, PART))

    cdef bint _verify(self, int64_t i) except -1:
        """Compute the gains of the point at position i; swap if the largest is large enough."""
        cdef int64_t row = self.km.rows[self.km.slots[i]], cluster
        cdef double gain
        self._measure(measure, np.array([row]), self.parts)
        gain = pb_swap_gain(&self.km, &self.parts[0], parts_of(self.km.n_tiles, PART), &cluster)
        self.n_distances += <int64_t>self.parts[self.km.k + 1]
        if not pb_swap_is_gain(&self.km, gain):
            return False
        pb_swap_make(&self.km, row, cluster)
        self.job.cluster = cluster
        self._do(update, parts_of(self.km.n_tiles, PART))
        pb_kmedoids_sum(&self.km)
        self.n_swaps += 1
        return True

    def run(self, int64_t most_passes):
        """Try candidates in turn until n in a row brought no swap.

        Returns the number of passes started, at most `most_passes`, and True if the last n
        candidates brought no swap.
        """
        cdef int64_t n = self.km.n, since = 0, size = FEWEST, count, at
        cdef bint swapped
        while since < n and self.n_tried < most_passes * n:
            PyErr_CheckSignals()
            count = min(size, n - since, most_passes * n - self.n_tried)
            self.first = self.n_tried % n
            self._estimate(count)
            swapped, exact = False, {}
            for at in range(count):
                self.n_tried += 1
                self.n_distances += self.counts[at]
                if self.decisions[at] == PB_SWAP_DROP:
                    self.scores[(self.first + at) % n] = self.gains[at]
                elif self.decisions[at] == PB_SWAP_ASK:
                    swapped = self._ask(at, count, exact)
                    if swapped:
                        break  # the other estimates are out of date
                since += 1
            if swapped:
                since, self.together = 0, 1
            size = FEWEST if swapped else min(size + size // 2, <int64_t>MOST)
        return parts_of(self.n_tried, n), since >= n

    cdef bint _ask(self, int64_t at, int64_t count, dict exact) except -1:
        """Verify a candidate of the block; if swaps are rare, with those that follow it."""
        if self.together > 1:
            if at not in exact:
                ahead = [i for i in range(at, count) if self.decisions[i] == PB_SWAP_ASK]
                ahead = ahead[:self.together]
                places = [(self.first + i) % self.km.n for i in ahead]
                exact.update(zip(ahead, self._largest_gains(places), strict=True))
            gain, n_measured = exact[at]
            if not pb_swap_is_gain(&self.km, gain):
                self.n_distances += n_measured
                return False
        self.together = min(2 * self.together, self.most_together)
        return self._verify((self.first + at) % self.km.n)

    def _largest_gains(self, positions):
        """Return the largest exact gain of each of several points, and the distances measured."""
        cdef double[:, ::1] own
        cdef int64_t cluster
        rows = np.asarray(self.arrays["rows"])[np.asarray(self.arrays["slots"])[positions]]
        order = np.argsort(rows)
        sums = np.empty((parts_of(self.km.n_tiles, PART), rows.size, self.km.k + 2))
        self._measure(measure_many, rows[order], sums.ravel())
        found = [None] * rows.size
        for at in range(rows.size):
            own = np.ascontiguousarray(sums[:, at])
            gain = pb_swap_gain(&self.km, &own[0, 0], own.shape[0], &cluster)
            found[order[at]] = gain, int(own[0, self.km.k + 1])
        return found

    def polish(self, int rounds=4):
        """Verify the candidates whose estimated gains were largest, until a round has no swap."""
        for _ in range(rounds):
            scores = np.asarray(self.scores)
            tried = _largest(scores, POLISHED * self.km.k)
            made = self._verify_all(tried)
            scores[tried] = -INFINITY
            if not made:
                break

    def _verify_all(self, tried):
        """Verify candidates in order; return the number of swaps.

        The gains of several are computed together, because one candidate takes as long as the
        memory needs to deliver all tiles. After a swap, those of later candidates are discarded.
        """
        cdef int64_t i, done = 0, made = 0, size = FEW
        while done < tried.size:
            PyErr_CheckSignals()
            block = tried[done:done + size]
            gains = self._largest_gains(block)
            size = min(2 * size, self.most_together)
            for i, (gain, n_measured) in zip(block, gains, strict=True):
                done += 1
                if not self.km.d1[self.km.slots[i]] > 0.0:
                    continue
                if pb_swap_is_gain(&self.km, gain):
                    made += self._verify(i)
                    size = FEW
                    break
                self.n_distances += n_measured
        return made

    @property
    def loss(self):
        """Sum of the weighted distances from the points of the stage to their medoids."""
        return self.km.loss

    @property
    def medoids(self):
        """Rows of the medoids, by cluster; int64, shape (k,)."""
        return np.array(self.arrays["medoids"])

    @property
    def total_weight(self):
        """Sum of the weights of the points of the stage."""
        return float(np.sum(self.arrays["weights"]))

    def labels(self):
        """Return the cluster of each row; int32, shape (n,). For the last stage only."""
        cdef int64_t t, j
        cdef int32_t[::1] labels = np.empty(self.km.n, dtype=np.int32)
        for t in range(self.km.n_tiles):
            for j in range(self.km.tiles[t].n):
                labels[self.km.rows[t * PB_TILE + j]] = self.km.nearest[t * PB_TILE + j]
        return np.asarray(labels)


def _largest(scores, n):
    """Return the positions of the n largest scores, the largest first; ties by position."""
    if n < scores.size:
        least = np.partition(scores, scores.size - n)[scores.size - n]
        found = np.flatnonzero(scores >= least)
    else:
        found = np.arange(scores.size)
    return found[np.argsort(-scores[found], kind="stable")][:n]
