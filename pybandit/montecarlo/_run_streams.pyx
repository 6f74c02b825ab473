# cython: auto_pickle=False
"""Generators of runs, equal to those of `SeedSequence.spawn` without 10 us of Python each."""

import numpy as np
from numpy.random.bit_generator import ISpawnableSeedSequence

from pybandit._shared.generators import MASK
from pybandit.simulation._streams import Streams as make_streams

from cpython.object cimport PyObject
from libc.stdint cimport int64_t
from libc.string cimport memcpy
from numpy.random cimport BitGenerator, bitgen_t
from numpy.random.bit_generator cimport SeedSequence

from pybandit._shared._csrc cimport pb_bitgen
from pybandit.simulation._csrc cimport pb_stream, pb_stream_bits
from pybandit.simulation._streams cimport Streams

cdef extern from "Python.h":
    Py_ssize_t Py_REFCNT(PyObject *)   # an argument `object` may count as one more

# Maximum number of runs; the SeedSequence of NumPy counts its children with 32 bits.
cdef enum:
    MOST_RUNS = 1 << 30


class RunSeed(ISpawnableSeedSequence):
    """The SeedSequence of a run, made when it is used: few runs spawn from their generator."""

    def __init__(self, streams, i):
        self._run, self._made = (streams, i), None

    def _sequence(self):
        if self._made is None:
            streams, i = self._run
            self._made = streams.child(i)
        return self._made

    def generate_state(self, n_words, dtype=np.uint32):
        return self._sequence().generate_state(n_words, dtype)

    def spawn(self, n_children):
        return self._sequence().spawn(n_children)

    def __getattr__(self, name):
        if name.startswith("_"):  # also in copies, which have no attributes yet
            raise AttributeError(name)
        return getattr(self._sequence(), name)

    def __reduce__(self):
        return self._sequence().__reduce__()


cdef class RunBits(BitGenerator):
    """The bit generator of a run: NumPy's PCG64, seeded by compiled code."""

    cdef pb_stream stream

    def __init__(self, seed):
        BitGenerator.__init__(self, seed)
        cdef pb_bitgen bits = pb_stream_bits(&self.stream)
        memcpy(&self._bitgen, &bits, sizeof(bitgen_t))  # the structs are equal
        if not isinstance(seed, RunSeed):
            self.state = np.random.PCG64(self._seed_seq).state

    @property
    def state(self):
        cdef pb_stream *own = &self.stream
        return {"bit_generator": "PCG64", "has_uint32": own.has_half, "uinteger": own.half,
                "state": {"state": <object>own.state_high << 64 | own.state_low,
                          "inc": <object>own.step_high << 64 | own.step_low}}

    @state.setter
    def state(self, value):
        cdef pb_stream *own = &self.stream
        checked = np.random.PCG64()
        checked.state = value  # refuses other states
        state, step = (checked.state["state"][name] for name in ("state", "inc"))
        own.state_high, own.state_low = state >> 64, state & MASK
        own.step_high, own.step_low = step >> 64, step & MASK
        own.has_half, own.half = checked.state["has_uint32"], checked.state["uinteger"]

    def as_pcg64(self):
        """Return a PCG64 in the same state."""
        bits = np.random.PCG64(self._seed_seq._sequence())
        bits.state = self.state
        return bits

    def spawn(self, n_children):
        """As `PCG64.spawn`."""
        return self.as_pcg64().spawn(n_children)

    def jumped(self, jumps=1):
        """As `PCG64.jumped`."""
        return self.as_pcg64().jumped(jumps)

    def advance(self, delta):
        """As `PCG64.advance`."""
        self.state = self.as_pcg64().advance(delta).state
        return self

    def __reduce__(self):
        return self.as_pcg64().__reduce__()


cdef class RunStreams:
    """The generators of runs, one after the other; each counts as a child of `seeds`."""

    cdef SeedSequence seeds
    cdef Streams streams
    cdef int64_t first
    cdef object rng, seed
    cdef RunBits bits

    def __init__(self, SeedSequence seeds not None):
        self.seeds, self.first = seeds, seeds.n_children_spawned
        self.streams = make_streams(seeds.entropy, seeds.spawn_key, seeds.pool_size, self.first,
                                    MOST_RUNS)

    def spawn(self, n):
        """Return the SeedSequences of the next n runs."""
        return self.seeds.spawn(n)

    def next(self):
        """Return the generator of the next run, equal to ``default_rng(seeds.spawn(1)[0])``.

        The objects of the last run are used again unless that run has kept one of them.
        """
        cdef int64_t i = self.seeds.n_children_spawned - self.first
        if not self.streams.is_known or i >= MOST_RUNS:
            return np.random.Generator(np.random.PCG64(self.seeds.spawn(1)[0]))
        if not self._is_free():
            self.seed = RunSeed(self.streams, i)
            self.bits = RunBits(self.seed)
            self.rng = np.random.Generator(self.bits)
        else:
            self.seed.__init__(self.streams, i)
        self.seeds.n_children_spawned += 1
        self.streams._begin(i, &self.bits.stream)
        return self.rng

    cdef bint _is_free(self):
        """Return True if nothing else refers to the generator of the last run, or to its parts."""
        # the generator refers to the bits, and these to the seed
        return (self.rng is not None and Py_REFCNT(<PyObject *>self.rng) == 1
                and Py_REFCNT(<PyObject *>self.bits) == 2
                and Py_REFCNT(<PyObject *>self.seed) == 2)
