"""Time of the acceptance test, compared with its reads alone and with NumPy.

Run with ``make bench``. The first role of a group is the limit; the others are reported
as multiples of it.
"""

import ctypes

import numpy as np
import pytest

import pybandit as pb

from native import bits_of, pointer

N = 100_000
i64 = ctypes.c_int64


@pytest.fixture(scope="module")
def ratios():
    values = np.random.default_rng(2016).normal(size=N)
    return values - values.mean()


def numpy_test(ratios, log_threshold, scale, rows, rng):
    """Run the test look by look in NumPy; it draws with replacement, which is cheapest."""
    psi, seen = log_threshold / N, np.zeros(0)
    for n, width in zip(rows[:-1], scale, strict=False):
        seen = np.append(seen, ratios[rng.integers(N, size=n - seen.size)])
        gap = seen.mean() - psi
        if abs(gap) > width * seen.std():
            return gap > 0
    return ratios.sum() > log_threshold


@pytest.mark.parametrize("rows", [50, 1000, 10_000])
@pytest.mark.parametrize("role", ["bare shuffle and gather", "AcceptanceTest", "accept", "NumPy"])
def test_against_the_limit(timed, limits, ratios, rows, role):
    """A test that decides at its first look needs sum and square of `rows` random ratios."""
    rng = np.random.default_rng(3)
    group = f"{rows} of {N} log ratios"
    options = dict(looks=pb.racing.Looks(first=rows), rng=rng)
    if role == "bare shuffle and gather":
        permutation, moments = np.arange(N), np.zeros(2)
        arguments = (bits_of(rng), pointer(permutation), i64(N), pointer(ratios), i64(rows),
                     pointer(moments))
        timed(group, role, lambda: limits.limit_shuffle_gather_1(*arguments))
    elif role == "AcceptanceTest":
        test = pb.racing.AcceptanceTest(ratios, **options)
        assert test.test(-10.0 * N).n_evaluations == rows
        timed(group, role, lambda: test.test(-10.0 * N))
    elif role == "accept":
        timed(group, role, lambda: pb.racing.accept(ratios, -10.0 * N, **options))
    else:
        schedule = pb.racing.AcceptanceTest(ratios, **options).schedule
        timed(group, role, lambda: numpy_test(ratios, -10.0 * N, schedule.scale, schedule.rows,
                                              rng))


@pytest.mark.parametrize("role", ["ratios.sum()", "AcceptanceTest, undecided", "NumPy, undecided"])
def test_everything_read(timed, ratios, role):
    """If the mean equals the threshold, all looks are undecided and one pass follows."""
    rng = np.random.default_rng(4)
    test = pb.racing.AcceptanceTest(ratios, delta=1e-9, rng=rng)
    call = {
        "ratios.sum()": ratios.sum,
        "AcceptanceTest, undecided": lambda: test.test(0.0),
        "NumPy, undecided": lambda: numpy_test(ratios, 0.0, test.schedule.scale,
                                               test.schedule.rows, rng),
    }[role]
    timed(f"all of {N} log ratios", role, call)


@pytest.mark.parametrize("role", ["the function alone", "AcceptanceTest with the function",
                                  "nothing to read"])
def test_a_python_function(timed, ratios, role):
    """One look at 50 ratios of a Python function; the difference is the cost of the test."""
    rows = np.ascontiguousarray(ratios[:50, None])
    indices, states = np.arange(50), np.zeros(1, dtype=np.int64)

    def function(factors, chosen):
        return rows

    test = pb.racing.AcceptanceTest(pb.Factors(function, N, 1), rng=1)
    call = {
        "the function alone": lambda: function(indices, states),
        "AcceptanceTest with the function": lambda: test.test(-10.0 * N),
        "nothing to read": lambda: test.test(np.inf),
    }[role]
    timed("a look at a Python function of 50 log ratios", role, call)


@pytest.mark.parametrize("role", ["race", "lil_ucb"])
def test_lil_ucb(timed, population, role):
    """The race reads a third of the rewards in this draw of the synthetic experiment."""
    rewards = 1e-5 * population
    options = dict(bound="normal", delta=0.05) if role == "race" else dict(
        delta=0.05, value_range=np.ptp(rewards, axis=0))
    rng = np.random.default_rng(5)
    perturbed = iter(np.log(np.arange(1, 11) / 55) + rng.gumbel(size=(100_000, 10)))
    find = pb.race if role == "race" else pb.racing.lil_ucb
    timed("a draw, sigma = 1e-5", role, lambda: find(rewards, next(perturbed), rng=rng, **options),
          rounds=200)


@pytest.mark.parametrize("role", ["sums of all", "race_populations"])
def test_populations(timed, role):
    """Race fifty clusters of 1 to 1829 members, of which one is far ahead."""
    rng = np.random.default_rng(6)
    sizes = np.geomspace(1, 1829, 50).astype(int)
    arms = [rng.normal(-1.0, 0.3, size) for size in sizes]
    if role == "sums of all":
        timed("fifty clusters", role, lambda: np.argmax([arm.sum() for arm in arms]))
    else:
        timed("fifty clusters", role, lambda: pb.racing.race_populations(arms, rng=rng))
