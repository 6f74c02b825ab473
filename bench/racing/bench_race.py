"""Time of races, compared with their memory reads alone and with exact sampling.

Run with ``make bench``. The first role of a group is the limit or the alternative; the
others are reported as multiples of it.
"""

import ctypes

import numpy as np
import pytest

import pybandit as pb
from pybandit.racing._track import Subsample

from native import bits_of, pointer

N, D = 100_000, 10
LOG_P = np.log(np.arange(1, D + 1) / 55)
DRAWS = 50
i64 = ctypes.c_int64

# A prior so uneven that a race decides at its first look, whatever the noise. It therefore reads
# first_look rows.
DECIDED = np.arange(D) * 1e3


def decided_sampler(population, rows, layout="gather"):
    return pb.RacingSampler(population * 1e-9, DECIDED,
                            looks=pb.racing.Looks(first=rows, max_fraction=1.0), layout=layout,
                            rng=1)


@pytest.mark.parametrize("rows", [50, 1000, 5000, 10_000])
@pytest.mark.parametrize("role", ["bare gather", "bare shuffle and gather", "draw",
                                  "draw, shuffled layout", "race"])
def test_against_the_limit(timed, limits, population, rows, role):
    """The limit is the sums and squares of the same number of random rows."""
    rng = np.random.default_rng(3)
    sums, squares = np.zeros(D), np.zeros(D)
    group = f"{rows} of {N} rows, {D} states"
    if role == "bare gather":
        orders = iter(range(10**9))
        indices = [rng.permutation(N)[:rows] for _ in range(64)]
        timed(group, role, lambda: limits.limit_gather_10(
            pointer(population), pointer(indices[next(orders) % 64]), i64(rows),
            pointer(sums), pointer(squares)))
    elif role == "bare shuffle and gather":
        permutation = np.arange(N)
        timed(group, role, lambda: limits.limit_shuffle_gather_10(
            bits_of(rng), pointer(permutation), i64(N), pointer(population), i64(rows),
            pointer(sums), pointer(squares)))
    elif role == "race":
        rewards = population * 1e-9
        timed(group, role,
              lambda: pb.race(rewards, DECIDED, looks=pb.racing.Looks(first=rows), rng=rng))
    else:
        layout = "gather" if role == "draw" else "shuffled"
        sampler = decided_sampler(population, rows, layout)
        _, info = sampler.draw(DRAWS)
        assert (info.n_evaluations == rows * D).all()
        timed(group, role, lambda: sampler.draw(DRAWS), per=DRAWS)


@pytest.mark.parametrize("rows", [1024, 8192])
@pytest.mark.parametrize("role", ["bare shuffle and gather", "EBS, pairwise", "EBS, marginal",
                                  "Racing-Normal, pairwise", "Racing-Normal, marginal"])
def test_bounds_against_the_limit(timed, limits, population, rows, role):
    """One look with each bound of the paper; the limit reads the same number of random rows."""
    rng, rewards = np.random.default_rng(3), population * 1e-9
    group = f"a race that reads {rows} of {N} rows, {D} states"
    if role.startswith("bare"):
        permutation, sums, squares = np.arange(N), np.zeros(D), np.zeros(D)
        timed(group, role, lambda: limits.limit_shuffle_gather_10(
            bits_of(rng), pointer(permutation), i64(N), pointer(population), i64(rows),
            pointer(sums), pointer(squares)))
        return
    bound = (pb.racing.EBSBound(value_range=np.ptp(rewards, axis=0)) if role.startswith("EBS")
             else pb.racing.NormalBound())
    looks = pb.racing.Looks(first=rows, variance=role.partition(", ")[2])
    assert pb.race(rewards, DECIDED, bound=bound, looks=looks, rng=rng).n_evaluations == rows * D
    timed(group, role, lambda: pb.race(rewards, DECIDED, bound=bound, looks=looks, rng=rng))


@pytest.mark.parametrize("role", ["bare streaming sums", "EBS, pairwise", "EBS, marginal",
                                  "Racing-Normal, pairwise", "Racing-Normal, marginal"])
def test_bounds_of_undecided_races(timed, limits, population, role):
    """All looks are undecided: from 2 rows with EBS, from 50 with Racing-Normal."""
    rng, rewards = np.random.default_rng(3), 0.1 * population
    group = f"an undecided race of {N} rows, {D} states"
    if role.startswith("bare"):
        sums = np.zeros(D)
        timed(group, role, lambda: limits.limit_stream_10(pointer(population), i64(N),
                                                          pointer(sums)))
        return
    bound = (pb.racing.EBSBound(value_range=np.ptp(rewards, axis=0), delta=1e-9)
             if role.startswith("EBS") else pb.racing.NormalBound(delta=1e-9))
    looks = pb.racing.Looks(variance=role.partition(", ")[2])
    timed(group, role, lambda: pb.race(rewards, bound=bound, looks=looks, rng=rng), rounds=15)


CASES = {
    "0.5% read at each draw": (None, 500),
    "5% read at each draw": (None, 5000),
    "0.5% read on average (sigma 1e-5, delta .05)": (1e-5, 50),
    "5% read on average (sigma 1e-4, delta .05)": (1e-4, 50),
    "everything read (sigma 0.1, delta .001)": (0.1, 50),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("role", ["exact, streaming sums in C", "draw", "draw, shuffled layout"])
def test_against_exact_sampling(timed, limits, population, case, role):
    """Draw a ten-state variable with 1e5 factors."""
    sigma, first_look = CASES[case]
    rng = np.random.default_rng(4)
    if role.startswith("exact"):
        sums = np.zeros(D)

        def exact():
            limits.limit_stream_10(pointer(population), i64(N), pointer(sums))
            return np.argmax(sums + rng.gumbel(size=D))

        timed(case, role, exact)
        return
    layout = "gather" if role == "draw" else "shuffled"
    if sigma is None:
        sampler = decided_sampler(population, first_look, layout)
    else:
        delta = 0.001 if sigma == 0.1 else 0.05
        sampler = pb.RacingSampler(LOG_P / N + sigma * population, bound="normal", delta=delta,
                                   layout=layout, rng=1)
    draws = DRAWS if sigma == 0.1 else 40 * DRAWS
    timed(case, role, lambda: sampler.draw(draws), per=draws, rounds=15)


@pytest.mark.parametrize("size", [4096, 100_000])
@pytest.mark.parametrize("kind", ["bare shuffle", "permutation", "rejection", "blocks", "keyed"])
def test_index_streams(timed, limits, size, kind):
    """Time per index, if half of the population is drawn; the limit is a Fisher-Yates prefix."""
    rng = np.random.default_rng(5)
    if kind == "bare shuffle":
        permutation = np.arange(size)
        timed(f"index of {size}", kind, lambda: limits.limit_shuffle(
            bits_of(rng), pointer(permutation), i64(size), i64(size // 2)), per=size // 2)
        return
    stream = Subsample(kind, size, 64 if kind == "blocks" else 1)

    def draw():
        stream.restart(rng)
        stream.next(size // 2, rng)

    timed(f"index of {size}", kind, draw, per=size // 2)


N_NODES = 29  # of the quadrature with looks that double


def test_boundary_limit(timed, limits):
    """The exponentials and products of one evaluation of the error, with eleven looks.

    A solution has two or three such evaluations, and about four with half of the nodes.
    """
    points, density, following = np.linspace(-6.7, 3.0, N_NODES), np.ones(N_NODES), \
        np.zeros(N_NODES)
    timed("a boundary not solved before", "bare evaluation of the error",
          lambda: limits.limit_first_passage(pointer(points), i64(N_NODES), i64(9),
                                             pointer(density), pointer(following)))


@pytest.mark.parametrize("convention", ["one-sided", "two-sided", "union"])
def test_boundary(timed, convention):
    """Solve for one B with eleven looks that is not cached."""
    deltas = iter(np.linspace(0.01, 0.2, 10**6))
    timed("a boundary not solved before", convention,
          lambda: pb.bounds.b_normal(next(deltas), 0.0005, convention=convention))


def test_boundary_again(timed):
    """Return the same B from the cache."""
    timed("a boundary not solved before", "cached",
          lambda: pb.bounds.b_normal(0.05, 0.0005))


@pytest.mark.parametrize("role", ["the function alone", "draw with the function"])
def test_callback(timed, population, role):
    """One look at a Python function; the difference is the cost of the draw."""
    rows = np.ascontiguousarray(population[:50] * 1e-9)
    indices, states = np.arange(50), np.arange(D)

    def function(factors, chosen):
        return rows

    group = "a look at a Python function of 50 factors"
    if role == "the function alone":
        timed(group, role, lambda: [function(indices, states) for _ in range(DRAWS)], per=DRAWS)
        return
    sampler = pb.RacingSampler(pb.Factors(function, N, D), DECIDED, rng=1)
    timed(group, role, lambda: sampler.draw(DRAWS), per=DRAWS)
