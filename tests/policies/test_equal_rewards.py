"""Arms whose rewards are all equal, with a rule that does not know the variances."""

import numpy as np
import pytest

import pybandit as pb
from pybandit.stopping import GLR

UNKNOWN = GLR(delta=0.05, law="gaussian-unknown")
POLICIES = {
    "top two": lambda: pb.policies.TopTwo(3, stopping=UNKNOWN, rng=1),
    "top two ucb": lambda: pb.policies.TopTwo(3, stopping=UNKNOWN, leader="ucb", beta="ids", rng=1),
    "elimination": lambda: pb.policies.SuccessiveElimination(3, stopping=UNKNOWN),
    "ebtc": lambda: pb.policies.EBTC(3, stopping=UNKNOWN),
    "ebtc aware": lambda: pb.policies.EBTC(3, noise_std="estimated", stopping=UNKNOWN),
    "good": lambda: pb.policies.GoodArms(3, delta=0.05, threshold=4.0, law="gaussian-unknown"),
}
DRAWS = {
    "one": lambda arms, rng: np.where(arms == 1, 7.0, rng.normal(size=arms.size)),
    "rounded": lambda arms, rng: np.where(arms == 1, 7.0, rng.normal(size=arms.size).round(1)),
    "all": lambda arms, rng: np.array([1.0, 7.0, 3.0])[arms],
}


@pytest.mark.parametrize("draw", DRAWS)
@pytest.mark.parametrize("name", POLICIES)
def test_arm_of_equal_rewards_is_decided(name, draw):
    policy, rng = POLICIES[name](), np.random.default_rng(1)
    while not policy.done and policy.n_pulls < 3000:
        arms = policy.ask()
        policy.tell(arms, DRAWS[draw](arms, rng))
        if policy.n_pulls % 7 == 0:
            policy = type(policy).from_state(policy.get_state())
    assert policy.decided and policy.recommend().tolist() == [1]


@pytest.mark.parametrize("name", POLICIES)
def test_rules_end_if_no_reward_differs(name):
    """The variance cannot be estimated: policies end undecided after 1,000 equal rewards."""
    policy = POLICIES[name]()
    while not policy.done and policy.n_pulls < 1500:
        policy.tell(policy.ask(), np.full(policy.ask().size, 7.0))
    assert policy.done and not policy.decided and 1000 <= policy.n_pulls <= 1003


def test_errors_stay_below_delta_if_rewards_are_rounded():
    """Rewards are rounded to steps of six standard deviations, so most arms show one value only."""
    means, errors, n_runs = np.array([0.35, 0.5, 1.45]), 0, 200
    for run in range(n_runs):
        rng, policy = np.random.default_rng(run), pb.policies.GoodArms(
            3, delta=0.1, threshold=0.75, law="gaussian-unknown")
        while not policy.done and policy.n_pulls < 400:
            arms = policy.ask()
            policy.tell(arms, np.round(rng.normal(means[arms], 1 / 6)))
        errors += bool(set(policy.good.tolist()) - {2} or set(policy.bad.tolist()) - {0, 1})
    assert errors <= 0.1 * n_runs
