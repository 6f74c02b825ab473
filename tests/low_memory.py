"""Calls that start threads while memory runs out: they return or raise, and can be repeated.

The program runs the call named by its argument repeatedly. Public functions run with a limited
address space, so that a thread cannot be started or has no memory. Failing allocations of Python
are tested one by one only in the functions that start and end threads: elsewhere Python 3.11 and
NumPy themselves crash.
"""

import asyncio
import contextlib
import faulthandler
import json
import os
import resource
import sys
import time

import numpy as np

import pybandit as pb
from pybandit._shared.threads import in_threads
from pybandit._shared.worker import Stop, Worker, run_together

STACK = 8 << 20
SIZES = [stacks * STACK + more for stacks in range(4)
         for more in (0, 1 << 14, 1 << 16, 1 << 18, 1 << 20, 3 << 20, 6 << 20)]
SECONDS = 20.0  # time limit of each call
Y = np.linspace(-1.0, 1.0, 500)


def factory(environment):
    return pb.policies.RoundRobin(2, 1, batch_size=2, max_batches=20)


BANDIT = pb.environments.BernoulliBandit([0.2, 0.7])
SAMPLER = pb.mcmc.RacingMetropolis(
    lambda n, points: -0.5 * (Y[n, None] - points[:, 0]) ** 2, Y.size, 1,
    proposal=pb.mcmc.RandomWalk(0.05))


def simulate(**options):
    return pb.simulate(factory, BANDIT, 24, rng=1, **options).pulls.tolist()


def in_python():
    class Plain(pb.policies.RoundRobin):
        def ask(self):
            return super().ask()

    return pb.simulate(lambda _: Plain(2, 1, batch_size=2, max_batches=20), BANDIT, 24, rng=1,
                       n_threads=3).pulls.tolist()


def judge(model, item):
    return (item * 7919 % 101 + 30 * model) / 200


def best_of(**options):
    return pb.best_of(judge, 3, 40, value_range=(0, 1), rng=1, **options).best


def best_of_async():
    return asyncio.run(pb.best_of_async(judge, 3, 40, value_range=(0, 1), rng=1,
                                        calls=pb.Calls(concurrency=4))).best


def chains():
    return SAMPLER.sample(10, n_warmup=10, n_chains=3, n_threads=3,
                          rng=1)["posterior"]["x"].values.tolist()


CALLS = {
    "simulate": lambda: simulate(n_threads=3),
    "simulate: Python": in_python,
    "best_of": lambda: best_of(calls=pb.Calls(concurrency=4)),
    "best_of: timeout": lambda: best_of(calls=pb.Calls(concurrency=4, timeout=10.0)),
    "best_of_async": best_of_async,
    "chains": chains,
}


@contextlib.contextmanager
def space(extra):
    before = resource.getrlimit(resource.RLIMIT_AS)
    with open("/proc/self/statm") as file:
        used = int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    resource.setrlimit(resource.RLIMIT_AS, (used + extra, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


@contextlib.contextmanager
def allocation(n):
    """Let Python's allocations fail from the n-th on."""
    import _testcapi

    _testcapi.set_nomemory(n, 0)
    try:
        yield
    finally:
        _testcapi.remove_mem_hooks()


def tasks():
    done = [0] * 6

    def run(i):
        done[i] = 1

    in_threads(run, 6, 3, Stop())
    return done


def started():
    workers = [Worker(abs) for _ in range(2)]  # abs() without arguments raises
    with contextlib.suppress(TypeError):
        run_together(workers, Stop())
    return [worker.over for worker in workers]


def answer():
    """Call a judge as `best_of` does, twice in the same thread; memory runs out in it, too."""
    from pybandit._shared.call_threads import Threads

    pool = Threads(None)
    try:
        for _ in range(2):
            call = pool.submit(judge, 1, 2)
            while not call.done():
                call.settle()
                time.sleep(0.002)
        return call.result()
    finally:
        pool.shutdown()


ALLOCATING = {"tasks": tasks, "started": started, "answer": answer}


def n_threads():
    return len(os.listdir("/proc/self/task"))


def settled(n):
    """Return the number of threads, after waiting until at most n are left."""
    end = time.monotonic() + SECONDS
    while n_threads() > n and time.monotonic() < end:
        time.sleep(0.002)
    return n_threads()


def attempt(call, limit):
    """Return result, error and seconds of a call under a limit."""
    found, start = None, time.monotonic()
    with limit:
        try:
            found = call()
        except BaseException as error:
            return None, error, time.monotonic() - start
    return found, None, time.monotonic() - start


def main(name):
    if name in CALLS:
        call, limits = CALLS[name], [space(size) for size in SIZES]
    else:
        call, limits = ALLOCATING[name], [allocation(n) for n in range(120)]
    expected = call()
    time.sleep(0.2)
    before, errors, longest = n_threads(), {}, 0.0
    for limit in limits:
        faulthandler.dump_traceback_later(SECONDS, exit=True)  # starts a thread
        found, error, seconds = attempt(call, limit)
        longest = max(longest, seconds)
        faulthandler.cancel_dump_traceback_later()
        assert settled(before) <= before, f"{n_threads()} threads are left, of {before}"
        if error is None:
            assert found == expected, (found, expected)
        else:
            error = error.__class__.__name__
            errors[error] = errors.get(error, 0) + 1
        assert call() == expected
    print(json.dumps({"errors": errors, "calls": len(limits), "longest": longest}))


if __name__ == "__main__":
    main(sys.argv[1])
