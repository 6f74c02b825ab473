"""Model of scores, and the record of fits, on tables of scores."""

import numpy as np
import pytest

from pybandit import policies
from pybandit.model_selection import _score_model as model
from pybandit.model_selection._candidates import PlainAsker, ScoreTable, first_arms, search


def drawn(n_arms=30, n_splits=6, noise=0.2, split=0.7, seed=1):
    rng = np.random.default_rng(seed)
    x = np.linspace(0, 1, n_arms)
    kernel = 1.0 + np.exp(-((x[:, None] - x) / 0.5) ** 2)
    means = rng.multivariate_normal(np.zeros(n_arms), kernel, method="eigh")
    table = (5.0 + 2.0 * (means[:, None] + split * rng.standard_normal(n_splits)
                          + noise * rng.standard_normal((n_arms, n_splits))))
    arms, splits = np.divmod(rng.permutation(n_arms * n_splits)[:60], n_splits)
    return kernel, table, arms, splits


def test_rewards_are_scores_without_level_unit_and_split():
    kernel, table, arms, splits = drawn()
    fitted = model.fit_scores(arms, splits, table[arms, splits], 6, [kernel])
    again = [fitted.reward(table[arm, split], split)
             for arm, split in zip(arms, splits, strict=True)]
    np.testing.assert_allclose(again, fitted.rewards, atol=1e-12)
    assert fitted.reward(5.0, -1) == pytest.approx(
        (5.0 - fitted.level) / fitted.unit - fitted.split_effects.mean())


def test_split_effects_are_those_of_the_joint_posterior():
    """Split effects equal the posterior mean given the joint covariance of arms and splits."""
    kernel, table, arms, splits = drawn()
    scores = table[arms, splits]
    fitted = model.fit_scores(arms, splits, scores, 6, [kernel])
    noise = (fitted.noise_std / fitted.prior_std) ** 2
    values = (np.maximum(scores, fitted.floor) - fitted.level) / fitted.unit
    expected = []
    for share in model.SPLIT_SHARES:
        both = np.block([[kernel, np.zeros((30, 6))], [np.zeros((6, 30)), share * np.eye(6)]])
        design = np.hstack([np.eye(30)[arms], np.eye(6)[splits]])
        covariance = design @ both @ design.T + noise * np.eye(arms.size)
        expected.append((both @ design.T @ np.linalg.solve(covariance, values))[30:])
    assert min(np.abs(fitted.split_effects - e).max() for e in expected) < 1e-9


def test_fit_scores_finds_noise_and_split_effects():
    """Results are averages of ten draws; a model without split effects would find noise .7."""
    ratios, errors = [], []
    for seed in range(10):
        kernel, table, arms, splits = drawn(seed=seed)
        fitted = model.fit_scores(arms, splits, table[arms, splits], 6, [kernel])
        ratios.append(fitted.noise_std * fitted.unit / (2.0 * 0.2))
        true = table.mean(axis=0) - table.mean()
        found = fitted.unit * (fitted.split_effects - fitted.split_effects.mean())
        errors.append(np.abs(found - true).mean() / np.abs(true).mean())
    assert 0.6 < np.mean(ratios) < 1.5 and np.mean(errors) < 0.25


def test_fit_scores_prefers_the_length_scale_of_the_scores():
    x = np.linspace(0, 1, 40)
    distances = (x[:, None] - x) ** 2
    kernels = [np.exp(-distances / scale**2) for scale in model.LENGTH_SCALES]
    rng = np.random.default_rng(3)
    for true in (0, 3):
        scores = rng.multivariate_normal(np.zeros(40), kernels[true], method="eigh")
        scores += 0.02 * rng.standard_normal(40)
        fitted = model.fit_scores(np.arange(40), np.zeros(40, int), scores, 1, kernels)
        chosen = [i for i, kernel in enumerate(kernels) if kernel is fitted.kernel]
        assert abs(chosen[0] - true) <= 1


def test_constant_scores_give_finite_rewards():
    fitted = model.fit_scores(np.array([0, 1, 1]), np.array([0, 0, 1]), np.full(3, 7.0), 2,
                              [np.eye(2)])
    assert (fitted.rewards == 0).all() and fitted.noise_std > 0 and fitted.prior_std > 0


def test_hopeless_scores_do_not_set_the_unit():
    kernel, table, arms, splits = drawn()
    scores = table[arms, splits]
    scores[::10] = -1e9
    fitted = model.fit_scores(arms, splits, scores, 6, [kernel])
    assert fitted.unit < 30 and fitted.reward(-1e9, 0) == fitted.reward(fitted.floor, 0)


def test_score_table_gives_splits_in_one_order():
    recorded = ScoreTable(3, 4, np.random.default_rng(1))
    splits = recorded.next_splits(np.array([0, 2, 0, 1]), 10)
    first, second = recorded.order[:2]
    assert splits.tolist() == [first, first, second, first]
    recorded.add(np.array([0, 2, 0, 1]), splits, np.array([1.0, np.nan, 3.0, 4.0]))
    assert recorded.pulls.tolist() == [2, 1, 1] and recorded.n_fits == 4
    np.testing.assert_array_equal(recorded.means(), [2.0, 4.0, np.nan])
    assert recorded.next_splits(np.array([2, 2, 2, 2]), 10).tolist() == [*recorded.order[1:], -1]
    assert recorded.next_splits(np.array([2, 2]), 1).tolist() == [recorded.order[1], -1]


def test_search_of_a_plain_policy_answers_used_up_arms_at_no_cost():
    table = np.arange(8.0).reshape(4, 2)
    recorded = ScoreTable(4, 2, np.random.default_rng(1))
    asker = PlainAsker(policies.SequentialHalving(4, budget=24, reuse=True))
    asked = []
    reused = search(asker, recorded, 24, lambda arms, splits: (asked.extend(
        zip(arms.tolist(), splits.tolist(), strict=True)), table[arms, splits])[1])
    assert sorted(asked) == [(arm, split) for arm in range(4) for split in range(2)]
    assert recorded.n_fits == 8 and reused == 24 - 8 and asker.policy.done
    assert asker.best(recorded) == 3
    np.testing.assert_array_equal(recorded.means(), table.mean(axis=1))


def test_search_stops_at_its_budget_within_a_batch():
    table = np.arange(8.0).reshape(4, 2)
    recorded = ScoreTable(4, 2, np.random.default_rng(1))
    asker = PlainAsker(policies.Uniform(4, budget=8))
    search(asker, recorded, 3, lambda arms, splits: table[arms, splits])
    assert recorded.n_fits == 3 and asker.best(recorded) == 2


def test_first_arms_cover_families_and_repeat_two():
    families = np.repeat([0, 1, 2], [50, 3, 1])
    for seed in range(20):
        arms = first_arms(families, 30, 5, np.random.default_rng(seed))
        assert arms[-2:].tolist() == arms[:2].tolist()
        assert set(families[arms]) == {0, 1, 2} and np.unique(arms).size == arms.size - 2
    assert first_arms(families, 2, 5, np.random.default_rng(1)).size == 2
    assert first_arms(families, 30, 1, np.random.default_rng(1)).size == 7
