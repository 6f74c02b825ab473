"""Kernel matrices too large for a full check: refused when a pull meets an invalid part."""

import numpy as np
import pytest

import pybandit as pb

from policies import protocol
from policies.gaussian_arms import NAMES, smooth_kernel
from policies.reference import gaussian as plain

K = 600  # of which every third arm is checked when a policy is made
IN_ROWS = NAMES[:-1]
MESSAGE = "kernel must be positive semi-definite; got one with which a reward of arm"


def invalid_kernel():
    """Return a kernel with two arms, not checked at first, whose covariance is too large."""
    kernel = np.eye(K)
    kernel[1, 2] = kernel[2, 1] = 2.0
    return kernel


def policy_of(name="GPUCB", kernel=None, **options):
    kernel = invalid_kernel() if kernel is None else kernel
    return getattr(pb.policies, name)(len(kernel), **dict(budget=50, kernel=kernel,
                                                          noise_std=0.1) | options)


def test_pull_that_meets_an_invalid_part_raises_and_changes_nothing():
    policy = policy_of()
    with pytest.raises(ValueError, match=MESSAGE):
        for _ in range(10):
            before = protocol.frozen(policy.get_state())
            policy.tell(policy.ask(), [0.0])
    assert policy.n_pulls == 1
    for _ in range(2):
        assert protocol.frozen(policy.get_state()) == before
        with pytest.raises(ValueError, match=MESSAGE):
            policy.tell(policy.ask(), [0.0])
    policy.tell(policy.ask(), [np.nan], missing="drop")  # a lost pull needs no posterior


def test_several_rewards_at_once_are_checked():
    policy = policy_of()
    before = protocol.frozen(policy.get_state())
    with pytest.raises(ValueError, match=MESSAGE):
        policy._take([7, 9, 2, 9], np.zeros(4))
    assert protocol.frozen(policy.get_state()) == before
    policy._take([7, 9, 9], [0.5, np.nextafter(0.5, 1), -0.25])
    assert policy.n_pulls == 3


def test_simulation_that_meets_an_invalid_part_raises():
    with pytest.raises(ValueError, match=MESSAGE):
        pb.simulate(lambda e: policy_of(), pb.environments.GaussianBandit(np.zeros(K), 0.1), 1,
                    rng=1)


def test_invalid_parts_that_are_checked_at_once():
    for change in [lambda G: G.__setitem__((1, 1), -1.0),
                   lambda G: G.__setitem__(np.ix_([0, 3], [0, 3]), [[0.0, 1.0], [1.0, 0.0]])]:
        kernel = np.eye(K)
        change(kernel)
        with pytest.raises(ValueError, match="kernel must be positive semi-definite; got"):
            policy_of(kernel=kernel)
    with pytest.raises(ValueError, match="kernel must be positive semi-definite; got least eig"):
        policy_of("GaussianThompson")


@pytest.mark.parametrize("noise_std", [1.0, 1e-2, 1e-5, 1e-9, None])
@pytest.mark.parametrize("round_to", [np.float64, np.float32])
def test_rounded_kernels_are_not_refused(round_to, noise_std):
    """Smooth kernels have eigenvalues of rounding errors, on both sides of 0."""
    kernel = smooth_kernel(K, 2.0).astype(round_to)
    assert np.linalg.eigvalsh(kernel.astype(float))[0] < 0.0
    for name in IN_ROWS:
        policy, rng = policy_of(name, kernel, noise_std=noise_std), np.random.default_rng(1)
        while not policy.done:
            policy.tell(policy.ask(), rng.normal(size=1))


@pytest.mark.parametrize("name", IN_ROWS)
def test_posterior_matches_formula_before_and_after_rows_are_subtracted(name):
    """With 40 arms, 20 rows are kept at first, then up to 5."""
    kernel, rng = smooth_kernel(40, 0.4), np.random.default_rng(2)
    policy, arms, rewards = policy_of(name, kernel, noise_std=0.3), [], []
    while not policy.done:
        arm = policy.ask()
        arms.append(arm[0])
        rewards.append(rng.normal())
        policy.tell(arm, rewards[-1:])
        mean, covariance = plain.posterior(kernel, arms, rewards, 0.3, 1.0)
        np.testing.assert_allclose(policy.posterior_means, mean, atol=1e-10)
        np.testing.assert_allclose(policy.posterior_std**2, covariance.diagonal(), atol=1e-10)
        progress = policy.get_state()["progress"]
        assert len(progress["rows"]) == (len(arms) if len(arms) < 20 else len(arms) % 5)
        assert progress["spread"].size == (0 if len(arms) < 20 else 820)
        if len(arms) in (19, 20, 23):
            policy = type(policy).from_state(policy.get_state())


def test_states_with_other_rows_are_refused():
    policy, _ = protocol.play(policy_of(kernel=smooth_kernel(8)),
                              pb.environments.GaussianBandit(np.zeros(8), 1.0), 3)
    rows = policy.get_state()["progress"]["rows"]
    protocol.assert_entries_refused(policy, [
        dict(rows=np.zeros((3, 7))), dict(rows=rows[:2]), dict(rows=rows + 0.1),
        dict(rows=np.vstack([rows, np.zeros((1, 8))])), dict(spread=np.zeros(3)),
        dict(spread=np.zeros(36))], "state must hold")
