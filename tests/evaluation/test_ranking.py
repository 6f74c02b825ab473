"""rank_by_pairs: the ranking, its promise by enumeration of orders and by simulation, the store."""

import itertools

import numpy as np
import pytest

import pybandit as pb
from pybandit.evaluation import rank_by_pairs
from pybandit.evaluation._pairs import PairSource
from pybandit.evaluation.ranking import _ranked

RNG = np.random.default_rng(1)
SKILL = RNG.normal(np.linspace(0, 2.4, 5), 1.0, (400, 5))


def duels(skill):
    return lambda a, b, items: (skill[items, a] > skill[items, b]) + 0.5 * (
        skill[items, a] == skill[items, b])


def win_rates(skill):
    """Return the win rates by their definition: against all models, 1/2 against itself."""
    n, k = skill.shape
    judge = duels(skill)
    return np.array([np.mean([np.full(n, 0.5) if a == b else judge(a, b, np.arange(n))
                              for b in range(k)]) for a in range(k)])


def test_ranking_is_that_of_the_win_rates_with_few_judgements():
    ranking = rank_by_pairs(duels(SKILL), 5, 400, rng=1)
    rates = win_rates(SKILL)
    assert ranking.order.tolist() == np.argsort(-rates).tolist() == [4, 3, 2, 1, 0]
    assert ranking.decided and not ranking.exact
    assert ranking.n_judgements < 0.4 * ranking.n_all == 0.4 * 400 * 10
    assert ranking.ranks.tolist() == [[5, 5], [4, 4], [3, 3], [2, 2], [1, 1]]
    assert (ranking.is_better == (rates[:, None] > rates)).all()


def test_claims_are_right_as_promised():
    """Four of five models are nearly equal: their order must rarely be claimed wrongly."""
    wrong = 0
    for seed in range(150):
        skill = np.random.default_rng(seed).normal([0, 0, 0, 0.3, 1], 1.0, (100, 5))
        rates = win_rates(skill)
        ranking = rank_by_pairs(duels(skill), 5, 100, delta=0.2, rng=seed)
        wrong += bool((ranking.is_better & (rates[:, None] <= rates)).any())
    assert wrong <= 56  # 150 at .2: a true one exceeds this with probability below 1e-6


@pytest.mark.parametrize("delta", [0.3, 0.9])
def test_errors_over_every_order_are_at_most_delta(delta):
    """All orders of the six units of three items and two models."""
    skill = np.array([[1.0, 0], [0, 1], [0, 1]])

    class Orders:
        def __init__(self, order):
            self.order = order

        def permutation(self, n):
            return np.array(self.order)

    wrong, n = 0, 0
    for order in itertools.permutations(range(6)):
        ranking = _ranked(PairSource(duels(skill), 2, 3, None), delta, np.inf, Orders(order))
        wrong += bool(ranking.is_better[0, 1])
        n += 1
    assert n == 720 and wrong / n <= delta


def test_equal_models_stay_undecided_and_everything_read_is_exact():
    skill = np.repeat(RNG.normal(size=(30, 1)), 3, axis=1)
    skill[:, 2] += 1
    ranking = rank_by_pairs(duels(skill), 3, 30, rng=1)
    assert ranking.order[0] == 2 and not ranking.decided
    assert not ranking.is_better[0, 1] and not ranking.is_better[1, 0]
    assert ranking.ranks.tolist() == [[2, 3], [2, 3], [1, 1]] and "2 > 0 ~ 1" in str(ranking)
    few = rank_by_pairs(duels(RNG.normal(size=(4, 3))), 3, 4, rng=1)
    assert few.exact and few.n_judgements == few.n_all == 12 and "everything" in repr(few)


def test_limit_stops_with_undecided_pairs():
    ranking = rank_by_pairs(duels(SKILL), 5, 400, max_judgements=100, rng=1)
    assert not ranking.decided and 100 <= ranking.n_judgements < 200
    assert "pairs undecided" in str(ranking) and ranking.to_frame().shape == (5, 3)


def test_store_keeps_judgements(tmp_path):
    names, calls = list("abcde"), []

    def judge(a, b, items):
        calls.append(items.size)
        return duels(SKILL)(names.index(a), names.index(b), items)

    first = rank_by_pairs(judge, names, 400, rng=1, store=tmp_path / "duels.db")
    n_calls = len(calls)
    again = rank_by_pairs(judge, names, 400, rng=1, store=tmp_path / "duels.db")
    assert len(calls) == n_calls and str(again) == str(first)
    assert sum(calls) == first.n_judgements


@pytest.mark.parametrize("options, error, words", [
    ({"delta": 0}, ValueError, "delta"), ({"max_judgements": 0}, ValueError, "max_judgements"),
    ({"models": 1}, ValueError, "models"), ({"judge": 3}, TypeError, "judge"),
    ({"items": pb.Items(9, weights=np.ones(9))}, ValueError, "weights must be left out"),
    ({"items": pb.Items(9, population_size=99)}, ValueError, "population_size must be left out"),
    ({"judge": lambda a, b, items: items + 2.0}, ValueError, "judgements in"),
    ({"rng": "x"}, TypeError, "rng")])
def test_bad_arguments_are_refused(options, error, words):
    with pytest.raises(error, match=words):
        rank_by_pairs(**{"judge": duels(SKILL), "models": 5, "items": 9, **options})
