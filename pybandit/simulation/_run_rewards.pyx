# cython: auto_pickle=False
"""Rewards of an environment that draws without Python, for policies in Python."""

import numpy as np

from pybandit.simulation.base import costs_of

from libc.math cimport isfinite
from libc.stdint cimport int64_t

from pybandit._shared._csrc cimport pb_bitgen
from pybandit._shared.bits cimport bitgen_of
from pybandit.simulation._csrc cimport pb_stream, pb_stream_bits
from pybandit.simulation._streams cimport Streams
from pybandit.simulation.base cimport Environment, odd


cdef class RunRewards:
    """Rewards of run i for a policy in Python, from an environment that draws without Python.

    Rewards of an arm are counted over the run. They are drawn from the given generator or, with
    `streams`, from the arm's stream, as in a session with common rewards.
    """

    cdef Environment environment
    cdef bint common
    cdef unsigned char[::1] memory        # holds the arms' streams
    cdef int64_t[::1] seen

    def __cinit__(self, Environment environment not None, int64_t i, Streams streams=None):
        cdef int64_t arm, n = environment.n_arms
        environment.guard.check()
        self.environment, self.common = environment, streams is not None
        self.seen = np.zeros(n, dtype=np.int64)
        if self.common:
            self.memory = np.zeros(n * sizeof(pb_stream), dtype=np.uint8)
            for arm in range(n):
                streams._begin_arm(i, arm, &(<pb_stream *>&self.memory[0])[arm])

    def pull_with_costs(self, arms, rng):
        """Return the next rewards of these arms and their costs; a Python `costs` comes first."""
        if self.environment._has_plain_costs():
            return self._drawn(arms, rng, True)
        rewards, _ = self._drawn(arms, rng, False)
        return rewards, costs_of(self.environment)[arms]

    def pull(self, arms, rng):
        """Return the next rewards of these arms."""
        return self._drawn(arms, rng, False)[0]

    cdef _drawn(self, arms, rng, bint with_costs):
        cdef const int64_t[::1] chosen = np.ascontiguousarray(arms, dtype=np.int64)
        cdef double[::1] rewards = np.empty(chosen.shape[0]), costs = np.empty(chosen.shape[0])
        cdef pb_bitgen bits = bitgen_of(rng)[0]
        cdef int64_t j, arm, bad = -1
        with rng.bit_generator.lock, nogil:
            for j in range(chosen.shape[0]):
                arm = chosen[j]
                if self.common:
                    bits = pb_stream_bits(&(<pb_stream *>&self.memory[0])[arm])
                if with_costs:
                    rewards[j] = self.environment._draw_with_cost(arm, self.seen[arm], &bits,
                                                                  &costs[j])
                else:
                    rewards[j] = self.environment._draw(arm, self.seen[arm], &bits)
                if not isfinite(rewards[j]):
                    bad = j
                    break
                self.seen[arm] += 1
        if bad >= 0:
            raise odd(self.environment, chosen[bad], rewards[bad])
        return np.asarray(rewards), np.asarray(costs)
