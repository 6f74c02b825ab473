"""Error rates of the acceptance test if the mean equals the threshold; table of lil'UCB.

About ten minutes on one core. Seeds are fixed, so a result repeats exactly.
"""

import numpy as np
import pytest

import pybandit as pb

from racing.reference import gap_zero, tables
from racing.reference.tables import LOG_P, D, N, standardised
from racing.test_acceptance import share_decided_early

pytestmark = pytest.mark.slow

# first look, delta, error of `normal` and of `student` with N = 100,000, one-sided
KNOWN_ERRORS = [
    (50, 0.01, 0.0113, 0.00995),
    (50, 0.05, 0.0528, 0.0499),
    (50, 0.1, 0.1025, 0.0987),
    (10, 0.01, 0.0194, None),
    (10, 0.05, 0.0666, None),
    (10, 0.1, 0.118, None),
]


def assert_close(error, expected, n_tests, relative):
    """Allow five standard errors plus the error of the printed or simulated value."""
    assert abs(error - expected) <= 5 * np.sqrt(0.5 * expected / n_tests) + relative * expected


@pytest.mark.parametrize("first_look, delta, normal, student", KNOWN_ERRORS)
def test_errors_of_the_one_sided_bounds_are_as_known(first_look, delta, normal, student):
    """Such a test equals a race of two states without a gap, whose error rates are known."""
    n_tests = round(1500 / delta)
    for kind, expected in [(pb.racing.NormalBound, normal), (pb.racing.StudentBound, student)]:
        if expected is not None:
            error = share_decided_early(kind(delta=delta), None, first_look, 100_000, n_tests,
                                        seed=60)
            assert_close(error, expected, n_tests, relative=0.01)


@pytest.mark.parametrize("bound", ["normal", "student"])
@pytest.mark.parametrize("first_look", [10, 50])
@pytest.mark.parametrize("delta", [0.001, 0.01, 0.05, 0.1])
def test_errors_of_the_two_sided_bounds_equal_the_reference(bound, first_look, delta):
    """Bounds given by name err as often as simulated; "student" errs about delta."""
    size, rng = 2000, np.random.default_rng(61)
    expected = gap_zero.error(bound, delta, first_look, size, 2_000_000, rng, "two-sided")
    n_tests = round(1500 / delta / 20) * 20
    error = share_decided_early(bound, delta, first_look, size, n_tests, seed=62)
    assert_close(error, expected, n_tests, relative=0.02)
    if bound == "student":
        assert_close(error, delta, n_tests, relative=0.03)


@pytest.mark.parametrize("row", tables.lil_ucb_cells(),
                         ids=lambda row: f"{row['dist']}-{row['sigma']}-{row['delta']}")
def test_reads_equal_the_table_of_lil_ucb(row):
    """Reads agree with the table, which used another population.

    Reads grow with the square of the range of an arm. The range of 100,000 normal values differs
    by a few per cent between populations, and that of lognormal values by half.
    """
    rewards = standardised(row["dist"]) * row["sigma"]
    ranges = np.ptp(rewards, axis=0)
    rng = np.random.default_rng(63)
    n_draws = int(np.clip(12 / row["proportion"], 4, 800))
    shares = []
    for perturbed in LOG_P + rng.gumbel(size=(n_draws, D)):
        result = pb.racing.lil_ucb(rewards, perturbed, delta=row["delta"], value_range=ranges,
                                   rng=rng)
        # the reference never erred in more than 40,000 draws
        assert result.best == perturbed.argmax()
        shares.append(result.n_evaluations / (N * D))
    low, high = row["proportion_ci95"]
    spread = np.hypot((high - low) / 3.92, np.std(shares) / np.sqrt(n_draws))
    population = {"normal": 0.1, "lognormal": 0.5}[row["dist"]]
    assert abs(np.mean(shares) - row["proportion"]) <= (
        5 * spread + population * row["proportion"])
