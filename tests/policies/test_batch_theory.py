"""Lemma 1 and both theorems of Jun et al. 2016: printed digits, transcriptions, simulation."""

import math

import numpy as np
import pytest

import pybandit as pb

LINEAR, SPARSE = (99 - np.arange(100)) / 99, np.repeat([0.5, 0.3], [10, 90])
# (b, r): theory columns of Table 1 for Linear and Sparse.
PRINTED = {(4, 1): (2.71, 4.00), (4, 2): (4.00, 4.00), (16, 1): (3.14, 16.00),
           (16, 2): (6.08, 16.00), (16, 4): (10.84, 16.00), (16, 8): (16.00, 16.00),
           (64, 1): (3.16, 63.97), (64, 2): (6.32, 63.97), (64, 4): (12.55, 63.97),
           (64, 8): (24.31, 63.97), (64, 16): (43.37, 63.97), (64, 32): (64.00, 63.97)}


def gaps_of(means, k):
    """Return the gaps by their definition, arm by arm."""
    order = sorted(range(len(means)), key=lambda i: (-means[i], i))
    gaps = [0.0] * len(means)
    for rank, arm in enumerate(order):
        gaps[arm] = means[arm] - means[order[k]] if rank < k else means[order[k - 1]] - means[arm]
    return gaps


def transcribed_error(means, k, b, r, n_batches):
    """Return the error bound of Theorem 2 as printed, but with the ceilings of Algorithm 3."""
    n, gaps = len(means), sorted(gaps_of(means, k))
    b = min(b, n * r)
    kept = min(n, max(math.ceil(b / r), 2))
    c1 = b + kept * min(r, math.ceil(b / 2)) + n
    hardest = max(i / gaps[i - 1] ** 2 for i in [2, *range(kept + 1, n + 1)])
    hardness = (kept / 2 + sum(1 / i for i in range(kept + 1, n + 1))) / b * hardest
    spent = sum(math.ceil(b / i) for i in range(kept + 1, n + 1))
    return 2 * n**2 * math.exp(-(n_batches - spent / b - c1 / b) / (8 * hardness))


def test_deviation_is_the_printed_one():
    """Eq. 1 divided by the number of rewards, for the scale 1/2 of rewards in [0, 1]."""
    n, omega = np.array([1, 2, 7, 1000, 10**9]), np.array([[0.4], [0.05], [1e-300]])
    printed = 4 * 0.5 * np.sqrt(n * np.log(np.log2(2 * n) / omega)) / n
    found = pb.bounds.batch_racing_deviation(n, omega)
    np.testing.assert_allclose(found, printed, rtol=1e-14)
    np.testing.assert_allclose(pb.bounds.batch_racing_deviation(n, omega, noise_std=3.0),
                               6 * printed, rtol=1e-14)
    assert isinstance(pb.bounds.batch_racing_deviation(5, 0.1), float)


def test_means_keep_the_deviation_at_all_times():
    """With omega = .2 at most .24 of the sequences leave it; more leave a quarter of it."""
    rng, n = np.random.default_rng(1), np.arange(1, 2001)
    means = np.abs(rng.normal(0.0, 0.5, (2000, n.size)).cumsum(axis=1) / n)
    outside = (means > pb.bounds.batch_racing_deviation(n, 0.2)).any(axis=1).mean()
    assert outside <= 6 * 0.2**2
    small = (means > 0.25 * pb.bounds.batch_racing_deviation(n, 0.2)).any(axis=1).mean()
    assert small > 6 * 0.2**2


def test_race_decides_at_the_deviation():
    """Rewards 1 and 0: `BatchRacing` ends at the first n with twice the deviation below 1."""
    for delta in 0.3, 0.01:
        policy = pb.policies.BatchRacing(2, 1, delta=delta, batch_size=2, max_repeats=1)
        while not policy.done:
            arms = policy.ask()
            policy.tell(arms, 1.0 - arms)
        n = np.arange(1, 1000)
        apart = 2 * pb.bounds.batch_racing_deviation(n, (delta / 12) ** 0.5) < 1
        assert policy.n_batches == n[apart.argmax()] > 10


@pytest.mark.parametrize("sizes", PRINTED)
def test_theorem_1_gives_printed_speedups(sizes):
    for means, printed in zip((LINEAR, SPARSE), PRINTED[sizes], strict=True):
        one, many = (pb.bounds.batch_racing_batches(means, 10, delta=0.1, batch_size=b,
                                                    max_repeats=r) for b, r in ((1, 1), sizes))
        assert f"{one / many:.2f}" == f"{printed:.2f}"


def test_pulls_sum_to_reference_values():
    for means, total in ((LINEAR, 16_550_985), (SPARSE, 1_273_800)):
        assert pb.bounds.batch_racing_pulls(means, 10, delta=0.1).sum() == total
        assert pb.bounds.batch_racing_batches(means, 10, delta=0.1, batch_size=1) == total


def test_pulls_follow_the_order_of_the_means():
    rng = np.random.default_rng(1)
    order = rng.permutation(100)
    np.testing.assert_array_equal(pb.bounds.batch_racing_pulls(LINEAR[order], 10),
                                  pb.bounds.batch_racing_pulls(LINEAR, 10)[order])


@pytest.mark.parametrize("k, b, r", [(1, 1, 1), (2, 5, 2), (3, 8, 8), (4, 100, 3), (7, 16, 1)])
def test_theorem_2_is_the_transcribed_one(k, b, r):
    rng = np.random.default_rng(b)
    means = rng.random(9)
    for n_batches in (40, 4_000, 400_000):
        found = pb.bounds.batch_sar_error(means, k, batch_size=b, max_repeats=r,
                                          max_batches=n_batches)
        assert found == pytest.approx(transcribed_error(means.tolist(), k, b, r, n_batches))


def test_equal_boundary_means_have_no_bound():
    means = [0.9, 0.5, 0.5, 0.1]
    assert pb.bounds.batch_racing_pulls(means, 2)[1] == np.inf
    assert pb.bounds.batch_racing_batches(means, 2, batch_size=4) == np.inf
    assert pb.bounds.batch_sar_error(means, 2, batch_size=4, max_batches=10**6) >= 1


def test_races_end_within_theorem_1():
    """At delta = .1, 20 of 200 races may exceed the bound; none does, since the bound is loose."""
    means = np.array([0.9, 0.8, 0.3, 0.2, 0.1])
    most = pb.bounds.batch_racing_batches(means, 2, batch_size=6, max_repeats=2, delta=0.1)
    result = pb.simulate(
        lambda e: pb.policies.BatchRacing(e.n_arms, 2, delta=0.1, batch_size=6, max_repeats=2),
        pb.environments.BernoulliBandit(means), 200, rng=1, progress=False)
    assert (result.batches <= most).all() and result.batches.mean() > most / 20


def test_errors_stay_below_theorem_2():
    """Uses 900 batches, for which the bound is below 1."""
    means = np.repeat([0.8, 0.3], [2, 4])
    bound = pb.bounds.batch_sar_error(means, 2, batch_size=6, max_repeats=2, max_batches=900)
    assert bound < 1
    result = pb.simulate(
        lambda e: pb.policies.BatchSAR(e.n_arms, 2, batch_size=6, max_repeats=2, max_batches=900),
        pb.environments.BernoulliBandit(means), 300, rng=1, progress=False)
    assert result.error_probability <= bound


@pytest.mark.parametrize("call, message", [
    (lambda: pb.bounds.batch_racing_pulls([0.5, 1.2]), r"means must be in \[0, 1\]; got 1.2"),
    (lambda: pb.bounds.batch_racing_pulls([0.5]), r"at least two arms; got shape \(1,\)"),
    (lambda: pb.bounds.batch_racing_pulls([0.5, 0.2], 2), "k must be"),
    (lambda: pb.bounds.batch_racing_batches([0.5, 0.2], batch_size=0), "batch_size must be"),
    (lambda: pb.bounds.batch_racing_deviation([3, 0], 0.1), "n must be finite and at least 1"),
    (lambda: pb.bounds.batch_racing_deviation(3, 0.41), r"omega must be in \(0, sqrt"),
    (lambda: pb.bounds.batch_racing_deviation(3, 0.1, noise_std=0), "noise_std must be finite"),
    (lambda: pb.bounds.batch_sar_error([0.5, 0.2], batch_size=2, max_repeats=3, max_batches=9),
     "max_repeats must be"),
])
def test_theory_refuses_bad_arguments(call, message):
    with pytest.raises(ValueError, match=message):
        call()
