"""Functions called in threads see the context variables of the caller."""

import asyncio
import contextvars
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import pybandit as pb

SETTING = contextvars.ContextVar("SETTING", default="lost")
Y = np.linspace(-1.0, 1.0, 500)


class Seen:
    """Settings seen by functions, and the threads in which they were called."""

    def __init__(self):
        self.settings, self.threads = set(), set()

    def look(self):
        self.settings.add(SETTING.get())
        self.threads.add(threading.get_ident())


def simulate(seen, **options):
    def factory(environment):
        seen.look()
        return pb.policies.RoundRobin(2, 1, batch_size=2, max_batches=20)

    def metric(policy, environment):
        seen.look()
        return 0.0

    return pb.simulate(factory, pb.environments.BernoulliBandit([0.2, 0.7]), 200, rng=1,
                       metrics={"metric": metric}, **options)


def judge_of(seen):
    def judge(model, item):
        seen.look()
        return (item * 7919 % 101 + 30 * model) / 200

    return judge


def best_of(seen, **options):
    return pb.best_of(judge_of(seen), 3, 50, value_range=(0, 1), rng=1, **options)




def estimators(seen, executor):
    def function(rng):
        seen.look()
        return rng.normal()

    return pb.combine_estimators([function, function], 60, executor=executor, rng=1)


def metropolis(seen):
    def log_likelihood(n, points):
        seen.look()
        return -0.5 * (Y[n, None] - points[:, 0]) ** 2

    return pb.mcmc.RacingMetropolis(
        log_likelihood, Y.size, 1, proposal=pb.mcmc.RandomWalk(0.05)).sample(
        20, n_warmup=20, n_chains=4, n_threads=3, rng=1)


def gibbs(seen):
    def conditional(variable, state):
        seen.look()
        return pb.Factors(lambda n, states: np.zeros((n.size, states.size)), 30, 2)

    return pb.mcmc.RacingGibbs(conditional, 3).sample(
        20, n_warmup=5, n_chains=4, n_threads=3, rng=1)


def with_pool(call):
    def run(seen):
        with ThreadPoolExecutor(3) as pool:
            return call(seen, executor=pool)

    return run


CALLS = {
    "simulate": lambda seen: simulate(seen, n_threads=3),
    "simulate: executor": with_pool(simulate),
    "best_of": lambda seen: best_of(seen, calls=pb.Calls(concurrency=8)),
    "best_of: executor": with_pool(
        lambda seen, executor: best_of(seen, calls=pb.Calls(executor=executor))),
    "best_of: executor that is made": lambda seen: best_of(
        seen, calls=pb.Calls(executor=lambda: ThreadPoolExecutor(3))),
    "best_of: timeout": lambda seen: best_of(seen, calls=pb.Calls(concurrency=8, timeout=60.0)),
    "best_of_async": lambda seen: asyncio.run(
        pb.best_of_async(judge_of(seen), 3, 50, value_range=(0, 1), rng=1)),
    "combine_estimators": with_pool(estimators),
    "RacingMetropolis.sample": metropolis,
    "RacingGibbs.sample": gibbs,
}


@pytest.mark.parametrize("name", CALLS)
def test_functions_in_threads_see_the_callers_context(name):
    seen = Seen()
    token = SETTING.set("kept")
    try:
        CALLS[name](seen)
    finally:
        SETTING.reset(token)
    assert seen.settings == {"kept"}
    assert seen.threads - {threading.get_ident()}, "no thread was tested"


def test_threads_do_not_share_what_they_set():
    """Each call has a copy of the context; its changes reach neither the caller nor other calls."""
    found = []

    def judge(model, item):
        found.append(SETTING.get())
        SETTING.set(f"{model}, {item}")
        return 0.5 + 0.1 * model

    pb.best_of(judge, 3, 50, value_range=(0, 1), rng=1, calls=pb.Calls(concurrency=8))
    assert set(found) == {"lost"} and SETTING.get() == "lost"


def test_error_settings_of_numpy_reach_threads():
    def metric(policy, environment):
        return float(np.geterr()["over"] == "raise")

    with np.errstate(over="raise"):
        result = pb.simulate(lambda _: pb.policies.RoundRobin(2, 1, batch_size=2, max_batches=20),
                             pb.environments.BernoulliBandit([0.2, 0.7]), 50, rng=1, n_threads=2,
                             metrics={"metric": metric})
    assert result.metrics["metric"].all()
