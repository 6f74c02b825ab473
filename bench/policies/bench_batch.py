"""Batch policies, rewards included, on one core, compared with summing the same rewards.

Run with ``make bench``. Times are for whole runs of `simulate`, set-up included; the bare loop
does not draw its rewards.
"""

import ctypes

import numpy as np
import pytest

import pybandit as pb

from native import pointer, size

K, LOOKS = 100, 24
N_USERS, FOLLOWED = size((522_062, 60_000), (5_220, 600))
N_GENES, WELLS, PLATES = 12_979, 384, size(800, 80)
i64 = ctypes.c_int64


@pytest.fixture(scope="module")
def users():
    """Return half a million means of the power law in examples/papers/jun2016/figure_2.py."""
    rank = np.arange(1, N_USERS + 1.0)
    means = np.maximum(1.0, 476.26 * rank**-0.5097) / 8928
    return pb.environments.BinomialBandit(np.random.default_rng(1).permutation(means), trials=LOOKS)


@pytest.fixture
def bare(timed, limits):
    """Time adding up `n` rewards of `n_arms` arms, as the first of a group."""

    def run(group, n, n_arms, per=1, rounds=3):
        rewards, sums = np.random.default_rng(2).random(1000), np.zeros(n_arms)
        pulls = np.zeros(n_arms, dtype=np.int64)
        timed(group, "bare loop", lambda: limits.limit_add_rewards(
            pointer(rewards), i64(rewards.size), i64(n), pointer(sums), pointer(pulls),
            i64(n_arms)), per=per, rounds=rounds)

    return run


def run_once(make, environment):
    return pb.simulate(make, environment, 1, rng=1, n_threads=1, progress=False)


def numpy_round_robin(means, n_batches):
    """Run the batches as a careful user would write them: slices of the arms in turn."""
    rng, sums, at = np.random.default_rng(1), np.zeros(means.size), 0
    pulls = np.zeros(means.size, dtype=np.int64)
    for _ in range(n_batches):
        left = FOLLOWED
        while left:
            arms = slice(at, min(at + left, means.size))
            drawn = rng.binomial(LOOKS, means[arms])
            sums[arms] += drawn / LOOKS
            pulls[arms] += 1
            left -= drawn.size
            at = arms.stop % means.size
    return np.argsort(-sums / pulls, kind="stable")[:K]


@pytest.mark.parametrize("role", ["bare loop", "round robin", "NumPy round robin"])
def test_round_robin(timed, bare, users, role):
    """Time 800 batches of 60,000 pulls over half a million arms: 48 million rewards."""
    group = f"800 batches of {FOLLOWED:,} over {N_USERS:,} arms"
    if role == "bare loop":
        bare(group, 800 * FOLLOWED, N_USERS)
    elif role == "round robin":
        timed(group, role, lambda: run_once(
            lambda e: pb.policies.RoundRobin(e.n_arms, K, batch_size=FOLLOWED, max_batches=800,
                                             max_repeats=12), users), rounds=3)
    else:
        timed(group, role, lambda: numpy_round_robin(users.means, 800), rounds=1)


@pytest.mark.parametrize("n_batches, repeats", [(100, 12), (200, 12), (400, 12), (800, None)])
@pytest.mark.parametrize("role", ["bare loop", "BatchSAR"])
def test_batch_sar(timed, bare, users, n_batches, repeats, role):
    """Time one run over half a million arms."""
    group = f"{n_batches} batches of {FOLLOWED:,}, {N_USERS:,} arms, r = {repeats or 'b'}"
    if role == "bare loop":
        bare(group, n_batches * FOLLOWED, N_USERS)
    else:
        timed(group, role, lambda: run_once(
            lambda e: pb.policies.BatchSAR(e.n_arms, K, batch_size=FOLLOWED, max_batches=n_batches,
                                           max_repeats=repeats), users), rounds=3)


@pytest.mark.parametrize("role", ["bare loop", "BatchRacing"])
def test_batch_racing(timed, bare, role):
    """Time one pull per batch, ten arms at .5 and ninety at .3, in nanoseconds per pull."""
    sparse = pb.environments.BernoulliBandit(np.repeat([0.5, 0.3], [10, 90]))
    n_pulls = int(run_once(lambda e: pb.policies.BatchRacing(e.n_arms, 10), sparse).pulls[0])
    group = "a pull of BatchRacing, batches of one, 100 arms"
    if role == "bare loop":
        bare(group, n_pulls, 100, per=n_pulls, rounds=15)
    else:
        timed(group, role,
              lambda: run_once(lambda e: pb.policies.BatchRacing(e.n_arms, 10), sparse),
              per=n_pulls, rounds=15)


@pytest.mark.parametrize("k", [100, 500_000])
@pytest.mark.parametrize("role", ["bare loop", "BatchRacing"])
def test_first_pass(timed, bare, role, k):
    """Time the first pull of each of 10^6 arms in plates of 384, rewards included."""
    n_arms = size(1_000_000, 10_000)
    group = f"first pass of BatchRacing over {n_arms:,} arms in plates of {WELLS}, k = {k:,}"
    if role == "bare loop":
        bare(group, n_arms, n_arms)
        return
    bandit = pb.environments.GaussianBandit(np.random.default_rng(1).random(n_arms), 0.5)
    timed(group, role, lambda: pb.simulate(
        lambda e: pb.policies.BatchRacing(n_arms, min(k, n_arms // 2), batch_size=WELLS), bandit, 1,
        rng=1, n_threads=1, progress=False, max_pulls=n_arms), rounds=3)


@pytest.mark.parametrize("role", ["bare loop", "RoundRobin", "BatchHalving", "BatchSAR"])
def test_ask_and_tell(timed, bare, role):
    """Time a plate of 384 wells through Python: mean over 800 plates and all eliminations."""
    group = f"ask and tell a plate of {WELLS}, {N_GENES:,} arms"
    if role == "bare loop":
        bare(group, PLATES * WELLS, N_GENES, per=PLATES, rounds=15)
        return
    rewards = np.random.default_rng(3).normal(size=(97, WELLS))

    def run():
        policy, plate = getattr(pb.policies, role)(
            N_GENES, K, batch_size=WELLS, max_batches=PLATES), 0
        while not policy.done:
            policy.tell(policy.ask(), rewards[plate % 97])
            plate += 1

    timed(group, role, run, per=PLATES, rounds=7)
