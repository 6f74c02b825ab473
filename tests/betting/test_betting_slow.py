"""Full experiments with races by betting: errors in the hardest cases, and items read.

About 3 minutes on one core. Seeds are fixed, so a result repeats exactly.
"""

import numpy as np
import pytest
from scipy import stats

import pybandit as pb

pytestmark = pytest.mark.slow

DELTA = 0.1
# Arrays in memory are otherwise read in full when that is faster.
ALL_LOOKS = pb.racing.Looks(max_fraction=1.0)
MIXTURES = {
    "product": {},
    "one bet": {"n_bets": 1},
    "ebmix": {"mixture": "ebmix"},
    "hybrid": {"hybrid": True},
}


def assert_at_most_delta(wrong, n, least=0.0, **options):
    """Check the number of errors. A correct race fails with a chance below 1e-6.

    At least a share `least` must be errors, except with ebmix, which errs a tenth as often.
    """
    least *= options.get("mixture") != "ebmix"
    assert wrong <= stats.binom.isf(1e-6, n, DELTA), wrong / n
    assert wrong >= least * n, wrong / n


def coins(rng, n_items, n_wins):
    """Return one column per entry of `n_wins`, with that many ones, in independent orders."""
    columns = [rng.permutation(np.arange(n_items) < wins) for wins in n_wins]
    return np.array(columns, dtype=float).T.copy()


def count_errors(make_rewards, best, n_races, seed, n_populations=10, **options):
    rng = np.random.default_rng(seed)
    bound = pb.racing.BettingBound(delta=DELTA, value_range=(0.0, 1.0),
                                   bets=pb.betting.Bets(**{"mixture": "product", **options}))
    wrong = 0
    for _ in range(n_populations):
        rewards = make_rewards(rng)
        for _ in range(n_races // n_populations):
            wrong += pb.race(rewards, bound=bound, looks=ALL_LOOKS, rng=rng).best != best
    return wrong


@pytest.mark.parametrize("options", MIXTURES.values(), ids=MIXTURES.keys())
@pytest.mark.parametrize("n_arms, gap, least", [(2, 1, 0.03), (2, 2, 0.03), (10, 1, 0.03)])
def test_errors_at_near_ties_are_at_most_delta(n_arms, gap, least, options):
    """One or two items of 1000 decide; the best arm is the last one, which loses ties."""
    wins = [500 - gap] * (n_arms - 1) + [500]
    n_races = 20_000 if n_arms == 2 else 6_000
    wrong = count_errors(lambda rng: coins(rng, 1000, wins), n_arms - 1, n_races, seed=1, **options)
    assert_at_most_delta(wrong, n_races, least, **options)


@pytest.mark.parametrize("options", MIXTURES.values(), ids=MIXTURES.keys())
@pytest.mark.parametrize("rare, constant", [(300, 0.02), (200, 0.03), (201, 0.02), (199, 0.02)])
def test_errors_on_skewed_pairs_are_at_most_delta(rare, constant, options):
    """A reward of 1 on 2 or 3 of 100 items, compared with nearly its mean."""
    def rewards(rng):
        return np.column_stack([coins(rng, 10_000, [rare]), np.full(10_000, constant)])

    best = int(constant > rare / 10_000)
    wrong = count_errors(rewards, best, 5_000, seed=2, **options)
    near = abs(rare - 10_000 * constant) < 2
    assert_at_most_delta(wrong, 5_000, 0.02 * near, **options)


def play(race, rewards):
    while not race.done:
        arms, items = race.ask()
        race.tell(arms, items, rewards[items, arms])
    return race


@pytest.mark.parametrize("mixture", ["product", "ebmix"])
@pytest.mark.parametrize("epsilon", [0.0, 0.02])
def test_errors_of_the_best_two_are_at_most_delta(mixture, epsilon):
    """Six arms within two items of 500; an error is an arm beyond the epsilon."""
    rng, n_races, wrong = np.random.default_rng(3), 2_000, 0
    wins = [250, 250, 249, 249, 249, 248] if not epsilon else [250, 250, 239, 239, 239, 239]
    for _ in range(n_races):
        rewards = coins(rng, 500, wins)
        race = pb.BettingRace(6, 500, k=2, delta=DELTA, value_range=(0, 1),
                              bets=pb.betting.Bets(mixture), epsilon=epsilon, rng=rng)
        wrong += set(play(race, rewards).recommend()) != {0, 1}
    assert_at_most_delta(wrong, n_races)


@pytest.mark.parametrize("mixture", ["product", "ebmix"])
def test_errors_at_a_threshold_are_at_most_delta(mixture):
    """Means are half an item above or below the threshold; any wrong arm is an error."""
    rng, n_races, wrong = np.random.default_rng(4), 3_000, 0
    rewards = coins(rng, 500, [300, 300, 301, 301])
    for _ in range(n_races):
        race = pb.BettingThreshold(4, 500, threshold=300.5 / 500, delta=DELTA, rng=rng,
                                   value_range=(0, 1), bets=pb.betting.Bets(mixture))
        wrong += play(race, rewards).above.tolist() != [2, 3]
    assert_at_most_delta(wrong, n_races, 0.02, mixture=mixture)


def test_errors_with_a_tolerance_are_at_most_delta():
    """The second arm is worse by the epsilon and one more item, so choosing it is an error."""
    rng, n_races, wrong = np.random.default_rng(5), 5_000, 0
    rewards = coins(rng, 500, [250, 239])
    for _ in range(n_races):
        race = pb.BettingRace(2, 500, delta=DELTA, value_range=(0, 1), epsilon=0.02, rng=rng)
        wrong += play(race, rewards).recommend()[0] != 0
    assert_at_most_delta(wrong, n_races)


# -- items read, N = 100,000, delta = 0.05 -------------------------------------------

N = 100_000


def normal_pair(rng, correlation):
    """Return rewards with means of exactly 0.505 and 0.495 and standard deviation 0.1."""
    shared, own = np.sqrt([correlation, 1 - correlation])
    z = shared * rng.normal(size=(N, 1)) + own * rng.normal(size=(N, 2))
    rewards = [0.505, 0.495] + 0.1 * (z - z.mean(axis=0))
    return np.clip(rewards, 0.0, 1.0)


PAIRS = {
    # name: (rewards, known mean of items per arm, orders for a standard error of about 1%)
    "gap .1": (lambda rng: coins(rng, N, [55_000, 45_000]), 446, 4_000),
    "gap .05": (lambda rng: coins(rng, N, [52_500, 47_500]), 1636, 4_000),
    "gap .01": (lambda rng: coins(rng, N, [50_500, 49_500]), 28792, 6_000),
    "normal": (lambda rng: normal_pair(rng, 0.0), 1819, 4_000),
    "correlated": (lambda rng: normal_pair(rng, 0.9), 674, 4_000),
}


def mean_evaluations(make_rewards, n_orders, seed):
    rng = np.random.default_rng(seed)
    bound, read, wrong = pb.racing.BettingBound(delta=0.05, value_range=(0.0, 1.0)), [], 0
    for _ in range(4):
        rewards = make_rewards(rng)
        for _ in range(n_orders // 4):
            result = pb.race(rewards, bound=bound, looks=ALL_LOOKS, rng=rng)
            read.append(result.n_evaluations)
            wrong += result.best != 0
    assert wrong <= stats.binom.isf(1e-6, n_orders, 0.05)
    assert np.std(read) / np.sqrt(n_orders) < 0.015 * np.mean(read)
    return np.mean(read)


@pytest.mark.parametrize("make_rewards, items, n_orders", PAIRS.values(), ids=PAIRS.keys())
def test_items_read_of_two_arms_match_known_numbers(make_rewards, items, n_orders):
    """Races read at most 10% more items than known; for the gap of 0.01 they read 8% fewer."""
    assert -0.15 < mean_evaluations(make_rewards, n_orders, seed=6) / 2 / items - 1 < 0.1


def test_items_read_of_twenty_arms_match_known_numbers():
    """The known share is 0.144 of 111,000; a share above 1.1 times that or below 0.1 fails."""
    wins = np.round(N * np.linspace(0.75, 0.25, 20)).astype(int)
    total = mean_evaluations(lambda rng: coins(rng, N, wins), 1_200, seed=7)
    assert 0.1 * 111_000 < total < 1.1 * 0.144 * 111_000
