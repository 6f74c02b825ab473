"""Bounds on the regret of index policies: direct transcriptions, and simulated regrets."""

import math

import numpy as np
import pytest

import pybandit as pb

from policies.reference import index as plain

GAPS, VARIANCES, N = [0.0, 0.05, 0.2, 0.0], [0.1, 0.02, 0.2, 0.0], 5000


def test_bounds_equal_their_equations():
    """Eqs. 4, 5 and 7 of Neufeld et al. 2014, arm by arm."""
    ucb1 = sum(8 * math.log(N) / d + (1 + math.pi**2 / 3) * d for d in GAPS if d > 0)
    ucb_v = 10 * sum((v / d + 2) * math.log(N)
                     for d, v in zip(GAPS, VARIANCES, strict=True) if d > 0)
    thompson = sum(1 / d**2 for d in GAPS if d > 0) ** 2 * math.log(N)
    assert pb.bounds.ucb1_regret(GAPS, N) == pytest.approx(ucb1, rel=1e-13)
    deviations = np.sqrt(VARIANCES)
    assert pb.bounds.ucb_v_regret(GAPS, N, noise_std=deviations) == pytest.approx(ucb_v, rel=1e-13)
    assert pb.bounds.ucb_v_regret(GAPS, N, noise_std=deviations, constant=5) == pytest.approx(
        ucb_v / 2)
    assert pb.bounds.thompson_regret(GAPS, N) == pytest.approx(thompson, rel=1e-13)
    assert pb.bounds.ucb1_regret([0.0, 0.0], N) == 0.0


def test_rate_equals_its_equation():
    """Eq. 3 of Neufeld et al. 2014, with `kl` from the reference of the index policies."""
    means = [0.3, 0.7, 0.0, 0.7]
    expected = 0.4 / plain.kl(0.3, 0.7) + 0.7 / -math.log(0.3)
    assert pb.bounds.bernoulli_regret_rate(means) == pytest.approx(expected, rel=1e-13)
    assert pb.bounds.bernoulli_regret_rate([1.0, 0.5]) == 0.0
    assert pb.bounds.bernoulli_regret_rate([0.5, 0.5]) == 0.0


@pytest.mark.parametrize("first, gap", [(0.01, 0.05), (0.1, 0.1), (0.2, 0.05)])
def test_regret_of_estimators_is_below_the_bounds_of_theorem_4(first, gap):
    """Rewards 1 - X^2 of scaled Bernoulli values around 1/2: their variance is V_k."""
    variances, n = np.array([first, first + gap]), 5000
    environment = pb.environments.ScaledBernoulliBandit(0.5, 2 * np.sqrt(variances), 0.5)
    gaps = variances - first
    for policy, bound in (("ucb1", pb.bounds.ucb1_regret(gaps, n)),
                          ("ucb-v", pb.bounds.ucb_v_regret(gaps, n, noise_std=np.sqrt(variances))),
                          ("thompson", pb.bounds.thompson_regret(gaps, n))):
        result = pb.simulate(
            lambda e, policy=policy: pb.montecarlo.EstimatorAllocator(
                2, policy=policy, value_range=1.0, budget=n), environment, 20, rng=1,
            progress=False)
        assert 0 < result.arm_pulls @ gaps < bound


@pytest.mark.parametrize("call, words", [
    (lambda: pb.bounds.ucb1_regret([0.1, 1.2], 10), r"gaps must be in \[0, 1\]; got 1.2"),
    (lambda: pb.bounds.ucb1_regret(0.5, 10), r"gaps must be flat and not empty; got shape \(\)"),
    (lambda: pb.bounds.ucb1_regret([0.5], 0.5), "n must be finite and at least 1; got 0.5"),
    (lambda: pb.bounds.ucb_v_regret([0.1, 0.2], 9, noise_std=[0.1]),
     "noise_std must have the shape"),
    (lambda: pb.bounds.ucb_v_regret([0.1], 9, noise_std=[-0.1]),
     "noise_std must be finite and at least 0"),
    (lambda: pb.bounds.ucb_v_regret([0.1], 9, noise_std=[0.1], constant=0),
     "constant must be finite"),
    (lambda: pb.bounds.thompson_regret([np.nan], 9), "gaps must be"),
    (lambda: pb.bounds.bernoulli_regret_rate([]), "means must be flat and not empty"),
    (lambda: pb.bounds.bernoulli_regret_rate([1.5]), r"means must be in \[0, 1\]; got 1.5"),
])
def test_bad_input_is_refused(call, words):
    with pytest.raises(ValueError, match=words):
        call()
