"""A stream of its own for a policy that draws, and its state as plain numbers."""

import numpy as np

from pybandit._race import as_generator

# of the bit generator's state, a 128-bit number at a time
MASK = (1 << 64) - 1


def private_generator(rng):
    """A Generator seeded from `rng`, None, int, SeedSequence or Generator; it shares no lock."""
    seeds = as_generator(rng).integers(1 << 63, size=4)
    return np.random.Generator(np.random.PCG64(seeds))


def stream_state(generator):
    """Where the stream is; uint64, shape (6,)."""
    state = generator.bit_generator.state
    words = [number >> shift & MASK for number in state["state"].values() for shift in (64, 0)]
    return np.array([*words, state["has_uint32"], state["uinteger"]], dtype=np.uint64)


def restore_stream(generator, words):
    """Go on from a `stream_state`."""
    words = [int(word) for word in np.asarray(words, dtype=np.uint64)]
    generator.bit_generator.state = {
        "bit_generator": "PCG64",
        "state": {"state": words[0] << 64 | words[1], "inc": words[2] << 64 | words[3]},
        "has_uint32": words[4] & 1,
        "uinteger": words[5] & 0xFFFFFFFF,
    }
