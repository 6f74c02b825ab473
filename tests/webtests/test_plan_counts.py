"""Plans of web tests: their length before they start."""

import math

import numpy as np
import pytest

from pybandit.webtests import CountPlan, plan_counts


def test_plan_of_three_arms():
    plan = plan_counts([0.04, 0.05, 0.07], 5000, n_runs=60, rng=1)
    assert plan.n_undecided == 0 and plan.n_wrong <= 3 and (plan.winners == 2).sum() >= 57
    assert plan.quantile(0.1) <= plan.quantile(0.5) <= plan.quantile(1.0) == plan.batches.max()
    again = plan_counts([0.04, 0.05, 0.07], 5000, n_runs=60, rng=1)
    assert again.batches.tolist() == plan.batches.tolist()
    easier = plan_counts([0.04, 0.05, 0.07], 5000, n_runs=60, rng=1, ties="any", delta=0.2)
    assert easier.batches.mean() < plan.batches.mean()


def test_z_test_matches_textbook_formula():
    """4.5 % against 5 %, four comparisons, power .8: 40 days of 5,000 visits."""
    plan = plan_counts([0.04, 0.0425, 0.045, 0.045, 0.05], 5000, n_runs=1, max_batches=1, rng=1)
    assert math.ceil(plan.z_test) == 41 and plan.z_test < 40.5
    # two arms at level 5 %, power .8: (1.96 + .84)^2 (p q + r s) / d^2 trials of each
    two = plan_counts([0.1, 0.12], 1, n_runs=1, max_batches=1, rng=1)
    assert np.isclose(two.z_test, 2 * 2.8015852**2 * (0.09 + 0.1056) / 0.02**2, rtol=1e-5)


def test_plan_of_equal_rates():
    plan = plan_counts([0.05, 0.05], 5000, n_runs=80, max_batches=40, rng=1)
    assert plan.z_test == math.inf and plan.n_wrong + plan.n_undecided == 80
    assert plan.n_wrong <= 8 and plan.quantile(0.5) == math.inf
    low, high = plan.wrong_interval
    assert low <= plan.n_wrong / 80 <= high


def test_plan_gives_reason_for_no_winner():
    """The reason is too few batches or equal rates; the estimate is near the simulated median."""
    plan = plan_counts([0.3, 0.303], 5000, n_runs=6, max_batches=20, rng=1)
    assert plan.n_undecided == 6 and 120 < plan.estimate < 250
    assert plan.reason == ("the two best rates differ by 0.003, which takes about "
                           f"{plan.estimate:,.0f} batches of 5,000 trials to detect; the "
                           "limit was 20")
    equal = plan_counts([0.3, 0.3], 5000, n_runs=6, max_batches=20, rng=1)
    assert equal.estimate == math.inf and "are equal, 0.3: no winner" in equal.reason
    found = plan_counts([0.3, 0.33], 1000, n_runs=60, rng=1)
    assert found.reason == "" and 0.6 < found.quantile(0.5) / found.estimate < 1.6
    large = plan_counts([0.5, 0.502], 1_000_000, n_runs=10, rng=1)
    assert large.n_undecided == 0 and large.reason == "" and large.quantile(0.5) <= 6


def test_wrong_winners_are_counted():
    def plan_of(rates):
        return CountPlan(rates=np.array(rates), batch_size=9, batches=np.array([1, 2, 3, 9]),
                         winners=np.array([0, 1, 2, -1]), z_test=1.0, estimate=3.0, max_batches=9)

    plan = plan_of([0.2, 0.3, 0.3])
    assert plan.n_wrong == 3 and plan.n_undecided == 1
    assert plan.quantile(0.75) == 3.0 and plan.quantile(0.8) == math.inf
    best = plan_of([0.2, 0.3, 0.4])
    assert best.n_wrong == 2


@pytest.mark.parametrize(("options", "word"), [
    (dict(rates=[0.1, 1.0]), "rates"), (dict(rates=0.1), "rates"), (dict(rates=[0.1]), "rates"),
    (dict(batch_size=0), "batch_size"), (dict(n_runs=0), "n_runs"), (dict(power=1.0), "power"),
    (dict(max_batches=0), "max_batches"), (dict(delta=0.0), "delta"), (dict(ties="x"), "ties")])
def test_invalid_plans_are_rejected(options, word):
    with pytest.raises(ValueError, match=word):
        plan_counts(**{"rates": [0.1, 0.2], "batch_size": 9, **options})
