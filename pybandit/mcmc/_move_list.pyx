# cython: auto_pickle=False
"""The moves of a chain, as its kernel reads them, with the scales that warm-up gives them."""

import numpy as np

from pybandit.racing._linear_control import viewed

from libc.stdint cimport int64_t

from pybandit.mcmc._csrc cimport PB_MOVE_AUTOREGRESSIVE, PB_MOVE_WALK, pb_move


cdef class MoveList:
    """Of one chain, which changes their scales.

    Parameters
    ----------
    moves : sequence of Move
    d : int
        Parameters.
    """

    def __cinit__(self, moves, int64_t d):
        cdef const double[:, ::1] factor
        cdef const double[::1] center
        cdef pb_move *to
        self.kept = tuple(moves)  # their arrays are read
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
        """What warm-up multiplied the proposal's length by; of a mixture one a part."""
        scales = np.array([self.moves[i].scale for i in range(self.n)])
        scales /= self.first_scales
        return scales if scales.size > 1 else float(scales[0])

    def end_warmup(self):
        """Scales stay as they are from now on; no step from the mode is longer than its draws."""
        cdef int i
        for i in range(self.n):
            if self.moves[i].kind == PB_MOVE_AUTOREGRESSIVE:
                self.moves[i].scale = min(1.0, self.moves[i].scale)
