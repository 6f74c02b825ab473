"""Bounds of Lalitha et al. 2023: direct transcriptions, simulations, and the printed forms."""

import math

import numpy as np
import pytest
from scipy import stats

import pybandit as pb

MEANS, NOISE = np.array([1.0, 0.4, 0.2, 0.1, 0.0]), np.array([0.9, 0.3, 0.8, 0.2, 0.5])


def transcribed_stages(n_arms, budget):
    """Return the surviving arms of every stage, and the pulls of one stage."""
    sizes = []
    while n_arms > 1:
        sizes.append(n_arms)
        n_arms = math.ceil(n_arms / 2)
    return sizes, budget // len(sizes)


def transcribed_alpha(k, n, delta):
    """Return alpha(k, n, delta) of Lemma 8, as printed."""
    ratio = math.log(1 / delta) / (n / k - 2)
    return (1 - 2 * math.sqrt(ratio)) / (1 + 2 * math.sqrt(ratio) + 2 * ratio)


def sum_over_stages(exponent_of, n_arms, budget):
    """Return the sum of Appendix A over stages with |A_s| in place of the printed n_s."""
    sizes, per_stage = transcribed_stages(n_arms, budget)
    return sum(2 * (size - 1) / size * math.exp(-exponent_of(size, per_stage))
               for size in sizes)


@pytest.mark.parametrize("k, n", [(2, 40), (4, 400), (64, 6_000), (64, 60_000)])
def test_theorems_equal_print_up_to_corrections(k, n):
    """The formulas apply to K = 2^m arms and budgets that are multiples of m."""
    means, noise = np.linspace(1.0, 0.0, k), np.linspace(1.0, 0.5, k)
    log2, gap = math.log2(k), 1 / (k - 1)
    third = 2 * log2 * math.exp(-n * gap**2 / (4 * log2 * (noise**2).sum()))
    fourth = 2 * log2 * math.exp(-(n - k * log2) * gap**2 / (4 * k * log2))
    first = 3 * log2 * math.exp(-n / (8 * log2 * max(i / ((i - 1) * gap) ** 2
                                                       for i in range(2, k + 1))))
    arms = dict(means=means, noise_std=noise, budget=n)
    assert pb.bounds.shvar_error(**arms, shares="integer") == pytest.approx(third)
    assert pb.bounds.shvar_error(**arms) == pytest.approx(fourth)
    assert pb.bounds.sequential_halving_error(means, budget=n) == pytest.approx(first)


def test_theorem_5_is_lemma_8_and_the_failure_probability():
    n, delta = 60_000, 1e-9
    _, per_stage = transcribed_stages(5, n)
    alpha = transcribed_alpha(5, per_stage, delta)
    exponent = alpha * (per_stage / 5 - 1) * 0.6**2 / (4 * 0.9**2)
    expected = 6 * math.exp(-exponent) + 2 * 5 * n * delta
    assert 0 < alpha < 1
    found = pb.bounds.shadavar_error(MEANS, noise_std=NOISE, budget=n, delta=delta)
    assert found == pytest.approx(expected)


def test_theorem_5_with_printed_alpha_exceeds_lemma_8():
    """Theorem 5 prints n where Lemma 8, from which it follows, has the pulls of a stage."""
    k, n, delta = 64, 60_000, 0.05
    printed = transcribed_alpha(k, n, delta / (k * n))
    lemma = transcribed_alpha(k, n // 6, delta / (k * n))
    assert printed > 2 * lemma > 0
    least = pb.bounds.halving_least_pulls(noise_std=np.ones(k), stage_pulls=n // 6,
                                          delta=delta / (k * n))
    assert least == pytest.approx(lemma * (n / 6 / k - 1))


def test_printed_condition_of_theorem_5_leaves_alpha_negative():
    """The bound is useless at 4 log(1 / delta) + 1 pulls per arm, one less than is needed."""
    level = math.log(1 / 1e-6)
    assert transcribed_alpha(2, 2 * (4 * level + 1), 1e-6) < 0
    assert transcribed_alpha(2, 2 * (4 * level + 2), 1e-6) == pytest.approx(0.0, abs=1e-12)


def test_theorem_5_grows_with_delta_in_the_end():
    """The printed bound, without the failure probability, falls as delta grows."""
    deltas = 10.0 ** np.arange(-30, -1)
    bounds = [pb.bounds.shadavar_error(MEANS, noise_std=NOISE, budget=12_000, delta=delta)
              for delta in deltas]
    _, per_stage = transcribed_stages(5, 12_000)
    printed = [math.exp(-transcribed_alpha(5, per_stage, delta)) for delta in deltas]
    assert (np.diff(printed) < 0).all()
    best = int(np.argmin(bounds))
    assert 0 < best < len(bounds) - 1
    assert bounds[-1] > 1 > bounds[best]


def test_bounds_are_at_least_the_sums_over_stages():
    """The theorems take every stage to be as hard as the first, with all K arms."""
    for k, n in ((2, 30), (3, 200), (5, 900), (11, 3_000)):
        means = np.linspace(1.0, 0.0, k)
        gap = means[0] - means[1]
        fourth = sum_over_stages(lambda size, pulls, gap=gap: (pulls / size - 1) * gap**2 / 4, k, n)
        assert fourth <= pb.bounds.shvar_error(means, noise_std=1.0, budget=n)


def test_printed_markov_inequality_fails():
    """Two arms are never confused if the printed n_s is right, since N' is at most 1."""
    result = pb.simulate(lambda e: pb.policies.SHVar(2, budget=10, noise_std=e.noise_std),
                         pb.environments.GaussianBandit([0.1, 0.0], 1.0), 300, rng=1,
                         progress=False)
    printed_probability = float(1 >= 10 / 2)
    assert result.error_probability > 0.3 > printed_probability
    assert result.error_probability <= pb.bounds.shvar_error([0.1, 0.0], noise_std=1.0, budget=10)


@pytest.mark.parametrize("n", [100, 300, 900])
def test_errors_stay_below_theorems(n):
    bandit = pb.environments.GaussianBandit(MEANS, NOISE)
    result = pb.simulate(lambda e: pb.policies.SHVar(5, budget=n, noise_std=e.noise_std),
                         bandit, 400, rng=1, progress=False)
    assert result.error_probability <= pb.bounds.shvar_error(MEANS, noise_std=NOISE, budget=n)


def test_errors_of_shadavar_stay_below_theorem_5():
    n, delta, means, noise = 6_000, 1e-8, np.array([0.5, 0.0, 0.0, 0.0]), np.ones(4)
    bound = pb.bounds.shadavar_error(means, noise_std=noise, budget=n, delta=delta)
    result = pb.simulate(lambda e: pb.policies.SHAdaVar(4, budget=n, delta=delta),
                         pb.environments.GaussianBandit(means, noise), 200, rng=1, progress=False)
    assert result.error_probability <= bound < 1


@pytest.mark.parametrize("delta", [None, 1e-5])
def test_pulls_of_a_stage_reach_the_lemmas(delta):
    """All arms have at least their bound in the first of two stages."""
    noise = np.array([1.0, 0.9, 0.6, 0.3])
    bandit, rng = pb.environments.GaussianBandit(np.zeros(4), noise), np.random.default_rng(1)
    for _ in range(50):
        policy = (pb.policies.SHVar(4, budget=2_000, noise_std=noise) if delta is None
                  else pb.policies.SHAdaVar(4, budget=2_000, delta=delta))
        pulls = np.zeros(4)
        while pulls.sum() < 1_000:
            arms = policy.ask()
            pulls += np.bincount(arms, minlength=4)
            policy.tell(arms, bandit.pull(arms, rng))
        least = pb.bounds.halving_least_pulls(noise_std=noise, stage_pulls=1_000, delta=delta)
        assert pulls.sum() == 1_000 and (pulls >= least).all() and (least > 0).all()
        assert delta is not None or (pulls <= 3 * least).all()


@pytest.mark.parametrize("n", [14, 50, 1000])
def test_variance_bounds_err_at_most_delta(n):
    """The sample variance of n normal values is chi-square, so the errors are exact."""
    lower, upper = pb.bounds.normal_variance_interval(n, 1.0, delta=0.05)
    assert lower < 1 < upper
    chi2 = stats.chi2(n - 1)
    assert chi2.cdf((n - 1) / upper) <= 0.05 and chi2.sf((n - 1) / lower) <= 0.05


def test_variance_bound_is_that_of_eq_7():
    n, variance, delta = np.array([13, 14, 60]), np.array([0.0, 1.0, 2.0]), 0.05
    printed = variance / (1 - 2 * np.sqrt(np.log(1 / delta) / (n - 1)))
    _, upper = pb.bounds.normal_variance_interval(n, variance, delta=delta)
    np.testing.assert_allclose(upper, printed)
    assert pb.bounds.normal_variance_interval(12, 1.0, delta=0.05)[1] == np.inf


def test_equal_best_means_have_no_bound():
    for shares in ("any", "integer"):
        assert pb.bounds.shvar_error([1, 1, 0], noise_std=1.0, budget=10**6, shares=shares) == 4
    assert pb.bounds.shadavar_error([1, 1, 0], noise_std=1.0, budget=10**6) >= 4
    assert pb.bounds.sequential_halving_error([1, 1], budget=10**6) == 3


@pytest.mark.parametrize("call, message", [
    (lambda: pb.bounds.shvar_error([1, 0], noise_std=1.0, budget=1), "budget must be"),
    (lambda: pb.bounds.shvar_error([1], noise_std=1.0, budget=9),
     r"at least two arms; got shape \(1,\)"),
    (lambda: pb.bounds.shvar_error([1, 0], noise_std=[1, 1, 1], budget=9),
     "noise_std must be a number or"),
    (lambda: pb.bounds.shvar_error([1, 0], noise_std=0.0, budget=9),
     "noise_std must be finite and above 0"),
    (lambda: pb.bounds.shvar_error([1, 0], noise_std=1.0, budget=9, shares="half"),
     "shares must be"),
    (lambda: pb.bounds.shadavar_error([1, 0], noise_std=1.0, budget=9, delta=1), "delta must be"),
    (lambda: pb.bounds.halving_least_pulls(noise_std=[1, 1, 1], stage_pulls=2),
     "stage_pulls must be"),
    (lambda: pb.bounds.normal_variance_interval(1, 1.0, delta=0.05), "n must be at least 2"),
    (lambda: pb.bounds.sequential_halving_error([2, 0], budget=9), r"means must be in \[0, 1\]"),
])
def test_theory_refuses_bad_arguments(call, message):
    with pytest.raises(ValueError, match=message):
        call()
