"""Best policy for two estimators (Neufeld et al. 2014, Figure 1). About four minutes."""

import numpy as np
import pytest

from papers import load

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def example():
    return load("neufeld2014", "figure_1")


@pytest.mark.parametrize("first, gap, winner", [
    (0.001, 0.001, "UCB-V"), (0.001, 0.01, "UCB-V"), (0.005, 0.005, "UCB-V"),
    (0.01, 0.001, "UCB-V"), (0.01, 0.005, "UCB-V"), (0.01, 0.01, "UCB-V"),
    (0.001, 0.05, "Thompson"), (0.005, 0.03, "Thompson"), (0.05, 0.03, "Thompson"),
    (0.05, 0.05, "Thompson"), (0.2, 0.03, "Thompson"), (0.2, 0.05, "Thompson")])
def test_best_policy_matches_figure_1(example, first, gap, winner):
    """Thompson for gaps of .03 or more, UCB-V if variances and gaps are at most .01."""
    found = {name: example["regret"](name, example["pair"](first, gap), 100_000, 400, 5)
             for name in example["FOUR"]}
    assert min(found, key=lambda name: found[name][0]) == winner, found


def test_regrets_match_references(example):
    for cell, known in example["REFERENCE"].items():
        for name, (mean, half) in zip(example["PAPER"], known, strict=True):
            value, error = example["regret"](name, example["pair"](*cell), 100_000, 200, 7)
            assert abs(value - mean) < 4 / 1.96 * np.hypot(error, half), (cell, name, value)
