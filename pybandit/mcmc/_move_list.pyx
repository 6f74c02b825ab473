# cython: auto_pickle=False
"""Moves of a chain in the form that C reads, with the scales that warm-up adapts."""

import numpy as np

from pybandit.racing._linear_control import viewed

from libc.stdint cimport int64_t

from pybandit.mcmc._csrc cimport PB_MOVE_AUTOREGRESSIVE, PB_MOVE_WALK, pb_move


cdef class MoveList:
    """Moves of one chain, which adapts their scales.

    Parameters
    ----------
    moves : sequence of Move
    d : int
        Number of parameters.
    """

    def __cinit__(self, moves, int64_t d):
        cdef const double[:, ::1] factor
        cdef const double[::1] center
        cdef pb_move *to
        self.kept = tuple(moves)  # keeps their arrays alive
        self.n = len(self.kept)
        self.memory = np.zeros(self.n * sizeof(pb_move), dtype=np.int8)
        self.moves = <pb_move *>&self.memory[0]
        self.first_scales = np.array([move.scale for move in self.kept])
        for i, move in enumerate(self.kept):
            to = self.moves + <int64_t>i
            to.kind = PB_MOVE_WALK if move.is_walk else PB_MOVE_AUTOREGRESSIVE
            to.below, to.scale = move.below, move.scale
            to.target = move.target
            to.target_all = move.target if move.target_all is None else move.target_all
            if move.factor is not None:
                factor = viewed("factor", move.factor, d, d)
                to.factor = &factor[0, 0]
            if move.center is not None:
                center = viewed("center", move.center, d)
                to.center = &center[0]

    @property
    def scale(self):
        """Factor by which warm-up scaled the proposal; for a mixture, an array of one per part."""
        scales = np.array([self.moves[i].scale for i in range(self.n)])
        scales /= self.first_scales
        return scales if scales.size > 1 else float(scales[0])

    def end_warmup(self):
        """End adaptation; autoregressive scales are at most 1 from now on."""
        cdef int i
        for i in range(self.n):
            if self.moves[i].kind == PB_MOVE_AUTOREGRESSIVE:
                self.moves[i].scale = min(1.0, self.moves[i].scale)
