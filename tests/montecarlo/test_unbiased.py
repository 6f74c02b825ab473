"""Bias of the pooled mean, by enumeration of all values of two estimators."""

import copy
import itertools
import math

import numpy as np
import pytest

import pybandit as pb

# values and probabilities of two estimators with mean 1
LAWS = (((0.0, 2.0), (0.5, 0.5)), ((0.0, 4.0), (0.75, 0.25)))


def moments(allocator, costs):
    """Return the total probability, and mean and mean square of the estimate."""
    if allocator.done:
        estimate = allocator.estimate
        return np.array([1.0, estimate, estimate**2])
    arms, total = allocator.ask(), np.zeros(3)
    for outcome in itertools.product(*[list(zip(*LAWS[arm], strict=True)) for arm in arms]):
        branch, values = copy.deepcopy(allocator), [value for value, _ in outcome]
        if costs is None:
            branch.tell(arms, values)
        else:
            branch.tell(arms, values, costs=[costs[arm] for arm in arms])
        total += math.prod(probability for _, probability in outcome) * moments(branch, costs)
    return total


def bias(budget, costs=None):
    """Return the bias in standard deviations of the estimate."""
    kind = "equal" if costs is None else "told"
    allocator = pb.montecarlo.EstimatorAllocator(2, policy="lcb-variance", costs=kind,
                                                 budget=budget, pilot=2, rng=1)
    probability, mean, square = moments(allocator, costs)
    assert probability == pytest.approx(1.0, abs=1e-12)
    return (mean - 1.0) / np.sqrt(square - mean**2)


def test_pooled_mean_is_unbiased_with_equal_costs():
    assert abs(bias(8)) < 1e-12


@pytest.mark.parametrize("costs, expected", [((1.0, 4.0), -0.087), ((3.0, 1.0), 0.094)])
def test_pooled_mean_is_biased_with_observed_costs(costs, expected):
    """The number of values that the budget buys depends on the choices, and these on values."""
    assert bias(14.0, costs) == pytest.approx(expected, abs=0.001)
