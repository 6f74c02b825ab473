"""compare with budgets: equal to separate comparisons, joined."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import pybandit as pb

BUDGETS = [24, 40, 160]
ARMS = pb.environments.GaussianBandit(np.linspace(1.0, 0.0, 8), 0.5)
COLUMNS = ("errors", "regrets", "cumulative_regrets", "pulls", "batches", "stopped", "arm_pulls")
MARKS = ("checkpoint_errors", "checkpoint_regrets", "checkpoint_cumulative_regrets",
         "checkpoint_leaders")


def halving(environment, budget):
    return pb.policies.SequentialHalving(environment.n_arms, budget=budget)


def rejects(environment, budget):
    return pb.policies.SuccessiveRejects(environment.n_arms, budget=budget)


POLICIES = {"halving": halving, "EBTC": pb.policies.EBTC(8), "rejects": rejects}


@pytest.mark.parametrize("common", [True, False])
def test_results_equal_a_simulation_per_budget(common):
    whole = pb.compare(POLICIES, ARMS, 50, rng=1, budgets=BUDGETS, common_rewards=common)
    for j, budget in enumerate(BUDGETS):
        alone = pb.compare({name: lambda e, make=make, budget=budget: make(e, budget)
                            for name, make in POLICIES.items() if name != "EBTC"}, ARMS, 50,
                           rng=1, common_rewards=common)
        for name in alone:
            one, mark = alone[name], whole[name]
            assert np.array_equal(mark.checkpoint_errors[:, j], one.errors)
            assert np.array_equal(mark.checkpoint_regrets[:, j], one.regrets)
            assert np.array_equal(mark.checkpoint_cumulative_regrets[:, j],
                                  one.cumulative_regrets)
    for name in COLUMNS:
        assert np.array_equal(getattr(whole["halving"], name), getattr(alone["halving"], name))
    once = pb.compare({"EBTC": pb.policies.EBTC(8)}, ARMS, 50, rng=1, max_pulls=160,
                      checkpoints=BUDGETS, common_rewards=common)["EBTC"]
    for name in COLUMNS + MARKS:
        assert np.array_equal(getattr(whole["EBTC"], name), getattr(once, name))
    assert whole["halving"].checkpoint_leaders.shape == (50, 3)
    assert whole["rejects"].checkpoints.tolist() == BUDGETS


def test_tables_files_and_merging_work_with_budgets(tmp_path):
    seeds = np.random.SeedSequence(5)
    parts = [pb.compare(POLICIES, ARMS, n, rng=seeds, budgets=BUDGETS) for n in (20, 30)]
    whole = pb.compare(POLICIES, ARMS, 50, rng=5, budgets=BUDGETS)
    parts[0].save(tmp_path / "first.npz")
    merged = pb.simulation.Comparison.load(tmp_path / "first.npz") + parts[1]
    with ThreadPoolExecutor(2) as executor:
        spread = pb.compare(POLICIES, ARMS, 50, rng=5, budgets=BUDGETS, executor=executor)
    for other in (merged, spread):
        for policy in POLICIES:
            for name in COLUMNS + MARKS:
                assert np.array_equal(getattr(other[policy], name), getattr(whole[policy], name))
    other = pb.compare(POLICIES, ARMS, 50, rng=6, budgets=[24, 80, 160])
    with pytest.raises(ValueError, match="checkpoints must be equal"):
        whole + other
    # a comparison with only the last budget has other options
    alone = pb.compare({name: make if name == "EBTC" else lambda e, make=make: make(e, 160)
                        for name, make in POLICIES.items()}, ARMS, 50, rng=6, max_pulls=160,
                       checkpoints=BUDGETS)
    with pytest.raises(ValueError, match="policies must be equal"):
        whole + alone


def test_policies_stop_at_their_budget():
    greedy = pb.compare({"endless": lambda e, budget: pb.policies.UCB1(8)}, ARMS, 5, rng=1,
                        budgets=[80, 160])
    assert greedy["endless"].pulls.tolist() == [160] * 5


@pytest.mark.parametrize("options, words", [
    (dict(budgets=[16, 16]), "budgets must increase; got 16 after 16"),
    (dict(budgets=[0, 16]), "budgets must be .*got 0"),
    (dict(budgets=[]), "budgets must "),
    (dict(budgets=BUDGETS, max_pulls=20), "max_pulls must be None if budgets are given; got 20"),
    (dict(budgets=BUDGETS, checkpoints=[3]), "checkpoints must be None if budgets are given"),
])
def test_invalid_budgets_raise(options, words):
    with pytest.raises(ValueError, match=words):
        pb.compare(POLICIES, ARMS, 5, rng=1, **options)


def test_exceptions_name_policy_and_budget():
    with pytest.raises(pb.errors.InfeasibleBudgetError,
                       match="budgets must reach .*got 4: budget") as found:
        pb.compare(POLICIES, ARMS, 5, rng=1, budgets=[4, 16])
    assert found.value.__notes__ == ["in policies['halving'], budget 4"]
