# cython: auto_pickle=False
"""Policies whose arms are on a ring, and their saved state."""

import numpy as np

from pybandit.policies.protocol._states import RING


from pybandit.policies._csrc cimport pb_round_robin_begin
from pybandit.policies.protocol.base cimport NativePolicy


cdef class _RingPolicy(NativePolicy):
    """A policy with arms on a ring. `__cinit__` may point `ring` to that of a C struct."""

    def __cinit__(self):
        self.ring = &self.own_ring

    def __init__(self, n_arms, k):
        super().__init__(n_arms, k)
        self.ring_arms = np.zeros(self.n_arms, dtype=np.int64)
        self.ring.arms = &self.ring_arms[0]
        pb_round_robin_begin(self.ring, self.n_arms)

    @property
    def survivors(self):
        """The arms that are still pulled, increasing; int64."""
        with self.guard.reading():
            return np.array(self.ring_arms[:self.ring.n_arms])

    cdef bint _forget(self) except -1:
        return True

    cdef object _schema(self):
        return RING

    cdef dict _sizes(self):
        return NativePolicy._sizes(self) | {"least_ring": 1}

    def _get_progress(self):
        self.guard.check()
        return {"ring": np.array(self.ring_arms), "ring_n_arms": self.ring.n_arms,
                "ring_cursor": self.ring.cursor, "ring_rounds": self.ring.rounds}

    def _set_progress(self, progress):
        super()._set_progress(progress)
        np.asarray(self.ring_arms)[:] = progress["ring"]
        self.ring.n_arms, self.ring.cursor = progress["ring_n_arms"], progress["ring_cursor"]
        self.ring.rounds = progress["ring_rounds"]
