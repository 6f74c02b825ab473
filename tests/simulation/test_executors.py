"""Runs in executors: the result depends neither on the executor nor on its size."""

import numpy as np
import pytest

import pybandit as pb

from simulation.arms import (
    FOUR,
    GAUSSIAN,
    MEANS,
    OPTIONS,
    Coins,
    InTurn,
    assert_equal,
    assert_same,
    draw_coins,
    make_in_turn,
)


def test_result_does_not_depend_on_the_executor():
    from concurrent.futures import ThreadPoolExecutor

    for make, environment in ((make_in_turn, Coins(MEANS)), (pb.policies.TopTwo(8), draw_coins),
                              (make_in_turn, pb.environments.TableBandit(np.eye(8)))):
        options = dict(rng=3, max_pulls=45, checkpoints=[9, 45], arm_pulls_by_run=True)
        alone = pb.simulate(make, environment, 150, **options)
        for workers in (1, 4):
            with ThreadPoolExecutor(workers) as executor:
                assert_same(pb.simulate(make, environment, 150, executor=executor, **options),
                            alone)
    with ThreadPoolExecutor(2) as executor:
        both = pb.compare(FOUR, GAUSSIAN, 10, rng=1, executor=executor, **OPTIONS)
    assert_equal(both, pb.compare(FOUR, GAUSSIAN, 10, rng=1, **OPTIONS))


def length(policy, environment):
    return policy.n_pulls + environment.means[0]


def test_result_does_not_depend_on_processes():
    import concurrent.futures
    import multiprocessing

    context = multiprocessing.get_context("fork")
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as executor:
        found = pb.simulate(make_in_turn, draw_coins, 70, rng=3, executor=executor,
                            metrics=[length])
        assert_same(found, pb.simulate(make_in_turn, draw_coins, 70, rng=3, metrics=[length]))
        with pytest.raises(TypeError, match="policy, environment and metrics must be pick"):
            pb.simulate(lambda e: InTurn(8, 2), GAUSSIAN, 3, executor=executor)


class Client:
    """A Dask-like client: `submit` returns a future with a result."""

    def __init__(self):
        self.cancelled = 0

    def submit(self, function):
        return Client.Future(self, function)

    class Future:
        def __init__(self, client, function):
            self.client, self.result = client, function

        def cancel(self):
            self.client.cancelled += 1


def test_dask_like_client_is_accepted():
    client = Client()
    assert_same(pb.simulate(make_in_turn, GAUSSIAN, 20, rng=1, executor=client),
                pb.simulate(make_in_turn, GAUSSIAN, 20, rng=1))
    assert client.cancelled == 0

    def fails(environment):
        raise KeyError("in the factory")

    with pytest.raises(KeyError, match="in the factory"):
        pb.simulate(fails, GAUSSIAN, 20, executor=client)
    assert client.cancelled == 20

    def draw(rng):
        return Coins(rng.random(2 + rng.integers(2)))

    with pytest.raises(ValueError, match="environment must have the same number of arms in every"):
        pb.simulate(make_in_turn, draw, 200, rng=1, executor=client)


def test_invalid_executors_raise():
    for executor in (3, "threads", object):
        with pytest.raises(TypeError, match="executor must be a concurrent.futures.Executor"):
            pb.simulate(make_in_turn, GAUSSIAN, 2, executor=executor)
    with pytest.raises(ValueError, match="n_threads must be None if an executor is given"):
        pb.simulate(make_in_turn, GAUSSIAN, 2, executor=Client(), n_threads=2)
