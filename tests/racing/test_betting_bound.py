"""Races with BettingBound: reference implementation, error probability, and bad input."""

import collections
import functools
import inspect
import types

import numpy as np
import pytest
from scipy import special, stats

import pybandit as pb
from costly import part

from _shared.reference.bits import Bits
from betting.reference import betting as reference
from racing.reference import subsample
from racing.reference.problems import as_function, parts, random_rewards

# Arrays are otherwise read in full when that is faster.
ALL_LOOKS = pb.racing.Looks(max_fraction=1.0)


def random_problem(seed):
    """Return random rewards, a log_prior and options of the bound."""
    rng = np.random.default_rng(seed)
    n_factors, n_states = int(rng.choice([10, 60, 300])), int(rng.integers(2, 9))
    rewards = random_rewards(rng, n_factors, n_states)
    log_prior = rng.normal(size=n_states) * n_factors * rng.choice([0.0, 0.02, 0.2])
    log_prior[rng.random(n_states) < 0.1] = -np.inf
    log_prior[rng.integers(n_states)] = 0.0
    options = reference.Options(
        delta=float(rng.choice([0.3, 0.05, 0.001])),
        mixture=str(rng.choice(["product", "product", "ebmix"])),
        n_bets=int(rng.choice([1, 5, 16])),
    )
    if options.mixture == "product" and np.isfinite(log_prior).sum() > 1 and rng.random() < 0.3:
        options = reference.Options(options.delta, hybrid=True, n_bets=options.n_bets)
    return rewards, log_prior, options


def bound_of(options, value_range=(0.0, 1.0)):
    return pb.racing.BettingBound(delta=options.delta, value_range=value_range,
                                  bets=pb.betting.Bets(options.mixture, n_bets=options.n_bets,
                                                       hybrid=options.hybrid))


def order_for(seed, n_factors):
    """Return the order in which pb.race reads the factors."""
    stream, bits = subsample.Rejection(n_factors), Bits(seed)
    stream.restart(bits)
    return stream.next(bits, n_factors)


@pytest.mark.examples
@pytest.mark.parametrize("source", ["matrix", "function"])
def test_decisions_equal_the_reference(source):
    """The same items give the same winner; a matrix also stops at the same item."""
    ends = collections.Counter()
    for seed in range(part(120, of=300)):
        rewards, log_prior, options = random_problem(seed)
        order = order_for(seed, len(rewards))
        expected = reference.race(rewards, log_prior, order, options)
        factors = rewards if source == "matrix" else as_function(rewards)
        result = pb.race(factors, log_prior, bound=bound_of(options), looks=ALL_LOOKS,
                         rng=np.random.default_rng(seed))
        assert result.best == expected.best, (seed, options)
        if source == "matrix" and not result.exact:
            assert result.n_evaluations == expected.n_pulls, (seed, options)
        ends[result.exact, options.mixture, options.hybrid] += 1
    assert len(ends) == 6


# -- mutations: the tests above detect a race with one changed line --------------------

MUTATIONS = {
    "no tilt": ("return 1.0 if population is None else population / (population - t + 1)",
                "return 1.0"),
    "tilt of the item before": ("else population / (population - t + 1)",
                                "else population / (population - t + 2)"),
    "tilt of the next item": ("else population / (population - t + 1)",
                              "else population / max(1, population - t)"),
    "with replacement": ("return (mean * population - seen) / (population - t + 1)",
                         "return np.full(np.shape(seen), mean)"),
    "mean of the item before": ("- seen) / (population - t + 1)",
                                "- seen) / (population - t + 2)"),
    "mean of the next item": ("- seen) / (population - t + 1)",
                              "- seen) / max(1, population - t)"),
    "leader after the item": ("rivals = rivals_of(scores, alive)",
                              "rivals = rivals_of(scores + rewards[item], alive)"),
    "one rival less": ("rivals[leader] = first_of(scores, others)", "rivals[leader] = leader"),
    "more at risk": ("0.9 / m", "0.99 / m"),
    "less at risk": ("0.9 / m", "0.8 / m"),
    "delta over the states": ("np.log(1 / share)", "np.log(n_arms / share)"),
}


def mutated(old, new):
    """Return the reference implementation with one line changed."""
    source = inspect.getsource(reference)
    assert old in source
    module = types.ModuleType("mutated")
    exec(compile(source.replace(old, new), "mutated", "exec"), module.__dict__)
    return module


@functools.cache
def decisions_of_the_kernel():
    """Return winners and reads of the kernel on the first 100 random problems."""
    results = []
    for seed in range(100):
        rewards, log_prior, options = random_problem(seed)
        bound = bound_of(options)
        results.append(pb.race(as_function(rewards), log_prior, bound=bound, rng=seed).best)
        result = pb.race(rewards, log_prior, bound=bound, looks=ALL_LOOKS, rng=seed)
        results.append(None if result.exact else result.n_evaluations)
    return results


def decisions_of(module):
    results = []
    for seed, reads in enumerate(decisions_of_the_kernel()[1::2]):
        rewards, log_prior, options = random_problem(seed)
        theirs = module.race(rewards, log_prior, order_for(seed, len(rewards)), options)
        results += [theirs.best, None if reads is None else theirs.n_pulls]
    return results


def test_the_reference_without_mutation_equals_the_kernel():
    assert decisions_of(reference) == decisions_of_the_kernel()


@pytest.mark.some(2)
@pytest.mark.parametrize("old, new", MUTATIONS.values(), ids=MUTATIONS.keys())
def test_mutations_are_detected(old, new):
    differ = np.not_equal(decisions_of(mutated(old, new)), decisions_of_the_kernel())
    assert differ.sum() >= 3


def test_choosing_the_leader_after_the_item_errs():
    """The tenth arm is best by one win; a leader chosen after the item eliminates it too often."""
    n_races, delta, wrong = 150, 0.1, collections.Counter()
    rng = np.random.default_rng(3)
    rewards = np.array([rng.permutation(np.arange(200) < 99 + (arm == 9)) for arm in range(10)])
    rewards = rewards.T.astype(float)
    late = mutated(*MUTATIONS["leader after the item"])
    for seed in range(n_races):
        order = order_for(seed, 200)
        wrong["late"] += late.race(rewards, np.zeros(10), order, late.Options(delta)).best != 9
        result = pb.race(rewards, bound=pb.racing.BettingBound(value_range=(0, 1), delta=delta),
                         looks=ALL_LOOKS, rng=seed)
        wrong["kernel"] += result.best != 9
    most = stats.binom.isf(1e-6, n_races, delta)
    assert wrong["kernel"] <= most < 1.2 * most < wrong["late"]


# tiny populations in which a race errs often enough to measure
TINY = {
    "two": (np.array([[1, 1, 0.9, 0, 0.1, 0.9], [0.9, 0.2, 0.3, 0.9, 0.7, 0.8]]).T,
            reference.Options(0.9)),
    "coins": (np.array([[1, 1, 1, 0, 0, 0], [0, 0, 0.9, 1, 1, 0], [0, 1, 0, 0, 1, 0.7]]).T,
              reference.Options(0.8, n_bets=5)),
    "hybrid": (np.array([[1, 1, 1, 0, 0, 0], [0, 0, 0.9, 1, 1, 0], [0, 1, 0, 0, 1, 0.7]]).T,
               reference.Options(0.9, hybrid=True)),
    "ebmix": (np.array([[1, 1, 0.9, 0, 0.1, 0.9], [0.9, 0.2, 0.3, 0.9, 0.7, 0.8]]).T,
              reference.Options(0.95, mixture="ebmix")),
}


@pytest.mark.some(1)
@pytest.mark.parametrize("rewards, options", TINY.values(), ids=TINY.keys())
def test_tiny_races_have_the_exact_distribution(rewards, options):
    """Over all 720 orders errors are at most delta; kernel and reference distributions agree."""
    law = reference.enumerate_errors(rewards, np.zeros(rewards.shape[1]), options)
    assert sum(law.values()) == 1
    best = int(rewards.sum(axis=0).argmax())
    assert 0 < 1 - law[best] <= options.delta
    rng, bound, factors = np.random.default_rng(1), bound_of(options), as_function(rewards)
    n_races = 20_000
    winners = [pb.race(factors, bound=bound, rng=rng).best for _ in range(n_races)]
    counts = collections.Counter(winners)
    assert set(counts) <= set(law)
    for winner, p in law.items():
        assert stats.binomtest(counts[winner], n_races, float(p)).pvalue > 1e-7, (winner, p)


# -- options and bad input ----------------------------------------------------------

SCORES = np.random.default_rng(2).random((500, 4)) * [0.7, 0.75, 0.8, 0.9]
BET = dict(bound=pb.racing.BettingBound(value_range=(0, 1)))


def bet(value_range=(0, 1), **options):
    return pb.racing.BettingBound(value_range=value_range, **options)


def test_units_and_ranges_of_differences_do_not_matter():
    for seed in range(20):
        expected = pb.race(SCORES, bound=bet(delta=0.02), looks=ALL_LOOKS, rng=seed)
        # a number as value_range limits differences, which a common offset does not change
        shifted = SCORES + 64.0 * np.arange(500)[:, None]
        assert pb.race(shifted, bound=bet(1, delta=0.02), looks=ALL_LOOKS, rng=seed) == expected
        # rewards and their range in another unit
        assert pb.race(4 * SCORES - 1, bound=bet([-1, 3], delta=0.02), looks=ALL_LOOKS,
                       rng=seed) == expected
    wide, narrow = (pb.race(SCORES, bound=bet(ends, delta=0.02), looks=ALL_LOOKS, rng=0)
                    for ends in ((0, 10), (0, 1)))
    assert wide.n_evaluations > narrow.n_evaluations


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda: {"bound": bet(None)}, ["value_range", "None"]),
        (lambda: {**BET, "looks": pb.racing.Looks(variance="marginal")},
         ["variance", "marginal", "pairwise"]),
        (lambda: {"bound": bet((1, 0))}, ["value_range", "(1"]),
        (lambda: {"bound": bet((0, 1, 2))}, ["value_range", "(0"]),
        (lambda: {"bound": bet((0, np.nan))}, ["value_range", "nan"]),
        (lambda: {"bound": bet(0.0)}, ["value_range", "0.0"]),
        (lambda: {"bound": bet(np.inf)}, ["value_range", "inf"]),
        (lambda: {"bound": bet("control")}, ["value_range", "'control'", "RacingMetropolis"]),
        (lambda: {"bound": bet(delta=1.0)}, ["delta", "1.0"]),
        (lambda: {"bound": bet(delta=np.nan)}, ["delta", "nan"]),
        (lambda: {"bound": bet(bets=pb.betting.Bets())}, ["bets", "'product'", "plug-in"]),
        (lambda: {**BET, "looks": pb.racing.Looks(first=0)}, ["first", "0"]),
        (lambda: {**BET, "looks": pb.racing.Looks(max_fraction=0.0)}, ["max_fraction", "0.0"]),
        (lambda: {**BET, "delta": 0.1}, ["delta", "0.1"]),
    ],
)
def test_options(make, words):
    for call in (pb.race, pb.RacingSampler):
        with pytest.raises(ValueError) as caught:
            call(SCORES, **make())
        for word in words:
            assert word in str(caught.value)


@pytest.mark.parametrize(
    "make, word",
    [(lambda: bet(delta=0.0), "delta"), (lambda: bet(None), "value_range"),
     (lambda: pb.betting.Bets("product", n_bets=0), "n_bets"),
     (lambda: pb.betting.Bets("product", n_bets=65), "n_bets.*64.*65"),
     (lambda: pb.betting.Bets("sum"), "mixture.*sum"),
     (lambda: pb.betting.Bets("ebmix", hybrid=True), "hybrid.*ebmix")],
)
def test_the_bound_object(make, word):
    with pytest.raises(ValueError, match=word):
        make()


def test_plug_in_bets_are_rejected():
    with pytest.raises(TypeError, match="bets must be a pybandit.betting.Bets; got 16"):
        bet(bets=16)


def caller(rewards, source, bound, seed):
    """Return a function that runs a race, or draws of a sampler, on these rewards."""
    if source == "shuffled":
        sampler = pb.RacingSampler(rewards, layout="shuffled",
                                   looks=pb.racing.Looks(max_fraction=1.0), bound=bound, rng=seed)
        return functools.partial(sampler.draw, 50)
    factors = as_function(rewards) if source == "function" else rewards
    return functools.partial(pb.race, factors, bound=bound, looks=ALL_LOOKS, rng=seed)


@pytest.mark.parametrize("source", ["matrix", "function", "shuffled"])
@pytest.mark.parametrize("value, words", [(1.5, "value_range.*1.5"), (-1e-6, "value_range.*-1e-06"),
                                          (np.nan, "finite.*nan"), (np.inf, "finite.*inf"),
                                          (-np.inf, "finite.*-inf")])
@pytest.mark.parametrize("hybrid", [False, True])
def test_rewards_out_of_range_are_rejected(source, value, words, hybrid):
    """A reward out of range raises when read; the message names factor, state and reward."""
    for place, state in [(0, 0), (17, 2), (100, 1), (300, 0)]:
        seed = place
        factor = 123 if source == "shuffled" else order_for(seed, 500)[place]
        rewards = np.full((500, 3), 0.5)
        rewards[factor, state] = value
        call = caller(rewards, source,
                      bet(bets=pb.betting.Bets("product", hybrid=hybrid)), seed)
        words_there = rf"factors.*{words} at factor {factor}, state {state}$"
        with pytest.raises(ValueError, match=words_there):
            call()


def test_differences_out_of_range_are_rejected():
    rewards = np.full((500, 3), 0.5)
    factor = order_for(5, 500)[40]
    rewards[factor] = 10.0, 10.0, 10.75
    assert pb.race(rewards, bound=pb.racing.BettingBound(value_range=0.75), rng=5).exact
    for factors in (rewards, as_function(rewards)):
        with pytest.raises(ValueError) as caught:
            pb.race(factors, bound=pb.racing.BettingBound(value_range=0.5), looks=ALL_LOOKS, rng=5)
        for word in ("value_range = 0.5", "10.75", f"factor {factor}, state 2"):
            assert word in str(caught.value)


def test_a_sampler_stays_usable_after_rewards_out_of_range():
    rewards = SCORES.copy()
    rewards[7, 3] = 1.5
    sampler = pb.RacingSampler(rewards, **BET, looks=pb.racing.Looks(max_fraction=1.0), rng=1)
    with pytest.raises(ValueError, match="1.5 at factor 7, state 3"):
        sampler.draw(1000)
    rewards[7, 3] = 0.5
    assert sampler.draw(1000)[0].shape == (1000,)


# -- samplers, and special cases ------------------------------------------------------


def law_of(factors, log_prior):
    return special.softmax(factors.sum(axis=0) + log_prior)


def log_factors(seed):
    """Return 100 factors in [-1/2, 1/2] whose totals differ by a few units, and a prior."""
    rng = np.random.default_rng(seed)
    factors = rng.uniform(-0.4, 0.4, (100, 4))
    factors += rng.normal(size=4) / 100 - factors.mean(axis=0)
    return np.clip(factors, -0.5, 0.5), np.log(rng.dirichlet(np.full(4, 3.0)))


@pytest.mark.some(1)
@pytest.mark.parametrize("options", [
    {}, {"mixture": "product", "hybrid": True}, {"mixture": "ebmix"},
    {"mixture": "product", "n_bets": 3}])
@pytest.mark.parametrize("layout", ["gather", "shuffled"])
def test_draws_are_within_delta_of_the_distribution(options, layout):
    """Draws are within delta of the target in total variation; for tiny delta, they follow it."""
    factors, log_prior = log_factors(4)
    law, n_draws = law_of(factors, log_prior), 15_000 if options.get("hybrid") else 100_000
    for delta in (0.3, 1e-7):
        bets = {"bets": pb.betting.Bets(**options)} if options else {}
        bound = pb.racing.BettingBound(delta=delta, value_range=(-0.5, 0.5), **bets)
        sampler = pb.RacingSampler(factors, log_prior, bound=bound,
                                   looks=pb.racing.Looks(max_fraction=1.0), layout=layout, rng=4)
        states, info = sampler.draw(n_draws)
        counts = np.bincount(states, minlength=4)
        # 5 standard errors for each of 4 shares
        noise = 0.5 * 5 * np.sqrt(law * (1 - law) / n_draws).sum()
        assert 0.5 * np.abs(counts / n_draws - law).sum() <= delta + noise
        if delta < 0.1:
            assert stats.chisquare(counts, n_draws * law).pvalue > 1e-6
        else:
            assert info.fraction < 1.0 and not info.exact.all()


@pytest.mark.parametrize("max_fraction", [0.05, 0.3, 1.0])
def test_draws_after_max_fraction_are_exact(max_fraction):
    """Draws not decided by max_fraction read everything, and are then exact."""
    factors, log_prior = log_factors(5)
    sampler = pb.RacingSampler(factors, log_prior, bound=bet((-0.5, 0.5)),
                               looks=pb.racing.Looks(max_fraction=max_fraction, first=5), rng=5)
    _, info = sampler.draw(2000)
    assert info.exact.any()
    assert sampler.schedule.rows[:-1].max() <= max(5, max_fraction * 100)
    early = info.n_evaluations[~info.exact]
    assert not early.size or early.max() <= 4 * max_fraction * 100
    # states are read until eliminated, so an exact draw reads all factors of two states or more
    assert info.n_evaluations[info.exact].min() >= 200


def test_one_possible_state_wins_without_bets():
    for factors in (np.full((50, 1), 0.5), as_function(np.full((50, 1), 0.5))):
        assert parts(pb.race(factors, **BET)) == (0, 0, 0, True)
        assert pb.RacingSampler(factors, **BET).draw()[0] == 0
    impossible = [-np.inf, -np.inf, 3.0, -np.inf]
    for hybrid in (False, True):
        bound = bet(bets=pb.betting.Bets("product", hybrid=hybrid))
        assert parts(pb.race(SCORES, impossible, bound=bound)) == (2, 0, 0, True)
        states, info = pb.RacingSampler(SCORES, impossible, bound=bound).draw(20)
        assert np.all(states == 2) and not info.n_evaluations.any()


@pytest.mark.parametrize("options", [dict(mixture="product"), dict(mixture="product", hybrid=True),
                                     dict(mixture="ebmix"), dict(mixture="product", n_bets=1)])
def test_constant_rewards_are_read_to_the_end(options):
    """The lowest of equal states wins; a difference in one item, too small to bet on, counts."""
    bound = bet(bets=pb.betting.Bets(**options))
    rewards = np.full((200, 3), 0.5)
    for factors in (rewards, as_function(rewards)):
        assert parts(pb.race(factors, bound=bound, looks=ALL_LOOKS, rng=1))[::2] == (0, 600)
        assert parts(pb.race(factors, [-np.inf, 0.0, 0.0], bound=bound, looks=ALL_LOOKS,
                             rng=1))[::2] == (1, 400)
        assert pb.race(factors, bound=bound, rng=1).exact
    better = rewards.copy()
    better[77, 2] += 0.001
    for factors in (better, as_function(better)):
        result = pb.race(factors, bound=bound, looks=ALL_LOOKS, rng=1)
        assert result.best == 2 and result.exact and result.n_evaluations == 600
        assert pb.race(factors, [0.0, 0.002, 0.0], bound=bound, rng=1).best == 1


@pytest.mark.parametrize("hybrid", [False, True])
def test_rewards_of_functions_may_outgrow_the_memory(hybrid):
    """Blocks grow by an eighth, past the initial memory, and are requested again."""
    rng = np.random.default_rng(6)
    rewards = rng.random((60_000, 3)) * [1.0, 1.0, 0.98]
    rewards[:, 1] += rewards[:, 0].mean() - rewards[:, 1].mean() - 1e-5
    bound, asked = bet((-0.1, 1.1), bets=pb.betting.Bets("product", hybrid=hybrid)), []

    def function(rows, columns):
        asked.append((rows, columns))
        return rewards[np.ix_(rows, columns)]

    result = pb.race(pb.Factors(function, 60_000, 3), bound=bound, rng=6)
    expected = pb.race(rewards, bound=bound, looks=ALL_LOOKS, rng=6)
    assert result.best == expected.best and result.exact == expected.exact
    rows = np.concatenate([rows for rows, _ in asked])
    assert np.unique(rows).size == rows.size
    assert max(rows.size for rows, _ in asked) > 4096
    assert result.n_evaluations == sum(rows.size * columns.size for rows, columns in asked)
    assert expected.n_evaluations <= result.n_evaluations


@pytest.mark.parametrize("wrong", [2.0, -0.5, np.nan])
def test_rewards_that_are_only_added_up_must_be_in_range(wrong):
    """After max_fraction a matrix is summed in one pass without bets; it checks the range too."""
    rewards = np.random.default_rng(3).random((500, 3))
    rewards[321, 2] = wrong
    with pytest.raises(ValueError, match="factor 321, state 2"):
        pb.race(rewards, **BET, looks=pb.racing.Looks(max_fraction=0.001), rng=1)
    rewards[321, 2] = 0.5
    assert pb.race(rewards, **BET, looks=pb.racing.Looks(max_fraction=0.001), rng=1).exact
