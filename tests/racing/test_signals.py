"""Ctrl-C at random moments: later calls behave as if the interrupted one had not been made."""

import signal
import time

import numpy as np
import pytest

import pybandit as pb
from pybandit import mcmc

from racing.reference.problems import as_function

pytestmark = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers")

MATRIX = np.random.default_rng(0).normal(size=(3000, 3)) * 0.02
MATRIX -= MATRIX.mean(axis=0)
Y = np.random.default_rng(1).normal(0.3, 1.0, 3000)
ARMS = [np.ascontiguousarray(MATRIX[:n, i]) for i, n in enumerate([3000, 2000, 500])]


def interrupted(call, delay):
    """Return True if Ctrl-C, pressed after `delay` seconds, stopped the call."""
    try:
        signal.setitimer(signal.ITIMER_REAL, max(delay, 1e-6))
        try:
            call()
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    except KeyboardInterrupt:
        return True
    return False


@pytest.fixture
def press():
    """Return `interrupted`, with an alarm signal instead of Ctrl-C."""
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    yield interrupted
    signal.signal(signal.SIGALRM, before)


def duration(call):
    """Return the shortest of several durations in seconds; the first call takes longer."""
    times = []
    for _ in range(4):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def likelihood_of_slice(n, points):
    return -0.5 * (Y[n, None] - points) ** 2


# If no order persists between draws, a draw depends on its seed only, and is known bit for bit.
OBJECTS = {
    f"{kind} {indices} {bound}": (kind, indices, dict(bound=bound))
    for kind in ("matrix", "function")
    for indices in ("rejection", "keyed", "permutation")
    for bound in ("student", pb.racing.BettingBound(value_range=(-1.0, 1.0)))
}


@pytest.mark.some(4)
@pytest.mark.parametrize("moments", [50, pytest.param(1000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind, indices, options", OBJECTS.values(), ids=OBJECTS)
def test_a_sampler_continues_after_ctrl_c(press, moments, kind, indices, options):
    source = MATRIX if kind == "matrix" else as_function(MATRIX)
    options = options | {"looks": pb.racing.Looks(indices=indices, max_fraction=1.0)}
    sampler = pb.RacingSampler(source, **options)
    expected = pb.RacingSampler(source, **options).draw(30, rng=5)
    moment, length = np.random.default_rng(2), duration(lambda: sampler.draw(30, rng=1))
    stopped = 0
    for _ in range(moments):
        stopped += press(lambda: sampler.draw(30, rng=moment), moment.uniform(0, length))
        states, info = sampler.draw(30, rng=5)
        if indices == "permutation":  # the draw depends on the order left by earlier ones
            assert (info.n_evaluations <= MATRIX.size).all() and states.min() >= 0
            assert set(sampler.draw(5)[0].tolist()) <= {0, 1, 2}
        else:
            assert np.array_equal(states, expected[0])
            assert info == expected[1]
    assert stopped > moments / 10


def test_an_interrupted_order_stays_a_permutation(press):
    """A draw that reads everything still requests each factor once after interruptions."""
    seen = []

    def function(n, i):
        seen.extend(n.tolist())
        return MATRIX[n][:, i]

    sampler = pb.RacingSampler(pb.Factors(function, *MATRIX.shape), delta=1e-9, rng=1)
    moment, length = np.random.default_rng(3), duration(sampler.draw)
    for _ in range(50):
        press(sampler.draw, moment.uniform(0, length))
        seen.clear()
        info = sampler.draw()[1]
        assert len(set(seen)) == len(seen)
        assert not info.exact or sorted(seen) == list(range(len(MATRIX)))


@pytest.mark.parametrize("moments", [50, pytest.param(1000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", ["array", "function"])
@pytest.mark.parametrize("indices", ["rejection", "keyed"])
def test_an_acceptance_test_continues_after_ctrl_c(press, moments, kind, indices):
    source = MATRIX[:, 0].copy() if kind == "array" else as_function(MATRIX[:, :1])
    looks = pb.racing.Looks(indices=indices)
    test = pb.racing.AcceptanceTest(source, looks=looks)
    expected = pb.racing.AcceptanceTest(source, looks=looks).test(0.01, rng=5)
    moment = np.random.default_rng(2)

    def some():
        for _ in range(20):
            test.test(0.0, rng=moment)

    length, stopped = duration(some), 0
    for _ in range(moments):
        stopped += press(some, moment.uniform(0, length))
        assert test.test(0.01, rng=5) == expected
    assert stopped > moments / 10


CALLS = {
    "race of a matrix": lambda rng: pb.race(MATRIX, rng=rng),
    "race of a function": lambda rng: pb.race(as_function(MATRIX), rng=rng),
    "accept": lambda rng: pb.racing.accept(MATRIX[:, 0], rng=rng),
    "lil_ucb": lambda rng: pb.racing.lil_ucb(MATRIX, value_range=1.0, rng=rng),
    "lil_ucb of a function": lambda rng: pb.racing.lil_ucb(
        as_function(MATRIX[:200]), value_range=1.0, rng=rng),
    "race_populations": lambda rng: pb.racing.race_populations(ARMS, rng=rng),
    "populations of a function": lambda rng: pb.racing.race_populations(
        pb.racing.Populations(lambda n, i: ARMS[i[0]][n, None], [len(arm) for arm in ARMS]),
        rng=rng),
    "slice_sample": lambda rng: pb.racing.slice_sample(likelihood_of_slice, 0.3, n_factors=Y.size,
                                                       width=0.1, rng=rng).to_dict(),
    "exact_sample": lambda rng: pb.racing.exact_sample(as_function(MATRIX), rng=rng),
}


@pytest.mark.parametrize("moments", [50, pytest.param(1000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_single_calls_leave_the_generator_usable_after_ctrl_c(press, moments, call):
    """The shared generator is unlocked and usable after an interruption."""
    expected, shared = call(5), np.random.default_rng(4)

    def some():
        for _ in range(5):
            call(shared)

    moment, length, stopped = np.random.default_rng(2), duration(some), 0
    for _ in range(moments):
        stopped += press(some, moment.uniform(0, length))
        assert shared.bit_generator.lock.acquire(blocking=False)
        shared.bit_generator.lock.release()
        assert call(5) == expected
    assert stopped > moments / 10


def gibbs():
    return mcmc.RacingGibbs(lambda v, x: as_function(MATRIX), 2)


def gibbs_of_pairs():
    return mcmc.RacingGibbs(mcmc.PairwiseTable(np.eye(3), np.arange(400)[::-1, None]))


def metropolis():
    return mcmc.RacingMetropolis(lambda n, points: -0.5 * (Y[n, None] - points[:, 0]) ** 2,
                                 Y.size, 1, proposal=mcmc.RandomWalk(0.05))


@pytest.mark.parametrize("moments", [10, pytest.param(1000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("make", [gibbs, gibbs_of_pairs, metropolis])
def test_chains_continue_after_ctrl_c(press, moments, threads, make):
    pytest.importorskip("xarray")
    sampler, run = make(), dict(n_warmup=2, n_chains=2, n_threads=threads)
    expected = make().sample(5, rng=5, **run)
    moment = np.random.default_rng(2)
    length, stopped = duration(lambda: sampler.sample(5, rng=1, **run)), 0
    for _ in range(moments):
        stopped += press(lambda: sampler.sample(5, rng=1, **run), moment.uniform(0, length))
        assert sampler.sample(5, rng=5, **run).identical(expected)
    assert stopped > moments / 10
