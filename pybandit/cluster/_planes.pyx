"""Cutting planes for the Euclidean medoid: exact in few dimensions."""

import numpy as np

from cpython.exc cimport PyErr_CheckSignals
from libc.math cimport INFINITY
from libc.stdint cimport int64_t

from pybandit.cluster._csrc cimport (
    pb_plane, pb_plane_cut, pb_plane_pass, pb_plane_products,
)
from pybandit.cluster._distances cimport Distances


cdef class Planes:
    """Rows that may be the medoid, and a lower bound of the mean distance of each.

    Parameters
    ----------
    distances : Distances
        Of rows, Euclidean.
    weights : ndarray of float64 with mean 1, or None
    alive : ndarray of int64
        Rows that may be the medoid, increasing.
    """

    cdef Distances distances
    cdef const double[::1] weights
    cdef int64_t[::1] rows
    cdef double[::1] bounds, products, slope
    cdef double[:, ::1] memory
    cdef pb_plane plane
    cdef object from_anchor, thetas
    cdef readonly int64_t n_alive, n_passes
    cdef readonly int64_t winner   # the anchor with the smallest mean distance; -1 before the first
    cdef readonly double best      # its mean distance
    cdef int64_t lowest

    def __cinit__(self, Distances distances, weights, alive):
        cdef double[::1] held
        n = len(alive)
        self.distances, self.weights = distances, weights
        self.rows = np.array(alive, dtype=np.int64)
        self.bounds, self.products = np.full(n, -np.inf), np.empty(n)
        self.memory = np.empty((5, distances.points.n_columns))
        self.from_anchor = held = np.empty(distances.points.n)
        self.plane.distances = &held[0]
        self.plane.far, self.plane.near = &self.memory[0, 0], &self.memory[1, 0]
        self.plane.scratch = &self.memory[2, 0]
        self.slope = self.memory[4]
        self.plane.near_below = 0.0
        self.n_alive, self.winner, self.best = n, -1, INFINITY
        self.thetas = {}

    @property
    def alive(self):
        """Rows that may be better than the winner, increasing."""
        return np.array(self.rows[:self.n_alive])

    @property
    def winners(self):
        """Anchors whose mean distance is the smallest, up to rounding; increasing."""
        return np.array(sorted(anchor for anchor, theta in self.thetas.items()
                               if theta <= self.best * (1.0 + 1e-12)))

    @property
    def next_anchor(self):
        """The row with the smallest lower bound."""
        return self.rows[self.lowest]

    def cut(self, int64_t anchor):
        """Make a pass from an anchor, and eliminate rows by its plane."""
        cdef int64_t c
        cdef const double *w = NULL
        if self.weights is not None:
            w = &self.weights[0]
        self.plane.anchor = anchor
        with nogil:
            pb_plane_pass(&self.plane, &self.distances.points, w)
            for c in range(self.slope.shape[0]):
                self.slope[c] = self.plane.far[c] + self.plane.near[c]
            if self.n_alive:
                pb_plane_products(&self.plane, &self.distances.points, &self.slope[0],
                                  &self.rows[0], self.n_alive, &self.products[0])
        self.n_passes += 1
        self.thetas[anchor] = self.plane.theta
        if self.plane.theta < self.best or (self.plane.theta == self.best
                                            and anchor < self.winner):
            self.best, self.winner = self.plane.theta, anchor
        if self.n_alive:
            self.n_alive = pb_plane_cut(&self.plane, self.best, &self.products[0], &self.rows[0],
                                        &self.bounds[0], self.n_alive, &self.lowest)

    def run(self, int64_t anchor, int64_t n_passes, double share, int64_t least):
        """Cut until no row is left, or progress is slow; return True if no row is left.

        Progress is slow if `n_passes` leave more than `share` of the rows and eliminate at
        most `least`.
        """
        cdef int64_t before, _
        while True:
            before = self.n_alive
            for _ in range(n_passes):
                self.cut(anchor)
                PyErr_CheckSignals()
                if self.n_alive == 0:
                    return True
                anchor = self.rows[self.lowest]
            if self.n_alive > share * before and before - self.n_alive <= least:
                return False
