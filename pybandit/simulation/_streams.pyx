# cython: auto_pickle=False
"""Streams of runs, equal to those of `SeedSequence.spawn` but without 10 us of Python each.

Run i draws from ``default_rng(child i)``. If policies are compared on common rewards, the
rewards of each arm are drawn one by one from a separate stream: a descendant of the child, through
its child number ARMS, which callers who spawn from a run's generator will not reach.
"""

import numpy as np

from pybandit._shared.generators import private_generator, seed_sequence_of

from libc.stdint cimport int64_t, uint32_t

from pybandit._shared._csrc cimport pb_bitgen
from pybandit.simulation._csrc cimport (
    PB_STREAM_POOL, pb_stream, pb_stream_begin, pb_stream_bits, pb_stream_seed,
)

cdef enum:
    ARMS = 0x61726D73  # "arms"


cdef class Streams:
    """The children `first` to ``first + n_runs - 1`` of a SeedSequence."""

    def __init__(self, entropy, spawn_key, pool_size, first, n_runs):
        self.entropy, self.spawn_key, self.pool_size = entropy, tuple(spawn_key), pool_size
        self.first, self.n_runs = first, n_runs
        parent = np.random.SeedSequence(entropy, spawn_key=self.spawn_key, pool_size=pool_size)
        for i in range(min(pool_size, PB_STREAM_POOL)):
            self.seeds.pool[i] = parent.pool[i]
        self.seeds.pool_size = pool_size
        # NumPy fills the pool before it mixes in a spawn key
        self.seeds.n_words = (max(pool_size, len(words_of(entropy)))
                              + len(words_of(self.spawn_key)))
        self.is_known = n_runs > 0 and self._agrees()

    def __reduce__(self):
        return Streams, (self.entropy, self.spawn_key, self.pool_size, self.first, self.n_runs)

    def part(self, first, n_runs):
        """Return the streams of some of the runs."""
        return Streams(self.entropy, self.spawn_key, self.pool_size, self.first + first, n_runs)

    def identity(self):
        """Return a description for JSON that is equal for equal streams.

        After NumPy has filled the pool, it treats the words of a seed and of its spawn key as
        one sequence.
        """
        words = words_of(self.entropy)
        words += [0] * (self.pool_size - len(words)) + words_of(self.spawn_key)
        return {"words": words, "pool_size": self.pool_size, "first": self.first,
                "n_runs": self.n_runs}

    def child(self, i):
        """Return the SeedSequence of run i."""
        return np.random.SeedSequence(self.entropy, spawn_key=(*self.spawn_key, self.first + i),
                                      pool_size=self.pool_size)

    def generator(self, i):
        """Return the generator of run i."""
        return np.random.Generator(np.random.PCG64(self.child(i)))

    cdef void _begin(self, int64_t i, pb_stream *stream) noexcept nogil:
        cdef uint32_t key[2]
        pb_stream_begin(&self.seeds, key, split(self.first + i, key), stream)

    cdef void _begin_arm(self, int64_t i, int64_t arm, pb_stream *stream) noexcept nogil:
        cdef uint32_t key[5]
        cdef int64_t n = split(self.first + i, key)
        key[n] = ARMS
        n += 1
        pb_stream_begin(&self.seeds, key, n + split(arm, key + n), stream)

    cdef object _private(self, pb_stream *stream):
        """Return the bit generator's state of `private_generator` for the stream of a run.

        That generator is seeded by four integers below 2^63, which are hashed without leading
        zero words. The stream continues after them.
        """
        cdef pb_stream own
        cdef pb_bitgen bits = pb_stream_bits(stream)
        cdef uint32_t words[8]
        cdef int64_t _, n = 0
        for _ in range(4):
            n += split(bits.next_uint64(bits.state) >> 1, words + n)
        pb_stream_seed(words, n, &own)
        return {"bit_generator": "PCG64", "has_uint32": 0, "uinteger": 0,
                "state": {"state": <object>own.state_high << 64 | own.state_low,
                          "inc": <object>own.step_high << 64 | own.step_low}}

    cdef bint _agrees(self):
        """Return True if the installed NumPy gives the same numbers as the C code."""
        cdef pb_stream stream
        cdef pb_bitgen bits
        rng = self.generator(0)
        self._begin(0, &stream)
        state = self._private(&stream)
        bits = pb_stream_bits(&stream)
        return (state == private_generator(rng).bit_generator.state
                and bits.next_uint64(bits.state) == rng.bit_generator.random_raw())


cdef inline int64_t split(int64_t number, uint32_t *words) noexcept nogil:
    """Write a number of at least 0 as one or two words; return how many."""
    words[0] = <uint32_t>number
    words[1] = <uint32_t>(number >> 32)
    return 2 if words[1] else 1


def words_of(entropy):
    """Return the words of 32 bits that a SeedSequence makes from this entropy, as a list."""
    if isinstance(entropy, np.ndarray) and entropy.dtype == np.uint32:
        return entropy.tolist()
    if isinstance(entropy, str):
        entropy = int(entropy, 16 if entropy.startswith("0x") else 10)
    if isinstance(entropy, (int, np.integer)):
        words, left = [int(entropy) & 0xFFFFFFFF], int(entropy) >> 32
        while left:
            words.append(left & 0xFFFFFFFF)
            left >>= 32
        return words
    return [word for one in entropy for word in words_of(one)]


def streams_of(rng, n_runs):
    """Return the next `n_runs` streams of a user's `rng`; a SeedSequence is advanced."""
    seeds = seed_sequence_of(rng)
    first = seeds.n_children_spawned
    if isinstance(rng, np.random.SeedSequence):
        seeds.spawn(n_runs)
    return Streams(seeds.entropy, seeds.spawn_key, seeds.pool_size, first, n_runs)
