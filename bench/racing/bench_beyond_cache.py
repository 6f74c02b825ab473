"""Draws from a matrix four times as large as the last cache, compared with streaming sums in C.

Run with ``make bench``, which writes the table of docs/explanation/numbers.md from these ratios and
those of bench_race.py, whose matrix of 8 MB fits into the cache of most machines.
"""

import ctypes

import numpy as np
import pytest

import pybandit as pb

from native import last_cache, pointer, size

D = 10
DECIDED = np.arange(D) * 1e3  # so uneven a prior that a race decides at its first look
SHARES = {"0.5% read at each draw": 200, "5% read at each draw": 20}  # one row in so many
i64 = ctypes.c_int64
N = size(max(1_000_000, 4 * last_cache() // (8 * D)), 5_000)
DRAWS = 20


@pytest.fixture(scope="module")
def large():
    """Return unit rewards of ten states with equal means."""
    rewards = np.random.default_rng(2016).normal(size=(N, D))
    rewards -= rewards.mean(axis=0)
    return rewards / rewards.std(axis=0)


@pytest.mark.parametrize("case", SHARES)
@pytest.mark.parametrize("role", ["exact, streaming sums in C", "draw", "draw, shuffled layout"])
def test_beyond_the_cache(timed, limits, large, case, role):
    """Draw a ten-state variable, reading a share of the rows at each draw."""
    group = f"{case}, beyond the cache"
    if role.startswith("exact"):
        sums, rng = np.zeros(D), np.random.default_rng(4)

        def exact():
            limits.limit_stream_10(pointer(large), i64(N), pointer(sums))
            return np.argmax(sums + rng.gumbel(size=D))

        timed(group, role, exact, rounds=5)
        return
    sampler = pb.RacingSampler(large * 1e-9, DECIDED,
                               looks=pb.racing.Looks(first=N // SHARES[case], max_fraction=1.0),
                               rng=1, layout="gather" if role == "draw" else "shuffled")
    timed(group, role, lambda: sampler.draw(DRAWS), per=DRAWS, rounds=5)
