"""Eight threads on one policy: each call is executed whole or refused with a RuntimeError."""

import re
import sys
import threading
import time

import numpy as np
import pytest

import pybandit as pb

from policies.every_class import EVERY, FAST, played, tell

N_THREADS = 8


def costs_are_observed(policy):
    """Return True if costs are reported; then runs beyond the budget are not counted as pulls."""
    return getattr(policy, "costs", None) == "told"


def all_counted(policy, pulls, n_pulls):
    return pulls.sum() == n_pulls or costs_are_observed(policy) and pulls.sum() < n_pulls


def hammer(policy, seconds):
    """Use a policy in many threads; return unexpected errors and the number of tells."""
    wrong, n_tells, end = [], [0] * N_THREADS, time.monotonic() + seconds

    def work(thread):
        while time.monotonic() < end or not any(n_tells):
            try:
                if policy.done:
                    break
                arms = policy.ask()
                tell(policy, arms, np.full(arms.size, 0.5))
                n_tells[thread] += 1
                policy.recommend(), policy.means, policy.variances, repr(policy)
                assert policy.n_batches >= n_tells[thread] and policy.n_pulls > 0
                if n_tells[thread] % 7 == 1:
                    shown(policy)
                if n_tells[thread] % 7 == 0 and hasattr(policy, "get_state"):
                    state = policy.get_state()
                    assert all_counted(policy, state["pulls"], state["n_pulls"])
                    type(policy).from_state(state)
            except RuntimeError as error:
                # also raised if another thread has reported these arms since this thread asked
                assert re.search("in use by another thread|nothing is asked|asks for nothing",
                                 str(error))
            except ValueError as error:
                # these messages mean that another thread has reported in the meantime
                if not str(error).startswith(("arms must", "the policy is done", "costs must")):
                    wrong.append(error)
            except BaseException as error:
                wrong.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(N_THREADS)]
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    return wrong, sum(n_tells)


def assert_whole(policy, seconds):
    wrong, n_tells = hammer(policy, seconds)
    assert not wrong and policy.n_batches == n_tells > 0
    assert all_counted(policy, policy.pulls, policy.n_pulls)
    budget = getattr(policy, "budget", getattr(policy, "max_pulls", None))
    assert budget is None or costs_are_observed(policy) or policy.n_pulls <= budget
    assert policy.n_batches <= getattr(policy, "max_batches", np.inf)
    if hasattr(policy, "get_state"):
        type(policy).from_state(policy.get_state())


@pytest.mark.some(21)
@pytest.mark.parametrize("name", FAST)
def test_calls_of_eight_threads_are_whole_or_refused(name):
    for _ in range(3):
        assert_whole(EVERY[name](), 0.05)


class Waits:
    """Rewards of .5 whose conversion to an array blocks until they are released."""

    def __init__(self, n):
        self.rewards, self.asked, self.come = np.full(n, 0.5), threading.Event(), threading.Event()

    def __array__(self, dtype=None, copy=None):
        self.asked.set()
        assert self.come.wait(60)
        return self.rewards


def shown(policy):
    """Return the names and values of all public attributes except methods."""
    names = [name for name in dir(policy) if not name.startswith("_")]
    return {name: repr(value) for name in names if not callable(value := getattr(policy, name))}


@pytest.mark.parametrize("name", FAST)
def test_reads_during_a_tell_see_no_partial_change(name):
    policy = EVERY[name]()
    before, arms = shown(policy), policy.ask()
    rewards = Waits(arms.size)
    teller = threading.Thread(target=tell, args=(policy, arms, rewards))
    teller.start()
    try:
        assert rewards.asked.wait(60)
        refused = set()
        for one in before:
            try:
                assert repr(getattr(policy, one)) == before[one]
            except RuntimeError as error:
                assert "is in use by another thread" in str(error)
                refused.add(one)
    finally:
        rewards.come.set()
        teller.join()
    after = shown(played(policy, 30))
    assert {one for one in before if after[one] != before[one]} <= refused
    assert {"n_pulls", "n_batches", "done", "pulls"} <= refused


LARGE = [lambda: pb.policies.BatchRacing(20_000, 3, batch_size=20_000, noise_std=0.1),
         lambda: pb.policies.BatchHalving(20_000, 3, batch_size=20_000, max_batches=40),
         lambda: pb.policies.SequentialHalving(2**14, budget=2**22),
         lambda: pb.policies.BatchSAR(5000, 3, batch_size=5000, max_batches=60),
         lambda: pb.policies.GPUCB(300, budget=400, kernel=np.eye(300), noise_std=1.0)]


@pytest.mark.some(2)
@pytest.mark.parametrize("make", LARGE)
def test_calls_without_the_gil_are_whole_or_refused(make):
    assert_whole(make(), 0.4)


def test_table_serves_one_thread_at_a_time():
    table, refused = pb.environments.TableBandit([np.arange(50_000.0)] * 3), []

    def pull():
        for _ in range(200):
            try:
                table.pull(np.zeros(100, dtype=int))
            except RuntimeError as error:
                refused.append(str(error))

    threads = [threading.Thread(target=pull) for _ in range(N_THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    taken = 100 * (200 * N_THREADS - len(refused))
    assert table.pull([0]).tolist() == [taken % 50_000]
    assert all("is in use by another thread" in words for words in refused)
