"""BatchScreening: reference runs, full batches, unmeasured arms, the prior, and hits found."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pybandit as pb
from costly import part

from policies.batch_runs import PROBLEMS, random_problem
from policies.reference import screening as plain


def reference_counts(policy):
    """Return the wells of each arm that the reference chooses."""
    state, prior = policy.get_state(), policy.prior_means
    order = scores = None
    if prior is not None:
        order = np.argsort(-prior, kind="stable")
        scores = plain.scores(prior)
    return plain.choose(state["pulls"], state["sums"], state["deviations"],
                       policy.max_batches - policy.n_batches, k=policy.k, size=policy.batch_size,
                       repeats=policy.max_repeats, order=order, prior=scores,
                       noise_std=policy.noise_std)


def random_policy(rng, spare=6, **options):
    n, k, b, r = random_problem(rng)
    least = -(-n // min(b, n * r))
    return pb.policies.BatchScreening(n, k, batch_size=b, max_batches=least
                                      + int(rng.integers(spare)), max_repeats=r, **options)


def played(policy, rewards):
    while not policy.done:
        arms = policy.ask()
        policy.tell(arms, rewards(arms), missing="drop")
    return policy


@pytest.mark.examples
@pytest.mark.parametrize("lost", [0.0, 0.3])
def test_screening_matches_reference(lost):
    """Sums that differ by rounding may change the choice in one of a thousand batches."""
    n_batches = n_other = 0
    for seed in range(part(50, of=150)):
        rng = np.random.default_rng([seed, lost > 0])
        options = [{}, {"noise_std": 0.5}][seed % 2]
        policy = random_policy(rng, **options)
        if seed % 3 == 0:
            policy = pb.policies.BatchScreening(**{**policy.get_state()["options"],
                                                   "prior_means": rng.normal(size=policy.n_arms)})
        truth = rng.normal(size=policy.n_arms)
        while not policy.done:
            arms = policy.ask()
            counts = np.bincount(arms, minlength=policy.n_arms)
            assert np.all(np.diff(arms) >= 0)
            n_batches += 1
            n_other += not np.array_equal(counts, reference_counts(policy))
            rewards = rng.normal(truth[arms], 0.5)
            policy.tell(arms, np.where(rng.random(arms.size) < lost, np.nan, rewards),
                        missing="drop")
        state, prior = policy.get_state(), policy.prior_means
        means, _, _ = plain.believe(state["pulls"], state["sums"], state["deviations"],
                                   None if prior is None else plain.scores(prior),
                                   policy.noise_std)
        best = np.lexsort((-means, state["pulls"] == 0))[:policy.k]
        assert np.allclose(means[policy.recommend()], means[best], rtol=1e-9, atol=1e-12)
    assert n_batches > 400 and n_other <= n_batches // 1000


@settings(max_examples=300, deadline=None, derandomize=True)
@given(PROBLEMS, st.integers(0, 5), st.integers(0, 2**32))
def test_batches_are_full_and_the_budget_is_kept(problem, spare, seed):
    n, k, b, r = problem
    least = -(-n // min(b, n * r))
    policy = pb.policies.BatchScreening(n, k, batch_size=b, max_batches=least + spare,
                                        max_repeats=r)
    rng = np.random.default_rng(seed)
    seen = np.zeros(n, dtype=bool)
    while not policy.done:
        arms = policy.ask()
        assert arms.size == policy.batch_size and np.bincount(arms).max() <= policy.max_repeats
        # an arm is repeated only if the arms not yet measured do not fill the batch
        assert seen[arms].sum() <= max(0, b - (~seen).sum())
        seen[arms] = True
        policy.tell(arms, rng.integers(0, 3, arms.size).astype(float))
    assert policy.n_batches == (least + spare if 0 < k < n else 0)
    assert len(set(policy.recommend().tolist())) == k
    assert policy.unmeasured.size == (0 if 0 < k < n else n)


def test_lost_wells_are_measured_again():
    policy = pb.policies.BatchScreening(20, 3, batch_size=10, max_batches=5)
    first = policy.ask()
    policy.tell(first, np.full(10, np.nan), missing="drop")
    assert np.array_equal(policy.ask(), first)
    policy.tell(first, np.where(first == 4, np.nan, 0.1 * first), missing="drop")
    assert policy.unmeasured.tolist() == [4, *range(10, 20)]
    second = policy.ask()
    assert second.tolist() == [4, *range(10, 19)]
    policy.tell(second, 0.1 * second)
    third = policy.ask()
    assert third[third > 18].tolist() == [19] and third.size == 10


def test_too_few_batches_are_refused_unless_allowed():
    with pytest.raises(pb.errors.InfeasibleBudgetError,
                       match="max_batches must be at least 6 to measure each of 2000 .*"
                             "; got 5.* pass allow_unmeasured"):
        pb.policies.BatchScreening(2000, 20, batch_size=384, max_batches=5)
    policy = played(pb.policies.BatchScreening(20, 3, batch_size=5, max_batches=3,
                                               allow_unmeasured=True),
                    lambda arms: -1.0 * arms)
    assert policy.unmeasured.tolist() == list(range(15, 20))
    assert policy.recommend().tolist() == [0, 1, 2]


def test_prior_sets_the_order_and_shifts_estimates_if_supported():
    rng = np.random.default_rng(3)
    prior = rng.normal(size=60)
    order = np.argsort(-prior)
    policy = pb.policies.BatchScreening(60, 5, batch_size=20, max_batches=3, prior_means=prior)
    assert sorted(policy.ask().tolist()) == sorted(order[:20].tolist())
    assert np.array_equal(policy.prior_means, prior)
    found = {True: 0, False: 0}
    for seed in range(40):
        rng = np.random.default_rng(seed)
        means = rng.normal(size=200)
        for known in found:
            hint = means + rng.normal(size=200) if known else rng.normal(size=200)
            policy = played(pb.policies.BatchScreening(200, 10, batch_size=50, max_batches=5,
                                                       prior_means=hint),
                            lambda arms, rng=rng, means=means: rng.normal(means[arms], 1.0))
            found[known] += np.isin(policy.recommend(), np.argsort(-means)[:10]).sum()
    assert found[True] > 1.1 * found[False]


@pytest.mark.parametrize("options, words", [
    (dict(prior_means=[1.0, 2.0]), "prior_means must have shape (5,); got (2,)"),
    (dict(prior_means=[0.0, 1.0, np.nan, 2.0, 3.0]), "prior_means must be finite"),
    (dict(noise_std=0.0), "noise_std must be"),
    (dict(noise_std=np.inf), "noise_std must be"),
])
def test_bad_options_are_refused(options, words):
    with pytest.raises(ValueError) as caught:
        pb.policies.BatchScreening(5, 2, batch_size=3, max_batches=9, **options)
    assert words in str(caught.value)


def by_hand(means, noise, rng, k, size, n_batches):
    """Measure every arm once, then the top 20 k, 5 k and 3 k arms with a third of the rest each."""
    n = means.size
    sums, pulls = np.zeros(n), np.zeros(n)

    def read(arms):
        np.add.at(sums, arms, means[arms] + noise(rng, arms.size))
        np.add.at(pulls, arms, 1)

    first = -(-n // size)
    read(np.arange(n))
    read(np.argsort(-sums)[:first * size - n])
    left, start = np.arange(n), 0
    for step, share in zip((20, 5, 3), np.array_split(np.arange(n_batches - first), 3),
                           strict=True):
        left, start = left[np.argsort(-(sums / pulls)[left], kind="stable")[:step * k]], 0
        for _ in share:
            read(np.take(left, np.arange(start, start + size), mode="wrap"))
            start += size
    return left[np.argsort(-(sums / pulls)[left])[:k]]


def skewed(rng, size):
    """Return lognormal noise with mean 0 and standard deviation 0.7, rarely ten times as large."""
    return 0.7 * (rng.lognormal(size=size) - np.exp(0.5)) / np.sqrt(np.e**2 - np.e)


NOISES = {"low": lambda rng, size: rng.normal(0.0, 0.35, size),
          "high": lambda rng, size: rng.normal(0.0, 1.0, size), "skewed": skewed}


@pytest.mark.parametrize("name", NOISES)
def test_screening_finds_as_many_hits_as_a_manual_schedule(name):
    noise, found, known = NOISES[name], 0, 0
    for seed in range(25):
        rng = np.random.default_rng(seed)
        means = rng.normal(size=1000)
        best = np.argsort(-means)[:10]
        known += np.isin(by_hand(means, noise, rng, 10, 192, 12), best).sum()
        policy = played(pb.policies.BatchScreening(1000, 10, batch_size=192, max_batches=12),
                        lambda arms: means[arms] + noise(rng, arms.size))  # noqa: B023
        found += np.isin(policy.recommend(), best).sum()
    assert found >= known


def test_late_rewards_change_later_batches():
    policy = pb.policies.BatchScreening(6, 2, batch_size=3, max_batches=4)
    first = policy.ask()
    policy.tell(first, [0.1, np.nan, 0.3], missing="drop")
    asked = policy.ask()
    assert asked.tolist() == [1, 3, 4]
    policy.add_late([1], [9.0])
    assert np.array_equal(policy.ask(), asked)
    policy.tell(asked, [8.0, 0.2, 0.1])
    assert policy.recommend()[0] == 1
