"""Ctrl-C at any moment: the policy is as before or as after the call, and can continue."""

import contextlib
import contextvars
import signal
import time

import numpy as np
import pytest

import pybandit as pb

from policies.every_class import EVERY, refitting, tell
from policies.protocol import frozen
from studies.cases import measured


@contextlib.contextmanager
def interrupted_within(seconds):
    """Raise KeyboardInterrupt once, `seconds` from now, as Ctrl-C does."""
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def play_on(policy, most):
    while not policy.done and policy.n_batches < most:
        arms = policy.ask()
        tell(policy, arms, measured(policy.n_batches, arms))


def asked_state(policy):
    """Return the state after `ask`, during which some policies draw."""
    policy.ask()
    return frozen(policy.get_state())


def interrupt_at_random(make, times, longest, rng, most=40):
    """Interrupt runs at random times; return how many interrupts came during a run."""
    came = 0
    for _ in range(4):  # take the shortest: the first run is slow, and the machine may be busy
        straight, start = make(), time.perf_counter()
        play_on(straight, most)
        longest = min(longest, time.perf_counter() - start)
    for _ in range(times):
        policy = make()
        try:
            with interrupted_within(rng.uniform(1e-5, longest)):
                play_on(policy, most)
        except KeyboardInterrupt:
            came += 1
        policy = type(policy).from_state(policy.get_state())
        again = make()
        play_on(again, policy.n_batches)
        assert asked_state(policy) == asked_state(again)
        play_on(policy, most)
        assert asked_state(policy) == asked_state(straight)
    return came


SOME = ["shadavar", "batch sar", "batch racing", "ucb1", "thompson", "gaussian thompson", "ebtc",
        "vbr", "allocator", "allocator thompson", "bayes gap"]


@pytest.mark.parametrize("name", SOME)
def test_interrupted_ask_and_tell_leave_policy_consistent(name):
    rng = np.random.default_rng(1)
    assert interrupt_at_random(EVERY[name], 8, 0.002, rng) > 0


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(set(EVERY) - {"refits", "refits thompson"}))
def test_ask_and_tell_survive_a_thousand_interrupts(name):
    rng = np.random.default_rng(2)
    assert interrupt_at_random(EVERY[name], 1000, 0.004, rng) > 100


def interrupt_refits(times, rng):
    """Interrupt runs that refit kernels; most of their time is spent in scikit-learn."""
    came = 0
    straight = refitting()
    play_on(straight, 8)
    for _ in range(times):
        policy = refitting()
        for _ in range(20):
            before, n = frozen(policy.get_state()), policy.n_batches
            arms = policy.ask()
            if not arms.size:
                break
            try:
                with interrupted_within(rng.uniform(1e-5, 0.03)):
                    policy.tell(arms, measured(n, arms))
            except KeyboardInterrupt:
                came += 1
                if policy.n_batches == n:
                    assert frozen(policy.get_state()) == before
        play_on(policy, 8)
        assert frozen(policy.get_state()) == frozen(straight.get_state())
    return came


def test_interrupted_refits_leave_policy_consistent():
    assert interrupt_refits(8, np.random.default_rng(3)) > 0


@pytest.mark.slow
def test_refits_survive_many_interrupts():
    assert interrupt_refits(300, np.random.default_rng(4)) > 30


def interrupt_simulations(times, longest, rng):
    came, bandit = 0, pb.environments.GaussianBandit(np.linspace(0.0, 1.0, 50))
    for _ in range(times):
        created = []

        def factory(environment, created=created):
            created.append(pb.policies.SequentialHalving(50, budget=3000))
            return created[-1]

        start = time.monotonic()
        try:
            with interrupted_within(rng.uniform(1e-5, longest)):
                if rng.random() < 0.5:
                    pb.simulate(factory, bandit, 2000, rng=1, n_threads=int(rng.integers(1, 3)),
                                progress=False)
                else:
                    pb.compare({"a": factory, "b": factory}, bandit, 1000, rng=1, progress=False,
                               n_threads=int(rng.integers(1, 3)), checkpoints=[50, 2000])
        except KeyboardInterrupt:
            came += 1
        assert time.monotonic() - start < 10.0
        for policy in created:  # fails if a thread still uses one of them
            restored = pb.policies.SequentialHalving.from_state(policy.get_state())
            assert restored.n_pulls == policy.n_pulls <= 3000
    return came


def test_interrupted_simulate_leaves_policies_consistent():
    assert interrupt_simulations(15, 0.03, np.random.default_rng(5)) > 5


@pytest.mark.slow
def test_simulate_survives_a_thousand_interrupts():
    assert interrupt_simulations(1000, 0.03, np.random.default_rng(6)) > 300


@pytest.mark.parametrize("n_threads", [1, 2])
def test_interrupt_within_a_batch_invalidates_the_policy(n_threads):
    """The batch would take a minute, as it is reported reward by reward; Ctrl-C invalidates it."""
    created, start = [], time.monotonic()

    def factory(environment):
        created.append(pb.policies.Uniform(2, budget=2 * 10**10))
        return created[-1]

    bandit = pb.environments.UniformBandit([0.0, 1.0], 1.0)
    with pytest.raises(KeyboardInterrupt), interrupted_within(0.2):
        pb.simulate(factory, bandit, 4, rng=1, n_threads=n_threads, progress=False)
    assert time.monotonic() - start < 10.0
    for policy in created:
        with pytest.raises(RuntimeError, match="invalidated by .*the middle of a batch"):
            policy.get_state()


SLOW = {
    # evidence: 5 ms per draw; caplet: 1 us per draw, in one batch; many arms: 30 us per pull
    "evidence": (lambda: pb.policies.Uniform(2, budget=20000),
                 lambda: pb.environments.LogisticEvidence(
        np.ones((200, 5)), labels=np.ones(200), n_anneals=[500, 500], log_evidence=0.0)),
    "caplet": (lambda: pb.policies.Uniform(2, budget=10**8),
               lambda: pb.environments.CIRCaplet(0.07, thetas=[0.0, 1.0])),
    "many arms": (lambda: pb.policies.UCB1(50000),
                  lambda: pb.environments.GaussianBandit(np.zeros(50000)))}


@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("name", SLOW)
def test_one_thread_reacts_to_interrupts_as_fast_as_two(name, n_threads):
    """A single thread once checked for Ctrl-C only every four million pulls, however slow."""
    make, environment = SLOW[name][0], SLOW[name][1]()
    for n_runs in (1, 3):
        start = time.monotonic()
        with pytest.raises(KeyboardInterrupt), interrupted_within(0.3):
            pb.simulate(lambda e: make(), environment, n_runs, rng=1, n_threads=n_threads,
                        max_pulls=10**9, progress=False)
        assert time.monotonic() - start < 3.0


def test_single_threaded_runs_have_the_context_of_the_caller():
    seen, here = [], contextvars.ContextVar("here", default=0)
    here.set(3)
    pb.simulate(pb.policies.Uniform(2, budget=20), pb.environments.GaussianBandit([0.0, 1.0]), 2,
                rng=1, n_threads=1, metrics={"seen": lambda p, e: seen.append(here.get()) or 0.0})
    assert seen == [3, 3]
