"""Predictions from prior scores: valid for any values, from earlier items only; bad ones raise."""

import itertools
import math

import numpy as np
import pytest

import pybandit as pb
from pybandit.betting._kernels import Bets, Books, LeaderRace
from pybandit.betting._predictions import Predictor, components

from betting.races import assert_says, frozen, play
from betting.reference.plug_in import Plugged
from betting.test_plug_in import populations
from evaluation.grouped import grouped

ADVERSARIES = {
    "noise": lambda rng, rewards, left, read: rng.normal(size=(len(left), rewards.shape[1])),
    "the truth": lambda rng, rewards, left, read: rewards[left] * 1.0,
    "its reverse": lambda rng, rewards, left, read: -3.0 * rewards[left],
    "nearly the truth of one": lambda rng, rewards, left, read: (
        0.9137 * rewards[left] * (np.arange(rewards.shape[1]) == len(read) % rewards.shape[1])),
    "large": lambda rng, rewards, left, read: 50.0 * rng.random((len(left), rewards.shape[1])),
}


def kernel(n_arms, n_items, delta):
    race = LeaderRace(n_arms, n_items, Bets("plug-in"), (0.0, 1.0, 1.0), delta, predicted=True)
    race.begin()
    return race, Books(n_arms, 0.0)


def predict(race, predicted, arms):
    """Pass predictions of the items left to the race, the next item first."""
    p = np.ascontiguousarray(predicted[:, arms])
    race.predict(p[:1].copy(), p.sum(axis=0), p.max(axis=0), p.min(axis=0))


@pytest.mark.some(2)
@pytest.mark.parametrize("adversary", ADVERSARIES)
@pytest.mark.parametrize("n_arms", [2, 3, 6])
def test_expected_wealth_is_at_most_one_for_any_predictions(n_arms, adversary):
    """The mean is over all orders, after every item; each wealth equals that of the reference."""
    most = 0.0
    for number, rewards in enumerate(populations(n_arms, 5, n_arms, 4)):
        orders = list(itertools.permutations(range(5)))
        capital = np.zeros((len(orders), 5))
        for row, order in enumerate(orders):
            race, books = kernel(n_arms, 5, 1e-12)
            twin, sums = Plugged(n_arms, 1.0), np.zeros(n_arms)
            alive = np.ones(n_arms, dtype=bool)
            for t, item in enumerate(order, start=1):
                # predictions of an item depend on earlier items
                rng = np.random.default_rng((number, *order[:t - 1]))
                by_item = ADVERSARIES[adversary](rng, rewards, np.arange(5), order[:t - 1])
                predicted = by_item[list(order[t - 1:])]
                predict(race, predicted, np.arange(n_arms))
                race.tell(books, rewards[[item]].copy())
                if race.alive.size < n_arms:
                    break  # an arm that cannot be best is eliminated
                twin.update(alive, sums, rewards[item], t, 5, predicted)
                sums += rewards[item]
                mine = race.arrays["memory"][:n_arms]
                assert np.allclose(mine, np.exp(twin.log_capital), rtol=1e-9)
                capital[row, t - 1:] = mine[-1]
        assert capital.mean(axis=0).max() <= 1.0 + 1e-9
        most = max(most, capital.max())
    assert most > 1.001  # bets were placed


@pytest.mark.parametrize("adversary", ADVERSARIES)
def test_race_errs_with_probability_at_most_delta_by_enumeration(adversary):
    n_arms, wrong = 3, 0
    for number, rewards in enumerate(populations(n_arms, 5, n_arms, 8)):
        delta, n_wrong = (0.5, 0.8, 0.9)[number % 3], 0
        orders = list(itertools.permutations(range(5)))
        for order in orders:
            race, books = kernel(n_arms, 5, delta)
            for t, item in enumerate(order):
                if race.decided:
                    break
                rng, arms = np.random.default_rng((number, *order[:t])), race.alive
                by_item = ADVERSARIES[adversary](rng, rewards, np.arange(5), order[:t])
                predict(race, by_item[list(order[t:])], arms)
                race.tell(books, rewards[[item]][:, arms].copy())
            n_wrong += rewards.sum(axis=0)[race.leaders[0]] < rewards.sum(axis=0).max() - 1e-12
        assert n_wrong <= delta * len(orders)
        wrong += n_wrong
    assert wrong or adversary != "noise"  # a race without any error would not test the bound


def by_topic(seed, n_items=600, n_models=40):
    """Return scores of models that are good at one of three topics; the scores reveal the topic."""
    rng = np.random.default_rng(seed)
    topic, strength = rng.integers(0, 3, n_items), rng.normal(0.0, 0.35, (3, n_models))
    ability = np.linspace(0.6, 0.4, n_models)[rng.permutation(n_models)]
    strength -= strength.mean(axis=0)
    chance = np.clip(ability + strength[topic], 0.02, 0.98)
    return (rng.random((n_items, n_models)) < chance) * 1.0


def reads(scores, n_orders=8, **options):
    return sum(pb.best_of(scores, **grouped(value_range=(0, 1), rng=seed, **options)).n_pulls
               for seed in range(n_orders))


def test_informative_priors_save_and_others_cost_little():
    """Priors: earlier versions with a tenth of the scores changed, noise, shuffled rows, counts."""
    scores, rng = by_topic(1), np.random.default_rng(2)
    raced, others = scores[:, :12], scores[:, 20:]
    alone = reads(raced)
    before = np.where(rng.random(raced.shape) < 0.1, 1.0 - raced, raced)
    assert reads(raced, prior_scores=before) <= 0.8 * alone
    for useless in (rng.normal(size=(600, 20)), others[rng.permutation(600)],
                    np.ones((600, 3)), np.arange(600.0)):
        assert reads(raced, prior_scores=useless) <= 1.05 * alone


def test_predictions_depend_on_read_items_only():
    """Blocks added one by one or together give equal predictions; later scores do not matter."""
    scores = by_topic(3)
    order = np.random.default_rng(4).permutation(600)
    arms = np.arange(0, 20, 2)
    blocks = [(arms, scores[order[i:i + 40]][:, arms].copy()) for i in range(0, 400, 40)]
    once, each = (Predictor(scores[:, 20:], 20, 1.0) for _ in range(2))
    once.catch_up(blocks, order)
    for n in range(1, len(blocks) + 1):
        each.catch_up(blocks[:n], order)
    for a, b in zip(once.predict(order[400:], 7, arms), each.predict(order[400:], 7, arms),
                    strict=True):
        assert np.array_equal(a, b)
    rows, totals, highest, lowest = once.predict(order[400:], 7, arms)
    every = once.predict(order[400:], 200, arms)[0]
    assert np.array_equal(rows, every[:7]) and rows.any()
    assert np.allclose(totals, every.sum(axis=0)) and np.allclose(highest, every.max(axis=0))
    assert np.allclose(lowest, every.min(axis=0)) and np.abs(every).max() <= 0.25
    # scores and rewards in other units give the same predictions
    other = Predictor(scores[:, 20:] * 7.0 - 3.0, 20, 5.0)
    other.catch_up([(arms, 5.0 * values) for arms, values in blocks], order)
    assert np.allclose(other.predict(order[400:], 200, arms)[0], 5.0 * every, atol=1e-9)


def test_components_have_unit_mean_square():
    rng = np.random.default_rng(5)
    table = rng.normal(size=(50, 4)) * [1.0, 10.0, 0.1, 0.0] + [0, 5, 0.3, 7.7]
    made = components(table)
    assert (made**2).sum() / 50 == pytest.approx(1.0)
    assert np.allclose(made.mean(axis=0), 0.0, atol=1e-12)
    assert not components(np.full((6, 2), 0.1)).any()
    assert components(rng.normal(size=(30, 40))).shape == (30, 16)


def test_restored_race_with_priors_continues_bit_for_bit():
    scores = by_topic(6)
    raced, others = scores[:, :20], scores[:, 20:]
    whole = play(pb.BettingRace(20, 600, value_range=(0, 1), rng=1, prior_scores=others), raced)
    parts = play(pb.BettingRace(20, 600, value_range=(0, 1), rng=1, prior_scores=others), raced,
                 copied=lambda race: pb.BettingRace.from_state(race.get_state()))
    assert frozen(whole.get_state()) == frozen(parts.get_state())
    assert whole.recommend() == parts.recommend() and whole.n_pulls == parts.n_pulls
    others[:] = np.nan  # the race must have copied it
    assert np.isfinite(whole.get_state()["prior_scores"]).all()


BAD = [
    (dict(prior_scores=np.ones((9, 2))), ["prior_scores", "row for each of 10 items", "(9, 2)"]),
    (dict(prior_scores=np.ones((10, 0))), ["prior_scores", "(10, 0)"]),
    (dict(prior_scores=np.ones((10, 2, 2))), ["prior_scores", "(10, 2, 2)"]),
    (dict(prior_scores=0.5), ["prior_scores", "()"]),
    (dict(prior_scores=[[1.0, np.nan]] * 10), ["prior_scores must be finite", "item 0",
                                                  "column 1"]),
    (dict(prior_scores=[[np.inf]] * 10), ["prior_scores must be finite", "inf"]),
    (dict(prior_scores=np.ma.masked_equal([1.0, 2.0] * 5, 2.0)), ["prior_scores"]),
    (dict(prior_scores=np.ones(10), k=2), ["prior_scores must be left out", "k = 2"]),
    (dict(prior_scores=np.ones(10), bets=pb.betting.Bets("product")), ["prior_scores", "product"]),
]


@pytest.mark.parametrize("options, words", BAD)
def test_invalid_priors_raise(options, words):
    with pytest.raises(ValueError) as caught:
        pb.BettingRace(3, 10, value_range=(0, 1), **options)
    assert_says(caught.value, *words)


def test_priors_raise_for_other_kinds_of_races():
    for n_items, options in ((None, {}), (10, {"population_size": math.inf}),
                             (10, {"population_size": 20}),
                             (10, {"weights": np.ones(10) + np.arange(10)})):
        with pytest.raises(ValueError, match="prior_scores must be left out for an endless"):
            pb.BettingRace(3, n_items, value_range=(0, 1), prior_scores=np.ones(10), **options)
    with pytest.raises(TypeError, match="prior_scores"):
        pb.BettingRace(3, 10, value_range=(0, 1), prior_scores=[["a"]] * 10)
    with pytest.raises(ValueError, match="prior_scores must be left out with a budget"):
        pb.best_of(np.eye(10)[:, :3], value_range=(0, 1), budget=20,
                   items=pb.Items(prior_scores=np.ones(10)))
    state = pb.BettingRace(3, 10, value_range=(0, 1), prior_scores=np.ones(10)).get_state()
    with pytest.raises(ValueError, match="prior_scores must have one row"):
        pb.BettingRace.from_state(state | {"prior_scores": np.ones((11, 1))})


def test_frame_with_other_items_raises():
    pandas = pytest.importorskip("pandas")
    scores = pandas.DataFrame(np.eye(10)[:, :3], index=[f"q{i}" for i in range(10)])
    known = pandas.DataFrame(np.ones((10, 2)), index=[f"q{i}" for i in range(10)])
    pb.best_of(scores, value_range=(0, 1), items=pb.Items(prior_scores=known))
    with pytest.raises(ValueError, match="prior_scores must have the index of the scores.*'q3'"):
        pb.best_of(scores, value_range=(0, 1),
                   items=pb.Items(prior_scores=known.rename(index={"q3": "q33"})))


def turned(scores):
    """Return priors that equal the scores on a part of the items and their opposite on the rest."""
    sign = np.where(np.arange(len(scores)) % 3 == 0, -1.0, 1.0)
    return scores * sign[:, None]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["the truth", "noise", "leader", "turned", "far out"])
def test_errors_in_ten_thousand_races_are_at_most_delta(kind):
    """One item of 100 decides; priors are the scores themselves, noise, or misleading."""
    rng, wrong, delta = np.random.default_rng(8), 0, 0.1
    for _ in range(10_000):
        columns = [rng.permutation(np.arange(100) < wins) for wins in [49] * 3 + [50]]
        scores = np.array(columns, dtype=float).T
        prior = {"the truth": scores, "noise": rng.normal(size=(100, 4)),
                 "leader": scores[:, :1], "turned": turned(scores),
                 "far out": rng.standard_cauchy((100, 2)) ** 3}[kind]
        top = pb.best_of(scores, value_range=(0, 1), delta=delta, rng=rng,
                         items=pb.Items(prior_scores=prior)).best_arms[0]
        wrong += top != 3
    assert wrong <= 1000 + 4.9 * np.sqrt(10_000 * delta * (1 - delta)), wrong
