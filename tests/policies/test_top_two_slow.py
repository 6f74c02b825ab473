"""Error of EB-TC in a setting of the continuous-rejects paper (Wang et al., 2023)."""

import numpy as np
import pytest

import pybandit as pb

pytestmark = pytest.mark.slow


def test_error_of_ebtc_matches_the_paper():
    """Twenty Bernoulli arms, one of .5 and nineteen of .45, 10,000 pulls: .105 within .02."""
    bandit = pb.environments.BernoulliBandit(np.r_[0.5, np.full(19, 0.45)])
    result = pb.simulate(lambda e: pb.policies.EBTC(e.n_arms, max_pulls=10_000), bandit, 6000,
                         rng=2023)
    low, high = result.error_interval
    assert 0.085 < low and high < 0.125, result
