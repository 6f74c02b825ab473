"""Rewards that are not finite or exceed the range raise when read, and samplers stay usable."""

import numpy as np
import pytest

import pybandit as pb

from racing.reference.problems import as_function

GOOD = np.random.default_rng(0).normal(size=(400, 3)) + [0.0, 1.0, 2.0]


def poisoned(value, row, column, n_factors=400):
    rng = np.random.default_rng(1)
    factors = rng.normal(size=(n_factors, 3))
    factors[row, column] = value
    return factors


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("source", ["matrix", "function", "shuffled"])
@pytest.mark.parametrize("n_factors", [400, 40_000])
def test_rewards_that_are_not_finite_are_rejected(value, source, n_factors):
    """Rewards that are not finite raise at a partial look and in the last pass, from any source."""
    for row, column in [(0, 0), (n_factors // 3, 2), (n_factors - 1, 1)]:
        factors = poisoned(value, row, column, n_factors)
        given = as_function(factors) if source == "function" else factors
        layout = {"layout": "shuffled"} if source == "shuffled" else {}
        calls = [pb.RacingSampler(given, delta=1e-9, rng=seed, **layout).draw for seed in (1, 2)]
        if source != "shuffled":
            calls += [lambda seed=seed: pb.race(given, delta=1e-9, rng=seed)  # noqa: B023
                      for seed in (1, 2)]
        for call in calls:
            with pytest.raises(ValueError, match=f" {value} at factor {row}, state {column}$"):
                call()


def test_rewards_too_large_to_square_are_rejected():
    factors = np.zeros((100, 2))
    factors[::2] = 1e200
    with pytest.raises(ValueError, match="factors"):
        pb.race(factors * [1.0, -1.0], rng=0)


def test_a_sampler_stays_usable_after_bad_rewards():
    factors = poisoned(np.nan, 7, 1)
    sampler = pb.RacingSampler(factors, rng=1)
    with pytest.raises(ValueError, match="factor 7, state 1"):
        sampler.draw(1000)
    factors[7, 1] = 0.0
    states, _ = sampler.draw(1000)
    assert set(states.tolist()) <= {0, 1, 2}
    fresh = pb.RacingSampler(factors, rng=1)
    assert np.bincount(fresh.draw(1000)[0], minlength=3) == pytest.approx(
        np.bincount(states, minlength=3), abs=150
    )


@pytest.mark.parametrize("source", ["matrix", "function"])
def test_a_value_range_that_is_too_small_is_rejected(source):
    factors = GOOD if source == "matrix" else as_function(GOOD)
    spread, all_looks = np.ptp(GOOD, axis=0), pb.racing.Looks(max_fraction=1.0)
    log_prior = [2 * 400.0, 400.0, 0.0]  # a close race, which reads many factors
    for ranges in (spread, spread * (1 + 1e-14), spread + 1.0):
        for seed in range(30):
            pb.race(factors, log_prior, bound=pb.racing.EBSBound(value_range=ranges),
                    looks=all_looks, rng=seed)
    caught = set()
    for column in range(3):
        ranges = spread.copy()
        ranges[column] *= 0.5
        with pytest.raises(ValueError, match=rf"value_range.*state {column}") as error:
            pb.race(factors, log_prior, bound=pb.racing.EBSBound(value_range=ranges),
                    looks=all_looks, rng=1)
        caught.add(str(error.value))
    assert len(caught) == 3
    with pytest.raises(ValueError, match="difference_range"):
        pb.race(factors, log_prior,
                bound=pb.racing.EBSBound(value_range=None, difference_range=0.5),
                looks=all_looks, rng=1)
