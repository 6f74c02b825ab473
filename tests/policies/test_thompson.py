"""ThompsonSampling: cases, distribution of its choices, the protocol, the saved state."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special, stats

import pybandit as pb

from policies.reference import tables
from policies.reference import thompson as plain


def play(policy, bandit, n, seed=0):
    rng = np.random.default_rng(seed)
    while policy.n_pulls < n:
        arms = policy.ask()
        policy.tell(arms, bandit.pull(arms, rng))
    return policy


# -- the cases --------------------------------------------------------------------------


CASES = [case for case in tables.index_cases()["cases"] if case["policy"] == "ts"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_policy_matches_cases(case):
    """The reference follows the case; so does the policy, except for its random draws."""
    prior = float(case["params"]["alpha"]), float(case["params"]["beta"])
    n_arms = len(case["final_S"])
    reference = plain.ThompsonSampling(n_arms, prior=prior)
    policies = [pb.policies.ThompsonSampling(n_arms, rng=seed, prior=prior) for seed in range(40)]
    for step in case["steps"]:
        theta = [float(value) for value in step["theta"]]
        assert reference.parameters.tolist() == step["beta_params_before"]
        assert reference.choose(theta) == step["chosen"]
        before = reference.lost.sum()
        reference.absorb(step["chosen"], float(step["reward"]), float(step["u"]))
        assert (reference.lost.sum() == before) == step["success"]
        # keep only continuations with the same choice and the same draw as the case
        assert all(p.posteriors.tolist() == step["beta_params_before"] for p in policies)
        matching = []
        while len(matching) < 40:
            for policy in map(as_of, policies, range(len(matching), len(matching) + 40)):
                if policy.ask()[0] == step["chosen"]:
                    policy.tell([step["chosen"]], [float(step["reward"])])
                    matching.append(policy)
        policies = [p for p in matching if np.array_equal(p.posteriors, reference.parameters)]
        assert policies
        policies = (policies * 40)[:40]
    means = [float(mean) for mean in case["posterior_mean"]]
    assert reference.gained.tolist() == case["final_S"]
    assert reference.lost.tolist() == case["final_F"]
    assert reference.means.tolist() == pytest.approx(means, abs=1e-15)
    assert all(p.recommend().tolist() == [reference.recommend()] for p in policies)


def as_of(policy, seed):
    """Return a copy of the policy with another random stream and no arm chosen yet."""
    state = policy.get_state()
    state["progress"]["stream"][:4] = np.random.default_rng(seed).integers(1 << 63, size=4) | 1
    state["progress"]["chosen"] = -1
    return pb.policies.ThompsonSampling.from_state(state)


def test_success_has_the_probability_of_the_reward():
    for reward in (0.0, 1e-3, 0.25, 0.8, 1.0):
        policy = pb.policies.ThompsonSampling(1, rng=3)
        for _ in range(4000):
            policy.tell([0], [reward])
        a, b = policy.posteriors[0]
        assert a + b == 4002.0
        assert abs(a - 1 - 4000 * reward) <= 5 * np.sqrt(4000 * reward * (1 - reward))


def test_fractional_counts_equal_the_rewards():
    reference = plain.ThompsonSampling(3, prior=(2.0, 0.5), fractional=True)
    policy = pb.policies.ThompsonSampling(3, rng=1, prior=(2.0, 0.5), fractional=True)
    rng = np.random.default_rng(2)
    for _ in range(300):
        arm, reward = policy.ask()[0], rng.random()
        policy.tell([arm], [reward])
        reference.absorb(arm, reward)
    assert policy.posteriors == pytest.approx(reference.parameters, rel=1e-12)
    assert policy.recommend() == [reference.recommend()]


# -- the distribution of the choice --------------------------------------------------------


def beta_chances(a, b):
    """Compute P(theta_k is the largest) = E prod_j F_j(theta_k) on a grid of logits."""
    logits = np.linspace(*logit_span(a, b), 60_001)
    x, y = special.expit(logits), special.expit(-logits)
    density = np.exp(a[:, None] * np.log(x) + b[:, None] * np.log(y)
                     - special.betaln(a, b)[:, None])
    below = np.array([special.betainc(p, q, x) for p, q in zip(a, b, strict=True)])
    return integrated(density, below, logits)


def logit_span(a, b):
    centre = special.psi(a) - special.psi(b)
    width = np.sqrt(special.polygamma(1, a) + special.polygamma(1, b))
    return (centre - 12 * width - 10 / a).max(), (centre + 12 * width + 10 / b).max()


def integrated(density, below, grid):
    """Compute P(k is the largest) on the grid; values of `below` under 1e-300 do not matter."""
    logs = np.log(np.maximum(below, 1e-300))
    others = np.exp(logs.sum(axis=0) - logs)
    return np.trapezoid(density * others, grid, axis=1)


def gaussian_chances(means, deviations):
    grid = np.linspace((means - 9 * deviations).max(), (means + 9 * deviations).max(), 100_001)
    z = (grid - means[:, None]) / deviations[:, None]
    return integrated(stats.norm.pdf(z) / deviations[:, None], stats.norm.cdf(z), grid)


def assert_follows(arms, chances):
    """Chi-square test, merging cells below 10 expected choices; fails by chance once in 1e7."""
    assert chances.sum() == pytest.approx(1.0, abs=1e-6)
    observed = np.bincount(arms, minlength=chances.size)
    expected = chances / chances.sum() * arms.size
    rare = expected < 10
    if rare.any():
        observed = np.append(observed[~rare], observed[rare].sum())
        expected = np.append(expected[~rare], expected[rare].sum())
        if expected[-1] < 10:
            # too few for a chi-square test: test the Poisson tail, then merge with the largest cell
            assert stats.poisson.sf(observed[-1] - 1, expected[-1]) > 1e-7
            largest = int(np.argmax(expected[:-1]))
            observed[largest] += observed[-1]
            expected[largest] += expected[-1]
            observed, expected = observed[:-1], expected[:-1]
    if expected.size > 1:
        assert stats.chisquare(observed, expected).pvalue > 1e-7, (observed, expected)
    else:
        assert observed[0] == arms.size


COUNTS = {
    "nothing seen": [[0, 0]] * 4,
    "equal": [[30, 20]] * 10,
    "one dominant": [[900, 100], [300, 200], [3, 5], [0, 1]],
    "tiny": [[1, 0], [0, 1], [2, 1], [0, 0], [0, 5]],
    "near": [[510, 490], [500, 500], [52, 48]],
    "many blocks": [[k % 7, 3] for k in range(40)],
    "next to one": [[400, 0], [90, 0], [3, 0]],
    "next to none": [[0, 400], [0, 90], [0, 3]],
    "fractional": [[0.25, 0.5], [3.75, 2.5], [10.5, 9.125]],
    "large": [[50_100, 50_000], [50_000, 50_000], [4, 4]],
}


@pytest.mark.some(14)
@pytest.mark.parametrize("prior", [(1.0, 1.0), (2.0, 3.0), (0.5, 0.5), (0.1, 4.0)])
@pytest.mark.parametrize("name", COUNTS)
def test_choice_has_the_exact_distribution(name, prior):
    """Tests the threshold that the policy places, and thresholds far too low and too high."""
    counts = np.array(COUNTS[name], dtype=float)
    a, b = prior[0] + counts[:, 0], prior[1] + counts[:, 1]
    chances = beta_chances(a, b)
    centre = (special.psi(a) - special.psi(b)).max()
    policy = pb.policies.ThompsonSampling(a.size, rng=5, prior=prior)
    assert_follows(policy._choices(100_000, counts), chances)
    for threshold in (-50.0, centre - 1.5, centre, centre + 0.5, 50.0):
        assert_follows(policy._choices(3000, counts, threshold), chances)


@pytest.mark.parametrize("n_near", [1, 3])
def test_choice_among_a_thousand_arms_has_the_exact_distribution(n_near):
    counts = np.array([[20 + k % 9, 80] for k in range(1000)], dtype=float)
    counts[[7, 500, 993][:n_near]] = [[700, 300], [690, 310], [68, 32]][:n_near]
    logits = np.linspace(-0.5, 2.4, 2001)
    a, b = counts.T + 1
    x = special.expit(logits)
    density = np.exp(stats.beta.logpdf(x, a[:, None], b[:, None])) * x * (1 - x)
    chances = integrated(density, special.betainc(a[:, None], b[:, None], x), logits)
    policy = pb.policies.ThompsonSampling(1000, rng=5)
    assert_follows(policy._choices(100_000, counts), chances)
    centre = np.log(7 / 3)
    for threshold in (centre - 1.8, centre + 0.5):
        assert_follows(policy._choices(600, counts, threshold), chances)


def test_gaussian_choice_has_the_exact_distribution():
    for seed, n_arms in enumerate([1, 2, 3, 17, 40]):
        rng = np.random.default_rng(seed)
        seen = rng.integers(1, 50, n_arms).astype(float)
        means = rng.normal(0.0, 0.7, n_arms)
        counts = np.stack([means * seen, seen], axis=1)
        chances = gaussian_chances(means, 2.0 / np.sqrt(seen))
        policy = pb.policies.ThompsonSampling(n_arms, rng=5, law="gaussian", noise_std=2.0)
        assert_follows(policy._choices(100_000, counts), chances)
        for threshold in (-30.0, means.max() - 0.5, means.max() + 0.3, 30.0):
            assert_follows(policy._choices(3000, counts, threshold), chances)


def test_run_has_the_distribution_of_the_reference():
    """Compares by ranks the pulls of three arms after 60 rounds with those of the reference."""
    bandit, rng = pb.environments.BernoulliBandit([0.3, 0.5, 0.6]), np.random.default_rng(4)
    pulls = [play(pb.policies.ThompsonSampling(3, rng=seed), bandit, 60, seed).pulls
            for seed in range(300)]
    expected = []
    for _ in range(300):
        reference = plain.ThompsonSampling(3, rng)
        for _ in range(60):
            arm = reference.choose()
            reference.absorb(arm, bandit.pull([arm], rng)[0])
        expected.append(reference.parameters.sum(axis=1) - 2)
    for arm in range(3):
        assert stats.ks_2samp(np.array(pulls)[:, arm], np.array(expected)[:, arm]).pvalue > 1e-7


def test_probabilities_follow_the_posteriors():
    policy = play(pb.policies.ThompsonSampling(5, rng=1),
                  pb.environments.BernoulliBandit(np.linspace(0.1, 0.9, 5)), 20_000)
    progress = policy.get_state()["progress"]
    x = special.expit(progress["threshold"][0])
    assert progress["age"] > 1000
    assert progress["arms"][:, 2] == pytest.approx(
        special.betainc(*policy.posteriors.T, x), abs=1e-11)


# -- the protocol -----------------------------------------------------------------------


POLICIES = [dict(), dict(prior=(0.5, 2.0)), dict(fractional=True),
            dict(law="gaussian", noise_std=0.4)]


@pytest.mark.parametrize("options", POLICIES)
def test_policy_finds_the_best_arm_and_never_ends(options):
    policy = pb.policies.ThompsonSampling(4, rng=1, **options)
    play(policy, pb.environments.BernoulliBandit([0.2, 0.8, 0.4, 0.1]), 1500)
    assert not policy.done and policy.is_endless
    assert policy.recommend().tolist() == [1] and policy.pulls[1] > 1300
    assert policy.pulls.sum() == policy.n_pulls == 1500


@pytest.mark.parametrize("options", POLICIES)
def test_ask_changes_nothing_and_bad_tell_changes_nothing(options):
    policy = pb.policies.ThompsonSampling(3, rng=1, **options)
    for _ in range(20):
        arms = policy.ask()
        before = pickle.dumps(policy)
        assert policy.ask().tolist() == arms.tolist()
        for bad in (np.full(arms.size, np.inf), np.full(arms.size, np.nan), np.ones(arms.size + 1)):
            with pytest.raises(ValueError, match="rewards"):
                policy.tell(arms, bad)
        with pytest.raises(ValueError, match="arms"):
            policy.tell(arms + 1, np.ones(arms.size))
        assert pickle.dumps(policy) == before
        policy.tell(arms, np.full(arms.size, 0.5))


@pytest.mark.parametrize("reward", [-1e-9, 1.0 + 1e-9, 40.0])
def test_rewards_outside_the_unit_interval_are_refused(reward):
    policy = pb.policies.ThompsonSampling(3, rng=1)
    arms, before = policy.ask(), pickle.dumps(policy)
    with pytest.raises(ValueError, match=rf"rewards must be in \[0, 1\]; got .* arm {arms[0]}"):
        policy.tell(arms, [reward])
    assert pickle.dumps(policy) == before
    policy = pb.policies.ThompsonSampling(1, rng=1, law="gaussian")
    policy.tell([0], [reward])
    assert policy.posteriors.tolist() == [[reward, 1.0]]


@pytest.mark.parametrize("options", POLICIES)
def test_lost_pulls_do_not_change_the_posteriors(options):
    policy = pb.policies.ThompsonSampling(3, rng=1, **options)
    for lost in (0.0, 1.0, np.nan, 1.0, np.nan, np.nan):
        arms, before = policy.ask(), policy.posteriors
        policy.tell(arms, np.full(arms.size, lost), missing="drop")
        assert np.array_equal(policy.posteriors, before, equal_nan=True) == np.isnan(lost)


def test_gaussian_arm_without_a_reward_is_recommended_last():
    policy = pb.policies.ThompsonSampling(2, rng=1, law="gaussian", batch_size=2)
    policy.tell([0, 1], [np.nan, -5.0], missing="drop")
    assert policy.recommend().tolist() == [1]


def test_gaussian_arms_without_a_reward_come_first():
    policy = pb.policies.ThompsonSampling(4, rng=1, law="gaussian")
    assert policy.ask().tolist() == [0, 1, 2, 3]
    policy.tell([0, 1, 2, 3], [np.nan] * 4, missing="drop")
    assert policy.ask().tolist() == [0, 1, 2, 3]
    policy.tell([0, 1, 2, 3], [0.0, np.nan, 0.1, 5.0], missing="drop")
    asked = []
    for _ in range(400):
        arms = policy.ask()
        asked += arms.tolist()
        policy.tell(arms, np.where(arms == 1, np.nan, arms * 1.0), missing="drop")
        assert np.isnan(policy.posteriors[1, 0]) and policy.posteriors[1, 1] == np.inf
    assert 10 <= asked.count(1) <= 16  # ten until it is silent, plus retries
    assert policy.recommend().tolist() == [3]
    policy = pickle.loads(pickle.dumps(policy))
    while policy.ask().tolist() != [1]:
        policy.tell(policy.ask(), [1.0])
    policy.tell([1], [9.0])
    assert policy.recommend().tolist() == [1]


@pytest.mark.parametrize("arguments, words", [
    (dict(n_arms=0), "n_arms"),
    (dict(law="normal"), "law"),
    (dict(prior=(0.0, 1.0)), "prior"),
    (dict(prior=(1.0, np.inf)), "prior"),
    (dict(prior=1.0), "prior"),
    (dict(prior=(1.0, 1.0, 1.0)), "prior"),
    (dict(noise_std=0.0), "noise_std"),
    (dict(noise_std=np.nan), "noise_std"),
    (dict(noise_std=[1.0]), "noise_std"),
    (dict(fractional="yes"), "fractional"),
    (dict(rng="seed"), "rng"),
])
def test_bad_arguments_are_refused(arguments, words):
    with pytest.raises((ValueError, TypeError), match=words):
        pb.policies.ThompsonSampling(**{"n_arms": 3, **arguments})


def test_streams_are_reproducible_and_private():
    """The same seed gives the same run; a generator passed by the user only provides the seed."""
    bandit = pb.environments.BernoulliBandit([0.4, 0.5, 0.6])
    runs = [play(pb.policies.ThompsonSampling(3, rng=rng), bandit, 200).pulls.tolist()
            for rng in (7, 7, np.random.SeedSequence(7), np.random.default_rng(7), 8)]
    assert runs[0] == runs[1] == runs[2] == runs[3] != runs[4]
    given, own = pb.policies.ThompsonSampling(3, rng=7), pb.policies.ThompsonSampling(3)
    given.seed(np.random.default_rng(8))
    own.ask()
    own.seed(np.random.default_rng(8))
    assert play(given, bandit, 200).pulls.tolist() == runs[0]
    own.seed(np.random.default_rng(8))
    assert play(own, bandit, 200).pulls.tolist() == runs[4]
    own.seed(np.random.default_rng(9))   # has no effect after the first pull
    assert own.get_state()["n_pulls"] == 200


# -- the saved state --------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(n_arms=st.integers(1, 40), n=st.integers(0, 150), options=st.sampled_from(POLICIES),
       asked=st.booleans(), seed=st.integers(0, 2**32))
def test_copy_continues_bit_for_bit(n_arms, n, options, asked, seed):
    rng = np.random.default_rng(seed)
    policy = pb.policies.ThompsonSampling(n_arms, rng=seed, **options)

    def go_on(policy, rng, n):
        trace = []
        for _ in range(n):
            arms = policy.ask()
            rewards = rng.choice([0.0, 1.0, 0.3, np.nan], arms.size)
            policy.tell(arms, rewards, missing="drop")
            trace += arms.tolist()
        return trace

    go_on(policy, rng, n)
    if asked:
        policy.ask()
    copies = [pickle.loads(pickle.dumps(policy)), copy.deepcopy(policy),
              pb.policies.ThompsonSampling.from_state(policy.get_state())]
    streams = [copy.deepcopy(rng) for _ in copies]
    expected = go_on(policy, rng, 60)
    for other, stream in zip(copies, streams, strict=True):
        assert go_on(other, stream, 60) == expected
        assert pickle.dumps(other) == pickle.dumps(policy)


def broken(name, value):
    def apply(state):
        state["progress"][name] = value(np.array(state["progress"][name], dtype=float))
    return apply


def with_entry(at, value):
    def change(array):
        array[at] = value
        return array
    return change


@pytest.mark.parametrize("law", ["bernoulli", "gaussian"])
@pytest.mark.parametrize("damage", [
    broken("chosen", lambda x: 3),
    broken("chosen", lambda x: -2),
    broken("chosen", lambda x: 10**30),
    broken("age", lambda x: -1),
    broken("n_tries", lambda x: -1),
    broken("threshold", with_entry(0, np.nan)),
    broken("threshold", with_entry(0, 0.123)),
    broken("threshold", with_entry(1, np.nan)),
    broken("threshold", lambda x: x[:3]),
    broken("arms", lambda x: x[:2]),
    broken("arms", with_entry((0, 0), np.inf)),
    broken("arms", with_entry((0, 1), -1.0)),
    broken("arms", with_entry((0, 2), np.nan)),
    broken("arms", with_entry((0, 2), 0.5)),
    broken("arms", with_entry((0, 3), 1e6)),
    broken("chances", lambda x: x[1:]),
    broken("chances", with_entry(1, np.nan)),
    broken("chances", with_entry(16, -1.0)),
    broken("chances", with_entry(17, 1e9)),
    broken("stream", lambda x: x[1:].astype(np.uint64)),
    lambda state: state.update(pulls=state["pulls"] + 1),
    lambda state: state.update(pulls=state["pulls"][:2]),
    lambda state: state.update(type="UCBE"),
])
def test_damaged_state_is_refused(law, damage):
    policy = play(pb.policies.ThompsonSampling(3, rng=1, law=law),
                  pb.environments.BernoulliBandit([0.2, 0.5, 0.6]), 50)
    state = policy.get_state()
    damage(state)
    with pytest.raises(ValueError):
        pb.policies.ThompsonSampling.from_state(state)
