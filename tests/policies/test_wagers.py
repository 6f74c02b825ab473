"""stopping.Betting: reference runs, the proof on small cases, and policies that use it."""

import itertools
import math
import pickle

import numpy as np
import pytest

import pybandit as pb
from costly import part
from pybandit.stopping import GLR, Betting

from policies.reference import wagers as plain


def some_rewards(rng, n_arms):
    def of_an_arm():
        n = int(rng.integers(1, 60))
        if rng.random() < 0.5:
            return (rng.random(n) < rng.random()) * 1.0
        return rng.beta(*rng.uniform(0.3, 30, 2), n)

    return [of_an_arm() for _ in range(n_arms)]


def test_margins_match_reference():
    rng = np.random.default_rng(1)
    for _ in range(150):
        rewards = some_rewards(rng, int(rng.integers(2, 5)))
        epsilon, delta = float(rng.choice([0.0, 0.1, 0.5])), float(rng.choice([0.1, 1e-6]))
        margins = Betting(delta=delta, epsilon=epsilon).margins(rewards)
        np.testing.assert_allclose(margins, plain.margins(rewards, delta, epsilon), rtol=1e-8,
                                   atol=1e-8)


ROUNDED = 1e-9
MAKERS = {
    "T3C": lambda rule: pb.policies.TopTwo(3, stopping=rule, rng=1),
    "EB-TC": lambda rule: pb.policies.TopTwo(3, stopping=rule, leader="empirical", rng=2),
    "TTUCB": lambda rule: pb.policies.TopTwo(3, stopping=rule, leader="ucb", beta="ids", rng=3),
    "EBTC": lambda rule: pb.policies.EBTC(3, stopping=rule),
    "track": lambda rule: pb.policies.TrackAndStop(3, stopping=rule),
}


@pytest.mark.some(3)
@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("seed", range(4))
def test_policies_stop_when_the_reference_does(seed, name):
    rng, rule = np.random.default_rng(seed), Betting(delta=0.2, epsilon=0.1 * (seed == 3))
    policy, seen = MAKERS[name](rule), [[], [], []]
    means = np.array([0.3, 0.6, 0.5])
    while not policy.done and policy.n_pulls < 400:
        arms = policy.ask()
        rewards = rng.beta(20 * means, 20 * (1 - means))[arms]
        if seed == 1:
            rewards = np.round(rewards)
        policy.tell(arms, rewards)
        for arm, reward in zip(arms, rewards, strict=True):
            seen[arm].append(reward)
        margins = plain.margins(seen, 0.2, rule.epsilon)
        if np.nanmin(np.abs(margins)) > ROUNDED:
            assert policy.decided == (np.nanmin(margins) > 0)
    assert policy.decided or policy.n_pulls == 400


def test_elimination_with_bets_matches_reference():
    rng, policy = np.random.default_rng(1), pb.policies.SuccessiveElimination(
        4, stopping=Betting(delta=0.1))
    seen, means = [[] for _ in range(4)], np.array([0.2, 0.5, 0.7, 0.6])
    while not policy.done:
        before, arms = policy.alive, policy.ask()
        rewards = rng.beta(30 * means, 30 * (1 - means))[arms]
        policy.tell(arms, rewards)
        for arm, reward in zip(arms, rewards, strict=True):
            seen[arm].append(reward)
        best = max(before, key=lambda arm: np.mean(seen[arm]))
        left = [arm for arm in before if arm == best or
                plain.least(seen[best], seen[arm]) <= math.log(3 / 0.1)]
        assert policy.alive.tolist() == left
    assert policy.alive.tolist() == policy.recommend().tolist() == [2]


# -- the proof ---------------------------------------------------------------------------

ATOMS = np.array([0.0, 0.3, 1.0])


@pytest.mark.parametrize("chances", [[0.5, 0.3, 0.2], [0.1, 0.8, 0.1], [0.9, 0.0, 0.1]])
def test_expected_wealth_is_one_at_the_mean_and_less_above(chances):
    """Enumerates all sequences of six rewards."""
    mean = float(ATOMS @ chances)
    totals = np.zeros(3)
    for sequence in itertools.product(range(3), repeat=6):
        chance = math.prod(chances[i] for i in sequence)
        rewards = ATOMS[list(sequence)]
        totals += chance * np.exp([plain.logarithm(rewards, mean),
                                   plain.logarithm(rewards, mean + 0.1),
                                   plain.logarithm(1 - rewards, 1 - mean)])
    assert totals[0] == pytest.approx(1) and totals[2] == pytest.approx(1)
    assert totals[1] < 1 - 1e-3


def chance_of_naming(means, wrong, delta, horizon):
    """Return the exact probability that two coins, tossed in turn, stop with the answer `wrong`."""
    rule, alive = Betting(delta=delta), {(0, 0): 1.0}
    named = 0.0
    for n in range(1, horizon + 1):
        after = {}
        for (a, b), chance in alive.items():
            for x, y in itertools.product((0, 1), repeat=2):
                part = math.prod(mean if won else 1 - mean
                                 for mean, won in zip(means, (x, y), strict=True))
                after[a + x, b + y] = after.get((a + x, b + y), 0.0) + chance * part
        alive = {}
        for wins, chance in after.items():
            rewards = [np.repeat([1.0, 0.0], [won, n - won]) for won in wins]
            if not rule.is_sure(rewards):
                alive[wins] = chance
            elif np.argmax(wins) == wrong:
                named += chance
    return named


@pytest.mark.examples
def test_wrong_answers_are_rare_on_all_runs_of_two_coins():
    """Tests equal coins and a worse second coin; the order of rewards does not matter."""
    for means in [(0.5, 0.5), (0.1, 0.1), (0.6, 0.4)]:
        assert chance_of_naming(means, 1, 0.5, part(26, of=40)) <= 0.5
    assert chance_of_naming((0.5, 0.5), 1, 0.5, part(26, of=40)) > 0.01


NASTY = {  # all arms except the first are only slightly worse
    "coins": pb.environments.BernoulliBandit([0.5, 0.5 - 1e-9]),
    "rare": pb.environments.BernoulliBandit([0.02, 0.02 - 1e-9]),
    "ten": pb.environments.BernoulliBandit([0.5] + [0.5 - 1e-9] * 9),
    "narrow": pb.environments.UniformBandit([0.5, 0.5 - 1e-9], [0.01, 0.01]),
    "wide and narrow": pb.environments.UniformBandit([0.5, 0.5 - 1e-9], np.sqrt([0.08, 1e-4])),
}


def wrong_answers(name, delta, n_runs, n_pulls):
    policy = pb.policies.TopTwo(NASTY[name].n_arms, stopping=Betting(delta=delta),
                                leader="empirical")
    result = pb.simulate(policy, NASTY[name], n_runs, rng=3, max_pulls=n_pulls)
    return int((result.errors & result.stopped).sum())


@pytest.mark.parametrize("name", NASTY)
def test_worse_arms_are_rarely_named(name):
    """More than 75 errors of 200 at delta = .2 have probability below 10^-6."""
    assert wrong_answers(name, 0.2, 200, 300) <= 75


@pytest.mark.slow
@pytest.mark.parametrize("delta", [0.1, 0.01])
@pytest.mark.parametrize("name", NASTY)
def test_errors_are_rare_in_ten_thousand_runs(name, delta):
    """More errors than these have probability below 10^-6."""
    assert wrong_answers(name, delta, 10_000, 2000) <= 1e4 * delta + 4.9 * math.sqrt(1e4 * delta)


# -- uses ----------------------------------------------------------------------------------


def test_rewards_with_little_variance_need_few_pulls():
    rng, means = np.random.default_rng(1), np.array([0.5, 0.55])
    pulls = []
    for rule in Betting(delta=0.05), GLR(delta=0.05, law="bernoulli"):
        policy = pb.policies.SuccessiveElimination(2, stopping=rule)
        while not policy.done:
            arms = policy.ask()
            policy.tell(arms, np.clip(means[arms] + 0.05 * rng.standard_normal(arms.size), 0, 1))
        assert policy.recommend().tolist() == [1]
        pulls.append(policy.n_pulls)
    assert pulls[0] < 0.05 * pulls[1]


def test_epsilon_stops_equal_arms():
    rng = np.random.default_rng(2)
    policy = pb.policies.EBTC(2, stopping=Betting(delta=0.1, epsilon=0.2))
    while not policy.done:
        arms = policy.ask()
        policy.tell(arms, rng.random(arms.size) < 0.5)
    assert policy.decided and policy.n_pulls < 2000


def test_equal_rewards_do_not_stop_but_one_arm_does():
    policy = pb.policies.TopTwo(2, stopping=Betting(delta=0.1), rng=1)
    for _ in range(200):
        arms = policy.ask()
        policy.tell(arms, np.full(arms.size, 0.4))
    assert not policy.done and not policy.is_endless
    one = pb.policies.TopTwo(1, stopping=Betting(delta=0.1), rng=1)
    one.tell(one.ask(), [0.5])
    assert one.done and one.decided


def gains_of(policy):
    return policy.get_state()["progress"]["gains"]


def test_rewards_outside_the_range_are_refused():
    policy = pb.policies.TopTwo(2, stopping=Betting(delta=0.1), rng=1)
    before = gains_of(policy)
    arms = policy.ask()
    for rewards in [0.5, 1.5], [-0.1, 0.5]:
        with pytest.raises(ValueError, match=r"rewards must be in \[0, 1\]"):
            policy.tell(arms, rewards)
    assert policy.n_pulls == 0 and np.array_equal(gains_of(policy), before)


def test_restored_state_continues_bit_for_bit():
    rng = np.random.default_rng(3)
    policy = pb.policies.TopTwo(3, stopping=Betting(delta=0.01), rng=1)
    for _ in range(50):
        arms = policy.ask()
        policy.tell(arms, rng.random(arms.size))
    again = pb.policies.TopTwo.from_state(policy.get_state())
    assert again.stopping == policy.stopping and hash(again.stopping) == hash(Betting(delta=0.01))
    for _ in range(100):
        arms = policy.ask()
        rewards = rng.random(arms.size)
        assert np.array_equal(again.ask(), arms)
        policy.tell(arms, rewards)
        again.tell(arms, rewards)
    assert np.array_equal(gains_of(again), gains_of(policy))


def test_impossible_gains_are_refused():
    policy = pb.policies.EBTC(2, stopping=Betting(delta=0.1))
    policy.tell(policy.ask(), [0.5, 0.25])
    state = policy.get_state()
    for change in (lambda gains: gains * 2, lambda gains: gains * 0.5, lambda gains: gains[:40]):
        with pytest.raises(ValueError, match="gains"):
            progress = state["progress"] | {"gains": change(gains_of(policy))}
            pb.policies.EBTC.from_state(state | {"progress": progress})


def test_rules_compare_by_value():
    rule = Betting(delta=0.1, epsilon=0.25)
    assert pickle.loads(pickle.dumps(rule)) == rule != Betting(delta=0.1)
    assert repr(rule) == "Betting(delta=0.1, epsilon=0.25)" and rule.law == "bounded"
    assert Betting(delta=0.1) != GLR(delta=0.1)


@pytest.mark.parametrize("rewards, error, message", [
    (3, TypeError, "rewards must be a sequence with the rewards of each arm; got 3"),
    ([], ValueError, "rewards must have at least one arm"),
    ([[0.5], [1.5]], ValueError, r"rewards\[1\] must be in \[0, 1\]; got 1.5"),
    ([[0.5], [math.nan]], ValueError, r"rewards\[1\] must be in \[0, 1\]; got nan"),
    ([[0.5], 0.5], ValueError, r"rewards\[1\] must have shape \(n_rewards,\); got \(\)"),
])
def test_bad_rewards_are_refused(rewards, error, message):
    with pytest.raises(error, match=message):
        Betting(delta=0.1).margins(rewards)


@pytest.mark.parametrize("arguments", [dict(delta=0.0), dict(delta=1.0),
                                       dict(delta=0.1, epsilon=1.0),
                                       dict(delta=0.1, epsilon=-0.1)])
def test_bad_arguments_are_refused(arguments):
    with pytest.raises(ValueError, match="delta|epsilon"):
        Betting(**arguments)


def test_unseen_arms_are_not_decided():
    margins = Betting(delta=0.1).margins([[0.5, 0.6], []])
    assert math.isnan(margins[0]) and margins[1] == -math.inf
    assert not Betting(delta=0.1).is_sure([[], []])
