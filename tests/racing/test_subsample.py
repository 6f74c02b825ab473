"""Index streams: reference implementation, and distribution of every prefix."""

import collections

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from pybandit.racing._track import Subsample

from _shared.reference.bits import Bits
from racing.reference import subsample as reference

KINDS = list(reference.KINDS)
RUNS = ("blocks", "groups")
# probability that a correct stream fails; seeds are fixed, so the tests repeat exactly
SMALLEST_P = 1e-7
PREFIXES = [(1, 1), (2, 1), (2, 2), (3, 2), (4, 4), (7, 1), (7, 3), (10, 2)]
PREFIXES += [(5, length) for length in range(1, 6)]

streams = st.tuples(
    st.sampled_from(KINDS), st.integers(1, 300), st.integers(1, 40), st.integers(0, 2**32)
)


def read(kind, size, n, seed, run=1):
    """Return the first n indices of a new order."""
    stream, rng = Subsample(kind, size, run), np.random.default_rng(seed)
    stream.restart(rng)
    return stream.next(n, rng)


def make_pair(kind, size, run, seed):
    run = min(run, size) if kind in RUNS else 1
    kernel = Subsample(kind, size, run), np.random.default_rng(seed)
    return kernel, (reference.KINDS[kind](size, run), Bits(seed))


@settings(max_examples=150, deadline=None)
@given(stream=streams, shares=st.lists(st.floats(0, 1), min_size=1, max_size=5))
def test_streams_equal_the_reference_over_several_orders(stream, shares):
    """Only a part of each order is read before the next order starts."""
    (kernel, rng), (plain, bits) = make_pair(*stream)
    for share in shares:
        kernel.restart(rng)
        plain.restart(bits)
        n = round(share * stream[1])
        assert kernel.next(n, rng).tolist() == plain.next(bits, n)


@settings(max_examples=150, deadline=None)
@given(stream=streams, cuts=st.lists(st.integers(0, 300), max_size=6))
def test_splitting_a_read_does_not_change_the_order(stream, cuts):
    kind, size, run, seed = stream
    (whole, rng_whole), _ = make_pair(*stream)
    (split, rng_split), _ = make_pair(*stream)
    for _ in range(2):
        whole.restart(rng_whole)
        split.restart(rng_split)
        edges = [0, *sorted(min(cut, size) for cut in cuts), size]
        pieces = [split.next(b - a, rng_split) for a, b in zip(edges, edges[1:], strict=False)]
        assert np.concatenate(pieces).tolist() == whole.next(size, rng_whole).tolist()
    assert rng_whole.integers(2**60) == rng_split.integers(2**60)


@settings(max_examples=100, deadline=None)
@given(stream=streams)
def test_orders_hold_every_index_once(stream):
    kind, size, run, seed = stream
    run = min(run, size) if kind in RUNS else 1
    order = read(kind, size, size, seed, run)
    assert order.dtype == np.int64
    assert np.array_equal(np.sort(order), np.arange(size))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [65_536, 99_991, 1_000_003])
def test_large_orders_hold_every_index_once(kind, size):
    order = read(kind, size, size, 3, run=64 if kind in RUNS else 1)
    assert np.array_equal(np.sort(order), np.arange(size))


def test_keyed_streams_take_huge_populations():
    size = 2**60 + 7
    order = read("keyed", size, 20_000, 3)
    assert len(np.unique(order)) == 20_000
    assert order.min() >= 0 and order.max() < size
    assert stats.kstest(order / size, "uniform").pvalue > SMALLEST_P


def prefix_counts(kind, size, run, length, n_orders, seed):
    """Return the number of occurrences of each prefix over many orders of one stream."""
    stream, rng = Subsample(kind, size, run), np.random.default_rng(seed)
    counts = collections.Counter()
    for _ in range(n_orders):
        stream.restart(rng)
        counts[tuple(stream.next(length, rng).tolist())] += 1
    return counts


def chi_square_p(counts, law):
    assert set(counts) <= set(law)
    n = sum(counts.values())
    observed = [counts[prefix] for prefix in law]
    return stats.chisquare(observed, [n * float(p) for p in law.values()]).pvalue


@pytest.mark.some(13)
@pytest.mark.parametrize("kind", ["permutation", "rejection", "keyed"])
@pytest.mark.parametrize("size, length", PREFIXES)
def test_every_prefix_is_uniform(kind, size, length):
    counts = prefix_counts(kind, size, 1, length, 30_000, seed=11)
    law = reference.uniform_law(size, length)
    if len(law) > 1:
        assert chi_square_p(counts, law) > SMALLEST_P


@pytest.mark.parametrize("size, run", [(5, 2), (6, 2), (6, 4), (7, 3), (4, 4), (3, 1)])
def test_every_prefix_of_blocks_has_its_probability(size, run):
    for length in range(1, size + 1):
        law = reference.block_law(size, run, length)
        counts = prefix_counts("blocks", size, run, length, 10_000, seed=13)
        assert chi_square_p(counts, law) > SMALLEST_P
        inclusion = collections.Counter()
        for prefix, p in law.items():
            inclusion.update(dict.fromkeys(prefix, p))
        assert all(share * size == length for share in inclusion.values())


@pytest.mark.parametrize("kind", KINDS)
def test_successive_orders_are_independent(kind):
    """All pairs of first indices of successive orders are equally likely."""
    size, run = 6, 2 if kind in RUNS else 1
    unit = run if kind == "groups" else 1  # groups start at multiples of run
    stream, rng = Subsample(kind, size, run), np.random.default_rng(17)
    firsts = []
    for order in range(60_001):
        stream.restart(rng)
        firsts.append(stream.next(1 + order % 4, rng)[-1] // unit)
    counts = np.zeros((size // unit, size // unit))
    np.add.at(counts, (firsts[:-1], firsts[1:]), 1)
    assert stats.chisquare(counts.ravel()).pvalue > SMALLEST_P


def test_positions_far_apart_are_uniform_in_pairs():
    """The 1st and 40th index of a larger population are uniform on a 5 x 5 grid."""
    for kind in ("permutation", "rejection", "keyed"):
        stream, rng = Subsample(kind, 1000, 1), np.random.default_rng(19)
        cells = np.zeros((5, 5))
        for _ in range(20_000):
            stream.restart(rng)
            order = stream.next(40, rng)
            cells[order[0] // 200, order[39] // 200] += 1
        assert stats.chisquare(cells.ravel()).pvalue > SMALLEST_P
