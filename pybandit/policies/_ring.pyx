"""Arms on a ring: who is left, and how that is saved."""

import numpy as np

from pybandit._shared.checks import are_increasing

from pybandit.policies._csrc cimport pb_round_robin_begin
from pybandit.policies.base cimport NativePolicy


cdef class _RingPolicy(NativePolicy):
    """Its arms are on a ring and leave it. A kernel's ring is set in `__cinit__`."""

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
        return np.array(self.ring_arms[:self.ring.n_arms])

    def _get_progress(self):
        return {"ring": np.array(self.ring_arms), "ring_n_arms": self.ring.n_arms,
                "ring_cursor": self.ring.cursor, "ring_rounds": self.ring.rounds}

    def _set_progress(self, progress):
        n, cursor = progress["ring_n_arms"], progress["ring_cursor"]
        arms = np.asarray(progress["ring"])[:max(0, n)]
        # a ring may be empty in a policy that is done, and has been told so before this
        if (arms.size != n or not (n or self._is_done()) or not 0 <= cursor < max(1, n)
                or not are_increasing(arms, self.n_arms)):
            raise ValueError(f"state must hold ring_n_arms increasing arms of {self.n_arms} in "
                             f"ring, ring_cursor among them; got {n}, {arms}, {cursor}")
        np.asarray(self.ring_arms)[:] = progress["ring"]
        self.ring.n_arms, self.ring.cursor = n, cursor
        self.ring.rounds = progress["ring_rounds"]
