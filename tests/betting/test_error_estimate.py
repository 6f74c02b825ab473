"""The error estimate of a budget race: the reference, and how often such answers are wrong."""

import math

import numpy as np
import pytest
from scipy import stats

import pybandit as pb
from pybandit.betting._estimate import error_probability, strength_of

from betting.races import play
from betting.reference import error_estimate as twin

KINDS = ("spread", "clump", "lone", "equal", "rare", "copies", "smooth")
UNIT = dict(value_range=(0, 1))


def scores_of(kind, rng, n_items, n_arms):
    """Return a population that is hard for a model of normal rewards and normal effects."""
    ability = {
        "spread": rng.normal(0.6, 0.08, n_arms),
        "clump": np.where(rng.random(n_arms) < 0.2, rng.normal(0.6, 0.01, n_arms), 0.5),
        "lone": np.where(np.arange(n_arms) == 0, 0.5 + rng.choice([0.02, 0.05, 0.1]), 0.5),
        "rare": rng.uniform(0.005, 0.05, n_arms)}.get(kind, np.full(n_arms, 0.5))
    hard = rng.normal(0, 0.25 if kind != "rare" else 0.0, (n_items, 1))
    chance = np.clip(ability + hard, 0.002, 0.98)
    scores = (rng.random((n_items, n_arms)) < chance) * 1.0
    if kind == "copies":  # groups of four arms that differ on one item in twenty
        scores = np.repeat(scores[:, : -(-n_arms // 4)], 4, axis=1)[:, :n_arms]
        return np.abs(scores - (rng.random(scores.shape) < 0.05))
    if kind == "smooth":
        effects = rng.normal(0.6, 0.08, n_arms) + rng.normal(0, 0.2, (n_items, 1))
        return np.clip(effects + rng.normal(0, 0.1, (n_items, n_arms)), 0, 1)
    return scores


def estimated(kind, n_runs):
    """Return, for each of `n_runs` answers, the estimate and True if the answer is wrong."""
    made = []
    for seed in range(n_runs):
        rng = np.random.default_rng((seed, KINDS.index(kind)))
        n_items, n_arms = int(rng.choice([100, 300])), int(rng.choice([2, 5, 20, 60]))
        scores = scores_of(kind, rng, n_items, n_arms)
        share = rng.choice([0.02, 0.05, 0.1, 0.2, 0.4])
        result = pb.best_of(scores, budget=max(n_arms, int(share * scores.size)), rng=rng,
                            progress=False, **UNIT)
        means = scores.mean(axis=0)
        made.append((result.error_estimate, means[result.best] < means.max() - 1e-12))
    return np.array(made)


@pytest.mark.parametrize("n_runs", [60, pytest.param(1500, marks=pytest.mark.slow)])
def test_answers_are_wrong_about_as_often_as_estimated(n_runs):
    """If the estimate is p, the share of errors is in [p / 2 - .02, 2.2 p + .02]."""
    made = np.concatenate([estimated(kind, n_runs) for kind in KINDS])
    ends = [0, 0.01, 0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 1.01]
    for low, high in zip(ends, ends[1:], strict=False):
        said, wrong = made[(made[:, 0] >= low) & (made[:, 0] < high)].T
        n, mean = said.size, said.mean()
        assert n >= 5
        assert wrong.sum() <= stats.binom.isf(1e-7, n, min(1.0, 2.2 * mean + 0.02)), (mean, wrong)
        assert wrong.sum() >= stats.binom.ppf(1e-7, n, max(0.0, mean / 2 - 0.02)), (mean, wrong)
    said, wrong = made.T
    assert ((said - wrong) ** 2).mean() < 0.85 * wrong.var()  # better than a constant estimate
    assert abs(said.mean() - wrong.mean()) < 0.1


def told(rng, n_arms):
    """Return blocks with fewer and fewer arms, and the items read of each arm."""
    arms, blocks, pulls = np.arange(n_arms), [], np.zeros(n_arms, dtype=np.int64)
    effects = rng.normal(0, 0.1, n_arms)
    while arms.size > 1 and len(blocks) < 7:
        length = int(rng.integers(1, 6))
        values = effects[arms] + rng.normal(0, 0.3, (length, 1)) + rng.normal(
            0, 0.2, (length, arms.size))
        blocks.append((arms, values))
        pulls[arms] += length
        if len(blocks) % 2 == 0:
            arms = np.sort(rng.permutation(arms)[: arms.size - int(rng.integers(1, 4))])
    return blocks, pulls


@pytest.mark.parametrize("seed", range(25))
def test_estimate_matches_the_reference(seed):
    """The reference inverts one matrix and integrates on a fine grid; the package uses 61 nodes."""
    rng = np.random.default_rng(seed)
    n_arms, n_items = int(rng.integers(2, 20)), rng.choice([60.0, 300.0, np.inf])
    blocks, pulls = told(rng, n_arms)
    order = np.lexsort((rng.permutation(n_arms), -pulls))
    k = int(rng.integers(1, min(4, n_arms)))
    estimate = error_probability(blocks, pulls, order[:k], np.sort(order[k:]), n_items)
    assert estimate == pytest.approx(
        twin.error_probability(blocks, pulls, order[:k], np.sort(order[k:]), n_items), abs=0.01)


def test_estimates_match_reference_numbers():
    """Compare with an independent implementation of the specification."""
    scores = (np.random.default_rng(8).random((120, 30)) < np.linspace(0.3, 0.75, 30)) * 1.0
    blocks, pulls = [], np.zeros(30, dtype=np.int64)
    for first, begin, end in ((0, 0, 8), (0, 8, 10), (10, 10, 22), (24, 22, 60)):
        blocks.append((np.arange(first, 30), scores[begin:end, first:]))
        pulls[first:] = end
    for winner, expected in ((29, 0.6899813298605391), (26, 0.8965304753279376)):
        rivals = np.delete(np.arange(30), winner)
        found = error_probability(blocks, pulls, np.array([winner]), rivals, 120)
        assert found == pytest.approx(expected, abs=1e-9)
    flat = (np.random.default_rng(8).random((120, 30)) < np.linspace(0.45, 0.6, 30)) * 1.0
    assert strength_of(flat[:40]) == 0.0
    assert strength_of(flat[:40, ::3]) == pytest.approx(0.43882701982198846, abs=1e-12)


def test_extreme_estimates():
    race = pb.BudgetRace(4, 30, budget=120, rng=1, **UNIT)
    assert race.error_estimate == 0.75 and sorted(race.recommend()) != []
    same = play(race, np.full((30, 4), 0.5))
    assert same.exact and same.error_estimate == 0.0
    half = play(pb.BudgetRace(4, 30, budget=60, rng=1, **UNIT), np.full((30, 4), 0.5))
    assert half.error_estimate == 0.75  # equal rewards do not separate the arms
    one = play(pb.BudgetRace(4, 30, budget=4, rng=1, **UNIT), np.eye(30)[:, :4])
    assert one.error_estimate == 0.75  # one item does not determine the noise
    equal = np.tile(np.eye(6), (5, 1))  # equal means in an infinite population
    same = play(pb.BudgetRace(6, 30, budget=180, rng=1, population_size=math.inf, **UNIT), equal)
    assert 0.75 < same.error_estimate < 0.85
    shifted = np.random.default_rng(1).random((30, 1)) * 0.5 + [0.0, 0.1, 0.2, 0.4]
    sure = play(pb.BudgetRace(4, 30, budget=80, rng=1, **UNIT), shifted)
    assert sure.recommend()[0] == 3 and sure.error_estimate < 1e-6


@pytest.mark.parametrize("k", [1, 3])
def test_estimate_falls_with_the_budget_and_with_the_gap(k):
    rng = np.random.default_rng(4)
    base = rng.random((400, 8))
    found = {}
    for gap in (0.01, 0.1):
        for budget in (160, 1600):
            scores = 0.6 * base + gap * (np.arange(8) >= 8 - k)
            estimates = [play(pb.BudgetRace(8, 400, budget=budget, k=k, rng=seed, **UNIT),
                              scores).error_estimate for seed in range(12)]
            assert 0.0 <= min(estimates) and max(estimates) <= 1.0
            found[gap, budget] = np.mean(estimates)
    assert found[0.1, 1600] < found[0.1, 160] < found[0.01, 160]
    assert found[0.1, 1600] < found[0.01, 1600] < found[0.01, 160]
