"""Child processes of a fork during a draw."""

import os
import threading

import numpy as np
import pytest

import pybandit as pb

pytestmark = [pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork"),
              pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")]

MATRIX = np.random.default_rng(0).normal(size=(400, 3)) + [0.0, 1.0, 2.0]
RATIOS = MATRIX[:, :1]


def in_child(work):
    """Return True if `work` returns a true value in a forked child process within seconds."""
    child = os.fork()
    if not child:
        status = 1
        try:
            threading.Timer(20, os._exit, (2,)).start()
            status = 0 if work() else 1
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


class Pause:
    """Function of factors that waits in a thread until it is released."""

    def __init__(self, matrix):
        self.matrix, self.inside, self.go = matrix, threading.Event(), threading.Event()
        self.waits = True

    def __call__(self, n, i):
        if self.waits:
            self.inside.set()
            self.go.wait()
        return self.matrix[np.ix_(n, i)]


@pytest.mark.parametrize("indices", ["permutation", "rejection", "keyed"])
@pytest.mark.parametrize("kind", ["sampler", "test"])
def test_a_forked_child_draws_with_a_sampler_in_use(kind, indices):
    function = Pause(MATRIX if kind == "sampler" else RATIOS)
    factors = pb.Factors(function, *function.matrix.shape)
    if kind == "sampler":
        one = pb.RacingSampler(factors, looks=pb.racing.Looks(indices=indices), rng=1)
        call = one.draw
    else:
        one = pb.racing.AcceptanceTest(factors, looks=pb.racing.Looks(indices=indices), rng=1)
        call = one.test
    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    function.inside.wait()

    def draws():
        function.waits = False
        exact = kind == "test" or set(one.draw(200)[0].tolist()) == {2}
        found = [call() for _ in range(20)]
        return exact and all(one[0] == 2 if kind == "sampler" else one.n_looks for one in found)

    assert in_child(draws)
    with pytest.raises(RuntimeError, match="in use by another thread"):
        call()
    function.go.set()
    thread.join()
    function.waits = False
    call()


def test_a_forked_child_does_not_wait_for_a_locked_generator():
    function, rng = Pause(MATRIX), np.random.default_rng(1)
    sampler = pb.RacingSampler(pb.Factors(function, *MATRIX.shape), rng=rng)
    held, over = threading.Event(), threading.Event()

    def hold():  # acts like a kernel, which holds the lock but not the GIL
        with rng.bit_generator.lock:
            held.set()
            over.wait()

    thread = threading.Thread(target=sampler.draw, daemon=True)
    thread.start()
    function.inside.wait()
    holder = threading.Thread(target=hold, daemon=True)
    holder.start()
    held.wait()

    def draws():
        function.waits = False
        return sampler.draw()[0] == 2

    assert in_child(draws)
    over.set()
    function.go.set()
    holder.join()
    thread.join()


def test_a_function_that_forks_continues_in_both_processes():
    seen = []

    def function(n, i):
        if not seen:
            seen.append(os.fork())
        return MATRIX[np.ix_(n, i)]

    def refused():
        try:
            sampler.draw()
        except RuntimeError as error:
            return "a function that it calls cannot change it" in str(error)

    def forks_and_draws(n, i):
        if not seen:
            seen.append(in_child(refused))
        return MATRIX[np.ix_(n, i)]

    sampler = pb.RacingSampler(pb.Factors(function, *MATRIX.shape), rng=1)
    state, _ = sampler.draw()
    if seen == [0]:
        os._exit(0 if state == 2 and sampler.draw()[0] == 2 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(seen[0], 0)[1]) == 0
    assert state == 2
    seen.clear()
    sampler = pb.RacingSampler(pb.Factors(forks_and_draws, *MATRIX.shape), rng=1)
    assert sampler.draw()[0] == 2 and seen == [True]
