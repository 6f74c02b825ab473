"""BatchRacing: reference runs and batches."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import pybandit as pb

from policies.batch_runs import PROBLEMS, assert_matches_reference, grid_bandit, random_problem


def test_racing_matches_reference():
    """A race with ties at the boundary never ends, so runs are limited; most finish."""
    done = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        n, k, b, r = random_problem(rng, 12)
        noise_std = float(rng.choice([0.5, 0.1, 0.02]))
        policy = pb.policies.BatchRacing(n, k, delta=float(rng.choice([0.9, 0.1])), batch_size=b,
                                         max_repeats=r, noise_std=noise_std)
        assert_matches_reference(policy, grid_bandit(rng, n, 4), 300)
        done += policy.done
    assert 30 < done < 100


@settings(max_examples=300, deadline=None, derandomize=True)
@given(PROBLEMS, st.integers(0, 2**32))
def test_racing_batches_respect_limits(problem, seed):
    n, k, b, r = problem
    policy = pb.policies.BatchRacing(n, k, delta=0.5, batch_size=b, max_repeats=r, noise_std=0.05)
    bandit = grid_bandit(np.random.default_rng(seed), n)
    while not policy.done and policy.n_batches < 60:
        arms = policy.ask()
        assert arms.size == min(b, policy.survivors.size * r) and np.bincount(arms).max() <= r
        assert set(arms) <= set(policy.survivors)
        policy.tell(arms, bandit.pull(arms))
