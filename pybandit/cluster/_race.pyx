"""The race for the medoid over references in random order."""

import numpy as np

from pybandit.cluster._parts import in_parts
from pybandit.cluster._sums import distances_from

from libc.math cimport INFINITY, log
from libc.stdint cimport int64_t

from pybandit._shared._csrc cimport PB_OK, pb_status
from pybandit.cluster._csrc cimport (
    PB_TILE, pb_medoid, pb_medoid_advance, pb_medoid_anchor, pb_medoid_begin, pb_medoid_drop,
    pb_medoid_forget, pb_medoid_lanes, pb_medoid_lanes_fill, pb_medoid_leader, pb_medoid_look,
    pb_medoid_read, pb_medoid_reanchor, pb_plane, pb_plane_part, pb_plane_pass,
    pb_plane_products, pb_tile, pb_tile_fill, pb_tile_memory, pb_tile_read,
)
from pybandit.cluster._distances cimport Distances

cdef enum:
    PART = 4096                  # candidates between two checks for Ctrl-C, and per thread
    FIELDS = 8                   # arrays of pb_medoid, and one for products
# References nearer to the anchor than this share of the mean distance are near: float32
# distances to them would be divided by a difference of few digits.
cdef double NEAR = 2.0**-10


cdef class MedoidRace:
    """A pb_medoid with its memory.

    Parameters
    ----------
    distances : Distances
    weights : ndarray of float64 with mean 1, or None
    alive : ndarray of int64
        Candidates, increasing.
    kind : {"euclidean", "metric", "student"}
        Bets with the control variate of rows, bets of any metric, or no bets.
    delta : float
        Probability that bets eliminate the medoid.
    bar : object with update(n)
    """

    cdef Distances distances
    cdef const double[::1] weights
    cdef pb_medoid race
    cdef pb_medoid_lanes lanes
    cdef pb_plane plane
    cdef pb_tile tile
    cdef double near_below
    cdef int64_t[::1] rows, references, history
    cdef double[:, ::1] fields, columns
    cdef double[::1] from_anchor, memory, products
    cdef object distances_of_anchor, bar
    cdef int64_t n_threads
    cdef readonly int64_t n_distances
    cdef readonly double best      # smallest mean distance of an anchor

    def __cinit__(self, Distances distances, weights, alive, kind, double delta,
                  int64_t n_threads=1, bar=None):
        cdef int64_t n = len(alive), n_points = distances.points.n
        self.distances, self.weights, self.bar = distances, weights, bar
        self.n_threads = 1 if distances.is_function() else n_threads
        self.rows, self.references = np.array(alive, dtype=np.int64), np.zeros(PB_TILE, np.int64)
        self.history = np.empty(n_points, dtype=np.int64)
        self.fields, self.products = np.empty((FIELDS - 1, n)), np.empty((3 * n))
        self.columns = np.empty((6, distances.points.n_columns))
        self.distances_of_anchor = np.zeros(n_points)
        self.from_anchor = self.distances_of_anchor
        self.memory = np.empty(pb_tile_memory(&distances.points, distances.block_size()))
        self.race.n, self.race.n_alive = n_points, n
        self.race.student, self.race.convex = kind == "student", kind == "euclidean"
        self.race.log_threshold = log(1.0 / delta)
        # of float32 distances; functions may compute in float32 too
        self.race.precision = 2.0**-50 if distances.points.doubles != NULL else 2.0**-21
        self.race.alive = &self.rows[0]
        self.race.raw, self.race.read = &self.fields[0, 0], &self.fields[1, 0]
        self.race.total, self.race.square = &self.fields[2, 0], &self.fields[3, 0]
        self.race.wealth, self.race.shift = &self.fields[4, 0], &self.fields[5, 0]
        self.race.reach = &self.fields[6, 0]
        self.tile.memory, self.tile.references = &self.memory[0], &self.references[0]
        self.plane.distances = &self.from_anchor[0]
        self.plane.far, self.plane.near = &self.columns[0, 0], &self.columns[1, 0]
        self.plane.scratch = &self.columns[2, 0]
        self.best = INFINITY
        pb_medoid_begin(&self.race)

    @property
    def alive(self):
        """Surviving candidates, increasing."""
        return np.array(self.rows[:self.race.n_alive])

    @property
    def anchor(self):
        return self.race.anchor

    @property
    def n_read(self):
        """References read."""
        return self.race.t

    @property
    def leader(self):
        """Survivor with the smallest sum of distances, the lowest index of equal ones."""
        return self.rows[pb_medoid_leader(&self.race)]

    @property
    def totals(self):
        """Sum of the distances of each survivor to the references read."""
        return np.array(self.fields[0, :self.race.n_alive])

    @property
    def wealth(self):
        """Logarithm of the wealth of the bets against each survivor."""
        return np.array(self.fields[4, :self.race.n_alive])

    cdef const double *_weights(self) noexcept:
        return &self.weights[0] if self.weights is not None else NULL

    def read(self, references):
        """Read the distances of all survivors to at most 64 references."""
        cdef const int64_t[::1] given = references
        cdef int64_t i, n = given.shape[0]
        for i in range(n):
            self.references[i] = self.history[self.race.t + i] = given[i]
        self.tile.n = n
        pb_tile_fill(&self.tile, &self.distances.points)
        if self.race.student and self.race.anchor >= 0:
            self._read_anchor()
        pb_medoid_lanes_fill(&self.lanes, &self.references[0], n, self._weights(),
                             &self.from_anchor[0] if self.race.anchor >= 0 else NULL,
                             -1.0 if self.race.student or self.race.anchor < 0
                             else self.near_below)
        in_parts(self._read_part, self.race.n_alive, PART, self.n_threads)
        pb_medoid_advance(&self.race, n)
        self._count(n * self.race.n_alive)

    cdef _count(self, int64_t n):
        self.n_distances += n
        if self.bar is not None:
            self.bar.update(n)

    def _read_part(self, int64_t first, int64_t count):
        cdef pb_status status = PB_OK
        cdef int64_t size = min(self.distances.block_size(), count), done = first, n = 0
        cdef double[:, ::1] out = np.empty((size, PB_TILE))
        with nogil:
            while done < first + count:
                n = min(size, first + count - done)
                status = pb_medoid_read(&self.race, &self.distances.points, &self.tile,
                                        &self.lanes, done, n, &out[0, 0])
                if status != PB_OK:
                    break
                done += n
        if status != PB_OK:
            self.distances.raise_failure(status, &self.rows[done], n, &self.tile, &out[0, 0])

    cdef _read_anchor(self):
        """Read the distances from the anchor to the references of the tile."""
        cdef double[::1] out = np.empty(PB_TILE)
        cdef int64_t i
        cdef pb_status status = pb_tile_read(&self.tile, &self.distances.points,
                                             &self.race.anchor, 1, &out[0])
        if status != PB_OK:
            self.distances.raise_failure(status, &self.race.anchor, 1, &self.tile, &out[0])
        for i in range(self.tile.n):
            self.from_anchor[self.references[i]] = out[i]
        self._count(self.tile.n)

    def set_anchor(self, int64_t index):
        """Compare the survivors with another anchor; a pass over all points if there are bets."""
        if self.race.student:
            self.race.anchor = index
            pb_medoid_forget(&self.race)
        elif self.race.convex:
            self._set_row(index)
        else:
            self._set_point(index)

    cdef _set_row(self, int64_t index):
        cdef pb_medoid_anchor anchor
        cdef const pb_medoid *race = &self.race
        cdef const double *w = self._weights()
        cdef int64_t c, n = race.n_alive, n_columns = self.distances.points.n_columns
        cdef double *of_far = &self.products[0]
        cdef bint is_far = True  # no near row but copies of the anchor
        self.plane.anchor = index
        self.plane.near_below = self.near_below = (
            NEAR * race.raw[pb_medoid_leader(&self.race)] / max(race.t, 1))
        anchor.near_weight = anchor.read_distance = 0.0
        with nogil:
            pb_plane_pass(&self.plane, &self.distances.points, w)
            for c in range(n_columns):
                self.columns[4, c] = 0.0
                self.columns[5, c] = self.plane.far[c] + self.plane.near[c]
                is_far = is_far and self.plane.near[c] == 0.0
            pb_plane_part(&self.plane, &self.distances.points, w, &self.history[0], race.t,
                          &self.columns[4, 0], &anchor.near_weight, &anchor.read_distance)
            pb_plane_products(&self.plane, &self.distances.points, self.plane.far, race.alive, n,
                              of_far)
            pb_plane_products(&self.plane, &self.distances.points, &self.columns[4, 0],
                              race.alive, n, of_far + n)
            if not is_far:
                pb_plane_products(&self.plane, &self.distances.points, &self.columns[5, 0],
                                  race.alive, n, of_far + 2 * n)
        anchor.theta, anchor.near_share = self.plane.theta, self.plane.near_share
        anchor.near_below, anchor.inverse = self.near_below, self.plane.inverse
        anchor.of_far, anchor.of_read = of_far, of_far + n
        anchor.of_plane = of_far if is_far else of_far + 2 * n
        self._reanchor(&anchor, index)

    cdef _set_point(self, int64_t index):
        cdef pb_medoid_anchor anchor
        values = distances_from(self.distances, index)
        self.distances_of_anchor[:] = check_distances(values, index)
        self.near_below = INFINITY
        read = np.asarray(self.history[:self.race.t])
        weights = np.ones(self.race.n) if self.weights is None else np.asarray(self.weights)
        anchor.theta = weights @ values / self.race.n
        anchor.near_share, anchor.near_weight = 1.0, weights[read].sum()
        anchor.near_below = anchor.inverse = 0.0
        anchor.read_distance = weights[read] @ values[read]
        anchor.of_far = NULL
        anchor.of_read = NULL
        anchor.of_plane = NULL
        self._reanchor(&anchor, index)

    cdef _reanchor(self, pb_medoid_anchor *anchor, int64_t index):
        anchor.index = index
        anchor.distances = &self.from_anchor[0]
        self.best = anchor.best = min(self.best, anchor.theta)
        pb_medoid_reanchor(&self.race, anchor)
        self._count(self.race.n)

    def drop(self):
        """Eliminate survivors that lost their bets."""
        pb_medoid_drop(&self.race)

    def look(self, double quantile):
        """End a block of the race without bets."""
        pb_medoid_look(&self.race, quantile)

    def is_open(self, double ratio):
        """Return True if the race goes on.

        It ends if the sums of all survivors over all points cost at most 1 / ratio of the
        distances computed so far.
        """
        return (self.race.n_alive > 1
                and self.race.n_alive * self.race.n * ratio > self.n_distances)

    def is_cheap(self):
        """Return True if the other references cost at most what was computed so far."""
        cdef int64_t n_left = self.race.n - self.race.t
        return (self.race.anchor >= 0 and n_left > 0
                and self.race.n_alive * n_left <= self.n_distances)

    def run_bets(self, draw, int64_t limit, int64_t pilot=16, int64_t tile=PB_TILE,
                 double ratio=4.0):
        """Run the race by bets; ``draw(n)`` returns the next n references of the order.

        After `limit` references, the anchor remains, and the race goes on only while it is cheap.
        """
        cdef int64_t chosen_at = 0
        self.read(draw(pilot))
        while self.is_open(ratio):
            leader = self.leader
            if self.race.t + tile > limit:
                if not self.is_cheap():
                    return
            elif leader != self.race.anchor and (self.race.anchor < 0
                                                 or self.race.t >= 2 * chosen_at):
                self.set_anchor(leader)
                chosen_at = self.race.t
            self.read(draw(min(tile, self.race.n - self.race.t)))
            self.drop()

    def run_student(self, draw, int64_t limit, quantiles, int64_t pilot=32, double ratio=4.0):
        """Run the race without bets: blocks of 64, 128, ... references, a quantile for each."""
        cdef int64_t size = PB_TILE, _
        self.read(draw(pilot))
        for quantile in quantiles:
            if not self.is_open(ratio) or self.race.t + size > limit:
                return
            self.set_anchor(self.leader)
            for _ in range(size // PB_TILE):
                self.read(draw(PB_TILE))
            self.look(quantile)
            size *= 2


def check_distances(values, point):
    """Return distances to one point; refuse values that are negative or not finite."""
    bad = ~((values >= 0) & np.isfinite(values))
    if bad.any():
        at = int(np.flatnonzero(bad)[0])
        raise ValueError(f"distances must be finite and at least 0; got {values[at]!r} from point "
                         f"{at} to point {point}")
    return values
