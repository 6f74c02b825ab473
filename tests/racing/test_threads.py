"""Eight threads on one object get correct results or a RuntimeError, nothing else."""

import threading
import time

import numpy as np
import pytest

import pybandit as pb
from pybandit import mcmc

from racing.reference.problems import as_function

MATRIX = np.random.default_rng(0).normal(size=(2000, 3)) * 0.5 + [0.0, 0.5, 1.0]
POINTS = np.random.default_rng(1).normal(size=(2000, 2))
THREADS = 8


def assert_right_or_refused(work, seconds):
    """Call `work(i)` repeatedly in eight threads; it must succeed or raise RuntimeError."""
    wrong, right, end = [], [], time.perf_counter() + seconds

    def run(i):
        while (time.perf_counter() < end or not right) and not wrong:
            try:
                work(i)
                right.append(i)
            except RuntimeError as error:
                if "in use by another thread" not in str(error):
                    wrong.append(error)
            except BaseException as error:
                wrong.append(error)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(seconds + 120)
        assert not thread.is_alive()
    assert not wrong and right, wrong[:3]


def sampler(source, **options):
    one = pb.RacingSampler(source, rng=1, **({"delta": 1e-9} | options))

    def work(i):
        if i % 4 == 3:
            one.log_prior = [0.0, 0.1, 0.2]
            assert one.log_prior.tolist() == [0.0, 0.1, 0.2]
        if i % 4 == 2:
            one.raise_status(0)
            assert one.n_factors == 2000
        states, info = one.draw(20)
        assert set(states.tolist()) == {2} and (info.n_evaluations <= MATRIX.size).all()
        assert one.draw()[0] == 2

    return work


def acceptance(source):
    one = pb.racing.AcceptanceTest(source, delta=1e-9, rng=1)

    def work(i):
        for _ in range(20):
            assert one.test(0.0, rng=i if i % 2 else None).accepted

    return work


def same(call, *given):
    """Return work that repeats one call, which shares only its arguments between threads."""
    expected = call(*given)

    def work(i):
        assert call(*given) == expected

    return work


def chains(make):
    one = make()
    run = dict(n_warmup=1, n_chains=2, rng=1)
    expected = one.sample(3, **run)

    def work(i):
        assert one.sample(3, n_threads=1 + i % 2, **run).identical(expected)

    return work


def controls():
    glm = mcmc.GLMControl(POINTS, POINTS[:, 0], POINTS[:, 1], np.zeros(2))
    points = np.array([[0.1, 0.2], [0.3, 0.4]])
    values, total = glm.changes(points), glm.total_change(points)
    rows = np.arange(2000)
    expected = values(rows, [0]), total()

    def work(i):
        assert np.array_equal(values(rows, [0]), expected[0]) and total() == expected[1]
        assert np.array_equal(glm.changes(points)(rows, [0]), expected[0])

    return work


def one_generator():
    """Return work of samplers that share one generator; all draws must be correct."""
    rng = np.random.default_rng(1)
    ones = [pb.RacingSampler(MATRIX if i % 2 else as_function(MATRIX), delta=1e-9, rng=rng)
            for i in range(THREADS)]

    def work(i):
        assert set(ones[i].draw(10)[0].tolist()) == {2}

    return work


OBJECTS = {
    "sampler of a matrix": lambda: sampler(MATRIX),
    "sampler of a function": lambda: sampler(as_function(MATRIX)),
    "sampler by betting": lambda: sampler(
        MATRIX, delta=None,
        bound=pb.racing.BettingBound(value_range=(-9.0, 9.0), delta=1e-9)),
    "shuffled sampler": lambda: sampler(MATRIX, layout="shuffled"),
    "samplers of one generator": one_generator,
    "acceptance of an array": lambda: acceptance(MATRIX[:, 2].copy()),
    "acceptance of a function": lambda: acceptance(as_function(MATRIX[:, 2:])),
    "race": lambda: same(lambda: pb.race(MATRIX, rng=1)),
    "race of a function": lambda: same(lambda f: pb.race(f, rng=1), as_function(MATRIX)),
    "lil_ucb": lambda: same(lambda: pb.racing.lil_ucb(MATRIX, value_range=20.0, rng=1)),
    "race_populations": lambda: same(lambda arms: pb.racing.race_populations(arms, rng=1),
                                     list(MATRIX.T)),
    "slice_sample": lambda: same(lambda: pb.racing.slice_sample(
        lambda n, x: -0.5 * (MATRIX[n, :1] - x) ** 2, 0.1, n_factors=2000, width=0.1,
        rng=1).to_dict()),
    "evaluate": lambda: same(lambda f: f.evaluate([3, 4], [1]).tolist(), as_function(MATRIX)),
    "moments": lambda: same(lambda moments: pb.racing.taylor_control(
        moments, [[0.0, 0.0]], [0.0, 0.1], np.ones((2, 2))).totals.tolist(),
        pb.racing.PopulationMoments(POINTS)),
    "controls": controls,
    "gibbs of pairs": lambda: chains(lambda: mcmc.RacingGibbs(mcmc.PairwiseTable(
        np.eye(2), [[1] * 300, [0] * 300]), method="poisson")),
    "gibbs": lambda: chains(lambda: mcmc.RacingGibbs(lambda v, x: as_function(MATRIX), 2)),
    "metropolis": lambda: chains(lambda: mcmc.RacingMetropolis(
        lambda n, x: -0.5 * (MATRIX[n, :1] - x[:, 0]) ** 2, 2000, 1)),
    "metropolis by SGLD": lambda: chains(lambda: mcmc.RacingMetropolis(
        lambda n, x: -0.5 * (MATRIX[n, :1] - x[:, 0]) ** 2, 2000, 1,
        proposal=mcmc.SGLD(lambda n, x: (MATRIX[n, :1] - x).sum(axis=0), 1e-4, 50))),
}


@pytest.mark.some(7)
@pytest.mark.parametrize("make", OBJECTS.values(), ids=OBJECTS)
def test_eight_threads_get_correct_results_or_errors(make):
    if "chains" in make.__code__.co_names:
        pytest.importorskip("xarray")
    assert_right_or_refused(make(), 0.3)
