# cython: auto_pickle=False
"""Base classes of the policies that pull in batches."""

import numpy as np

from pybandit._shared.checks import LARGEST, check_integer

cimport numpy as cnp
from libc.stdint cimport int64_t

from pybandit.policies.protocol._ring cimport _RingPolicy

cnp.import_array()


cdef class _BatchPolicy(_RingPolicy):
    """A policy that pulls the remaining arms in turn, in batches."""

    def __init__(self, n_arms, k, batch_size, max_repeats):
        super().__init__(n_arms, k)
        self.batch_size = check_integer("batch_size", batch_size, 1, LARGEST)
        self.max_repeats = self.batch_size
        if max_repeats is not None:
            self.max_repeats = min(self.batch_size,
                                   check_integer("max_repeats", max_repeats, 1, LARGEST))
        # the largest batch that max_repeats allows
        self.batch_size = min(self.batch_size, <object>self.n_arms * self.max_repeats)
        self.arrays = {}
        self.scratch = []

    cdef void *_allocate(self, str name, shape, dtype):
        """Allocate memory that is part of the saved state."""
        memory = self.arrays[name] = np.zeros(shape, dtype=dtype)
        return cnp.PyArray_DATA(memory)

    cdef void *_scratch(self, int64_t size):
        """Allocate memory whose content is used only within a step."""
        memory = np.empty(size, dtype=np.uint8)
        self.scratch.append(memory)
        return cnp.PyArray_DATA(memory)

    cdef dict _sizes(self):
        return _RingPolicy._sizes(self) | {"batch_size": self.batch_size}

    def _get_progress(self):
        return {**super()._get_progress(),
                **{name: array.copy() for name, array in self.arrays.items()}}

    def _set_progress(self, progress):
        super()._set_progress(progress)
        for name, array in self.arrays.items():
            array[...] = progress[name]


cdef class _AcceptingPolicy(_BatchPolicy):
    """A policy that accepts or rejects an arm as soon as it can; the survivors are undecided."""

    cdef unsigned char *_accepted(self):
        """Return the flags of accepted arms, for the C struct."""
        self.flags = <unsigned char *>self._allocate("accepted", self.n_arms, np.uint8)
        self.named = np.empty(self.n_arms, dtype=np.int64)
        return self.flags

    @property
    def accepted(self):
        """Arms accepted so far, increasing; int64."""
        with self.guard.reading():
            return np.flatnonzero(self.arrays["accepted"])

    @property
    def survivors(self):
        """Arms neither accepted nor rejected, increasing; int64."""
        with self.guard.reading():
            return np.empty(0, np.int64) if self._is_done() else super().survivors

    cdef int64_t _answer(self, int64_t *arms) noexcept nogil:
        """Write the accepted arms, best first, and return k.

        Returns -1 unless exactly k arms are accepted and each of them has a reward.
        """
        cdef int64_t arm, n = 0
        for arm in range(self.n_arms):
            if self.flags[arm]:
                if not self._pulls[arm] or n == self.k:
                    return -1
                self.named[n] = arm
                n += 1
        return self._best_of(&self.named[0], n, self.k, arms) if n == self.k else -1

    _answers = True

    def recommend(self):
        """Return the k best arms, best first; int64.

        Before the end these are the accepted arms and the survivors of largest mean.

        Arms without a reward are included only if fewer than k arms have one, and come last.
        """
        with self.guard.reading():
            accepted = self.accepted
            chosen = np.concatenate([
                accepted, self._best(self.survivors, max(0, self.k - accepted.size))])
            if chosen.size < self.k:
                silent = np.setdiff1d(self.silent, chosen)
                chosen = np.concatenate([chosen, self._best(silent, self.k - chosen.size)])
            return self._seen_first(self._best(chosen, self.k))
