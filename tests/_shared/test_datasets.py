"""Data sets of the demo, and the synthetic environment."""

import numpy as np
import pytest

from pybandit._shared import datasets


def test_sp500_returns_are_centred():
    pytest.importorskip("arch")
    returns = datasets.sp500_returns()
    assert returns.shape == (5030,) and returns.dtype == np.float64
    assert abs(returns.mean()) < 1e-12
    assert returns.std() == pytest.approx(1.2, abs=0.05)  # in percent per day


def test_flower_shapes():
    pytest.importorskip("PIL")
    pytest.importorskip("sklearn")
    brightness, gradients = datasets.flower_brightness(), datasets.flower_gradients()
    assert brightness.shape == (427, 640) and gradients.shape == (273_280,)
    assert 0.0 <= brightness.min() and brightness.max() <= 255.0
    assert gradients[641] == pytest.approx((brightness[1, 2] - brightness[1, 0]) / 2)


def test_breast_cancer_is_standardised():
    pytest.importorskip("sklearn")
    features, labels = datasets.breast_cancer()
    assert features.shape == (569, 30) and labels.sum() == 357
    np.testing.assert_allclose(features.mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(features.std(axis=0), 1.0, rtol=1e-12)


@pytest.mark.parametrize("distribution", ["normal", "uniform", "lognormal"])
def test_synthetic_rewards_are_standardised(distribution):
    factors, log_prior = datasets.synthetic_race(distribution, 0.3, 5_000, 4, rng=1)
    assert factors.shape == (5_000, 4)
    np.testing.assert_allclose(factors.mean(axis=0), 0.0, atol=1e-14)
    np.testing.assert_allclose(factors.std(axis=0), 0.3, rtol=1e-12)
    np.testing.assert_allclose(np.exp(log_prior), [0.1, 0.2, 0.3, 0.4], rtol=1e-12)


def test_synthetic_distributions_differ_in_their_tails():
    def largest(distribution):
        return datasets.synthetic_race(distribution, 1.0, 100_000, 1, rng=0)[0].max()

    assert largest("uniform") < 1.75 < 4 < largest("normal") < 6 < largest("lognormal")


def test_same_seed_gives_same_rewards_at_every_sigma():
    one, _ = datasets.synthetic_race("normal", 1.0, 100, 3, rng=7)
    two, _ = datasets.synthetic_race("normal", 1e-3, 100, 3, rng=7)
    np.testing.assert_allclose(two, 1e-3 * one, rtol=1e-13)


@pytest.mark.parametrize("options, message", [
    ({"distribution": "cauchy"}, "distribution"),
    ({"sigma": -1.0}, "sigma"),
    ({"sigma": float("nan")}, "sigma"),
    ({"n_factors": 1}, "n_factors"),
    ({"n_states": 0}, "n_states"),
])
def test_invalid_options_raise(options, message):
    with pytest.raises(ValueError, match=message):
        datasets.synthetic_race(**options)
