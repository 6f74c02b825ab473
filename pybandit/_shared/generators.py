"""Generators and seeds from a user's `rng`; private streams, and their state as numbers."""

import numpy as np

from pybandit._shared.checks import shown

# half of a 128-bit number in the bit generator's state
MASK = (1 << 64) - 1


def as_generator(rng):
    """Return a Generator for None, an int or a SeedSequence; a Generator is returned unchanged."""
    if isinstance(rng, np.random.Generator):
        return rng
    if isinstance(rng, (int, np.integer)) and rng < 0:
        raise ValueError(f"rng must be at least 0 if it is an int (a seed); got {shown(rng)}")
    if rng is None or isinstance(rng, (int, np.integer, np.random.SeedSequence)):
        return np.random.default_rng(rng)
    remedy = (": use numpy.random.default_rng(seed)" if isinstance(rng, np.random.RandomState)
              else "")
    raise TypeError(f"rng must be None, an int, a SeedSequence or a numpy.random.Generator; "
                    f"got {shown(rng)}{remedy}")


def unlocked(rng):
    """Return `rng`, or a Generator seeded from it if a thread lost in a fork holds its lock."""
    source = rng.bit_generator
    if source.lock.acquire(blocking=False):
        source.lock.release()
        return rng
    # draw without the lock: NumPy would wait for it, even to copy the state
    words = [source.ctypes.next_uint64(source.ctypes.state) for _ in range(4)]
    return np.random.Generator(np.random.PCG64(words))


def seed_sequence_of(rng):
    """Return the SeedSequence from which parallel streams are spawned."""
    if isinstance(rng, np.random.SeedSequence):
        return rng
    if isinstance(rng, np.random.Generator):
        return np.random.SeedSequence(rng.integers(1 << 32, size=8).tolist())
    return as_generator(rng).bit_generator.seed_seq


def private_generator(rng):
    """Return a Generator seeded from `rng` that shares no lock with it."""
    if rng is None:
        return np.random.Generator(np.random.PCG64())
    seeds = as_generator(rng).integers(1 << 63, size=4)
    return np.random.Generator(np.random.PCG64(seeds))


def stream_state(generator):
    """Return the state of a PCG64 stream; uint64, shape (6,)."""
    state = generator.bit_generator.state
    words = [number >> shift & MASK for number in state["state"].values() for shift in (64, 0)]
    return np.array([*words, state["has_uint32"], state["uinteger"]], dtype=np.uint64)


def restore_stream(generator, words):
    """Restore the state that `stream_state` returned."""
    words = [int(word) for word in np.asarray(words, dtype=np.uint64)]
    generator.bit_generator.state = {
        "bit_generator": "PCG64",
        "state": {"state": words[0] << 64 | words[1], "inc": words[2] << 64 | words[3]},
        "has_uint32": words[4] & 1,
        "uinteger": words[5] & 0xFFFFFFFF,
    }
