"""best_of_pairs: the best model by pairwise judgements, and the judgements requested."""

import itertools
import math
import tracemalloc

import numpy as np
import pytest

import pybandit as pb
from pybandit.evaluation._pairs import Judgements

from evaluation.grouped import grouped

N, K = 60, 4
STRENGTH = np.random.default_rng(1).normal([0.0, 0.3, 0.5, 1.5], 1.0, (N, K)).round(1)


def beats(strength, a, b, items):
    """Return, for each item, 1 if a beats b, .5 for a tie and 0 if b beats a."""
    return (np.sign(strength[items, a] - strength[items, b]) + 1) / 2


def judge(a, b, items):
    return beats(STRENGTH, a, b, items)


class Judge:
    """A judge that counts its calls and refuses repeated ones."""

    def __init__(self, strength=STRENGTH):
        self.strength, self.asked, self.n = strength, set(), 0

    def __call__(self, a, b, items):
        assert isinstance(a, int) and isinstance(b, int) and a != b
        for item in items.tolist():
            pair = (min(a, b), max(a, b), item)
            assert pair not in self.asked
            self.asked.add(pair)
        self.n += len(items)
        values = beats(self.strength, a, b, items)
        items[:] = -1  # the function may modify its argument
        return values.tolist()


def win_rates(strength, against=None):
    n_items, n_arms = strength.shape
    every = np.arange(n_items)
    rates = np.array([[beats(strength, a, b, every).mean() for b in range(n_arms)]
                      for a in range(n_arms)])
    return rates.mean(axis=1) if against is None else rates[:, against]


@pytest.mark.parametrize("baseline", [None, 0, 3])
def test_best_has_highest_win_rate(baseline):
    asked, name = Judge(), None if baseline is None else "abcd"[baseline]
    result = pb.best_of_pairs(lambda a, b, items: asked("abcd".index(a), "abcd".index(b), items),
                              list("abcd"), N, baseline=name, rng=1)
    assert result.best == win_rates(STRENGTH, baseline).argmax() == 3 and result.decided
    assert result.cost == asked.n == result.cost_by_arm.sum()
    assert asked.n < N * K * (K - 1) / 2 if baseline is None else asked.n < N * (K - 1)
    whom = "one another" if baseline is None else "abcd"[baseline]
    assert f"on these 60 items by win rate against {whom}" in result.summary()
    assert f"after {asked.n} of {360 if baseline is None else 180} comparisons" in str(result)
    assert result.baseline == ("all" if baseline is None else whom) == result.to_dict()["baseline"]
    if baseline is not None:
        assert result.means[baseline] == 0.5 and result.cost_by_arm[baseline] == 0.0


@pytest.mark.parametrize("baseline", [None, 1])
def test_fully_read_pairs_are_exact(baseline):
    """Two equal models are compared once on every item, and get their exact win rates."""
    strength = STRENGTH[:, [0, 3, 3]]
    asked = Judge(strength)
    result = pb.best_of_pairs(asked, 3, N, baseline=baseline, rng=1)
    rates = win_rates(strength, baseline)
    assert result.exact and result.best == 1 and result.tied.tolist() == [2]
    np.testing.assert_allclose(result.means[1:], rates[1:])
    assert asked.n == result.cost <= (3 * N if baseline is None else 2 * N)
    expected = [result.n_items, "pairs of item and opponent" in result.guarantee()]
    assert expected == ([3 * N, True] if baseline is None else [N, False])


def test_eliminated_opponents_still_count():
    """Win rates are against all models to the end, also against eliminated ones."""
    rock = np.zeros((3, 3, N)) + 0.5  # 0 beats 1, 1 beats 2, and 2 rarely beats 0
    rock[0, 1], rock[1, 0] = 1.0, 0.0
    rock[1, 2], rock[2, 1] = 0.9, 0.1
    result = pb.best_of_pairs(lambda a, b, items: rock[a, b, items], 3, N, rng=2)
    assert result.best == 0 and result.decided


@pytest.mark.parametrize("options", [{"max_pulls": 20}, {"budget": 40}, {"k": 2},
                                     {"epsilon": 0.2}, {"weights": np.arange(1.0, N + 1)},
                                     {"baseline": 0, "population_size": math.inf},
                                     {"baseline": 0, "population_size": 900}])
def test_options(options):
    asked = Judge()
    result = pb.best_of_pairs(asked, K, **grouped(N, rng=3, **options))
    assert result.cost == asked.n
    most = options.get("max_pulls", options.get("budget"))
    if most:
        assert asked.n <= most + K and not result.decided
    assert 3 in result.best_arms or 3 in result.survivors
    if "weights" in options:
        assert result.weights.shape == (N * K,)


def test_error_rate_on_all_small_tables_is_below_delta():
    """Tables of three models and three items in which every judgement is a win or a loss."""
    rng, n_wrong, n_races, delta = np.random.default_rng(1), 0, 0, 0.5
    tables = list(itertools.product([0.0, 1.0], repeat=9))
    for seed in rng.permutation(len(tables))[:250].tolist():
        table = np.full((3, 3, 3), 0.5)
        for (a, b), wins in zip(((0, 1), (0, 2), (1, 2)), np.reshape(tables[seed], (3, 3)),
                                strict=True):
            table[a, b], table[b, a] = wins, 1.0 - wins
        rates = table.mean(axis=(1, 2))
        result = pb.best_of_pairs(lambda a, b, items, t=table: t[a, b, items], 3, 3, delta=delta,
                                  rng=seed)
        n_wrong += rates[result.best] < rates.max() - 1e-12
        n_races += 1
    assert n_wrong / n_races <= delta


@pytest.mark.slow
@pytest.mark.parametrize("baseline", [None, 0])
def test_error_rate_of_pairs_is_below_delta(baseline):
    """Ten thousand races with near ties and cycles among three models."""
    rng, n_wrong, delta = np.random.default_rng(5), 0, 0.1
    for seed in range(10_000):
        table = np.full((3, 3, 16), 0.5)
        for a, b in ((0, 1), (1, 2), (2, 0)):
            table[a, b] = rng.choice([0.0, 0.5, 1.0], size=16, p=[0.3, 0.3, 0.4])
            table[b, a] = 1.0 - table[a, b]
        rates = (table.mean(axis=(1, 2)) if baseline is None else table[:, baseline].mean(axis=1))
        result = pb.best_of_pairs(lambda a, b, items, t=table: t[a, b, items], 3, 16, delta=delta,
                                  baseline=baseline, rng=seed, progress=False)
        n_wrong += rates[result.best] < rates.max() - 1e-12
    assert n_wrong <= 10_000 * delta


@pytest.mark.parametrize("given, error, message", [
    (lambda a, b, items: 0.5, ValueError, r"judge\(\d, \d, items\) must return one judgement"),
    (lambda a, b, items: np.ones((len(items), 2)), ValueError, "shape"),
    (lambda a, b, items: np.full(len(items), 2.0), ValueError, r"in \[0, 1\]; got 2.0 for item"),
    (lambda a, b, items: np.full(len(items), np.nan), ValueError, "got nan for item"),
    (lambda a, b, items: ["a"] * len(items), TypeError, "real numbers"),
    (lambda a, b, items: None, TypeError, "real numbers"),
    (lambda a, b, items: np.ma.masked_all(len(items)), ValueError, "masked")])
def test_invalid_judgements_are_refused(given, error, message):
    with pytest.raises(error, match=message):
        pb.best_of_pairs(given, K, N, rng=1)


@pytest.mark.parametrize("options, error, words", [
    (dict(baseline=4), ValueError, ["baseline", "at most 3"]),
    (dict(baseline=1.5), TypeError, ["baseline"]),
    (dict(baseline="d"), TypeError, ["baseline"]),
    (dict(k=4), ValueError, ["k", "models, 4"]),
    (dict(budget=3), pb.errors.InfeasibleBudgetError, ["budget", "at least 4", "3"]),
    (dict(max_pulls=3), pb.errors.InfeasibleBudgetError, ["max_pulls", "at least 4"]),
    (dict(population_size=math.inf), ValueError, ["population", "baseline"]),
    (dict(weights=np.ones(3)), ValueError, ["weights", "(60,)", "(3,)"]),
    (dict(weights=-np.ones(N)), ValueError, ["weights", "above 0"]),
    (dict(budget=99, weights=np.ones(N)), ValueError, ["weights", "budget"])])
def test_what_is_refused(options, error, words):
    with pytest.raises(error) as caught:
        pb.best_of_pairs(judge, K, **grouped(N, **options))
    for word in words:
        assert word in str(caught.value)


def test_judge_must_be_a_function():
    with pytest.raises(TypeError, match="judge must be a function"):
        pb.best_of_pairs(STRENGTH, K, N)


def test_few_judgements_take_little_memory():
    """Memory depends on the judgements made, not on the number of items."""
    n_items = 200_000

    def judge(a, b, items):
        return (items * (a + 1) + b) % 7 < 3 + (a < b)

    tracemalloc.start()
    try:
        result = pb.best_of_pairs(judge, 20, n_items, rng=1, progress=False, max_pulls=4000)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert not result.decided and most < 19 * 20 / 2 * n_items * 8 / 2


def test_many_judgements_are_kept_in_an_array():
    """The change from dict to array keeps all judgements."""
    n_items = 50_000
    order = np.random.default_rng(1).permutation(n_items)
    values = order / n_items
    tracemalloc.start()
    try:
        kept = Judgements(n_items)
        for begin in range(0, n_items, 1000):
            part, later = order[begin:begin + 1000], order[begin + 1000:begin + 1010]
            kept.keep(part, values[begin:begin + 1000])
            found = kept.of(np.concatenate([order[:begin + 1000], later]))
            assert np.array_equal(found[:begin + 1000], values[:begin + 1000])
            assert np.isnan(found[begin + 1000:]).all()
        del found
        most = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert most < 12 * n_items
