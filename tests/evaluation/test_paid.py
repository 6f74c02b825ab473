"""Paid scores survive exceptions of a judge, Ctrl-C and refused answers."""

import itertools
import shelve

import numpy as np
import pytest

import pybandit as pb

from betting.races import assert_says, frozen
from evaluation.grouped import grouped
from evaluation.judges import models_for

N, K = 120, 5
SCORES = np.random.default_rng(3).random((N, K)) * [0.5, 0.6, 0.7, 0.8, 0.9]
GIVEN = dict(value_range=(0, 1), rng=4, progress=False)


class Judge:
    """Returns scores of a table, counts them, and raises at one call."""

    def __init__(self, fails_at=None, error=TimeoutError, told=False):
        self.fails_at, self.error, self.told = fails_at, error, told
        self.calls, self.asked = 0, []

    def __call__(self, model, items):
        self.calls += 1
        if self.calls == self.fails_at:
            raise self.error("no answer")
        self.asked += [(model, item) for item in items.tolist()]
        scores = SCORES[items, model]
        return (scores, 0.1 + scores) if self.told else scores


OPTIONS = [{}, {"k": 2}, {"budget": 150}, {"costs": "told", "max_cost": 200.0},
           {"epsilon": 0.05, "max_pulls": 300}, {"prior_scores": SCORES[:, :2]}]


@pytest.mark.parametrize("options", OPTIONS, ids=repr)
@pytest.mark.parametrize("error", [TimeoutError, KeyboardInterrupt, SystemExit])
def test_repeated_failures_never_pay_twice(options, error):
    """The result equals that of a race without failures, whichever call fails."""
    told = options.get("costs") == "told"
    whole = Judge(told=told)
    expected = pb.best_of(whole, K, **grouped(N, **GIVEN, **options))
    for fails_at in (1, 2, 7, whole.calls // 2, whole.calls):
        paid, asked = {}, []
        for _ in itertools.count():
            judge = Judge(fails_at, error, told)
            try:
                found = pb.best_of(judge, K, **grouped(N, store=paid, **GIVEN, **options))
                break
            except error as raised:
                assert raised.args == ("no answer",) and getattr(raised, "store", {}) in (paid, {})
                fails_at += 1
            finally:
                asked += judge.asked
        assert sorted(asked) == sorted(whole.asked) and len(paid) == len(asked)
        assert frozen(found._race.get_state()) == frozen(expected._race.get_state())
        assert (found.cost, found.n_pulls) == (expected.cost, expected.n_pulls)


@pytest.mark.parametrize("told", [False, True])
def test_exception_carries_paid_scores(told):
    """The exception carries paid scores even if the caller passes no mapping."""
    options = dict(GIVEN, costs="told") if told else GIVEN
    judge = Judge(20, KeyboardInterrupt, told)
    with pytest.raises(KeyboardInterrupt) as caught:
        pb.best_of(judge, K, **grouped(N, **options))
    paid = caught.value.store
    assert sorted(paid) == sorted(judge.asked) and len(paid) > 10
    for (model, item), cell in paid.items():
        score = SCORES[item, model]
        assert cell == ((score, 0.1 + score) if told else score)
        assert type(model) is type(item) is int
    assert_says(caught.value.__notes__[0], f"{len(paid)} scores", "store=")
    again = Judge(told=told)
    pb.best_of(again, K, **grouped(N, store=paid, **options))
    assert not set(again.asked) & set(judge.asked)


def test_error_in_first_call_has_no_note():
    with pytest.raises(TimeoutError) as caught:
        pb.best_of(Judge(1), K, N, **GIVEN)
    assert not hasattr(caught.value, "store") and not getattr(caught.value, "__notes__", None)


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1.5])
def test_refused_score_is_requested_again(bad):
    """Other scores of the same call are stored."""
    def judge(model, items):
        scores = SCORES[items, model].copy()
        scores[items == bad_item] = bad
        return scores

    bad_item = pb.best_of(Judge(), K, N, **GIVEN).items[10]
    with pytest.raises(ValueError, match="scores must") as caught:
        pb.best_of(judge, K, N, **GIVEN)
    assert len(caught.value.store) > 40
    assert all(item != bad_item for _, item in caught.value.store)
    again = Judge()
    pb.best_of(again, K, N, store=caught.value.store, **GIVEN)
    assert {item for _, item in again.asked} >= {bad_item}


@pytest.mark.parametrize("where", [None, "mapping", "file"])
@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("single", [True, False])
def test_contradicting_scores_are_requested_again(single, first, where, tmp_path):
    """All scores of the item are dropped, because any may be wrong, and no others."""
    given = dict(GIVEN, value_range=0.9)
    bad_item, asked = pb.best_of(Judge(), K, **grouped(N, **given)).items[10], []
    wrong = (0 if first else K - 1, bad_item)

    def one(model, item):
        asked.append((int(model), item))
        return float(SCORES[item, int(model)]) + 5.0 * (wrong == (int(model), item))

    async def awaited(model, item):
        return one(model, item)

    def judge(model, items):
        return np.array([one(model, item) for item in items.tolist()])

    options = {None: {}, "mapping": {"store": {}}, "file": {"store": tmp_path / "x.db"}}[where]
    with pytest.raises(ValueError, match="differ by at most") as caught:
        pb.best_of(awaited if single else judge, models_for(options),
                   **grouped(N, **options, **given))
    assert f"item {bad_item} are dropped" in caught.value.__notes__[0]
    before, wrong = set(asked), None
    asked.clear()
    if where is None:
        options = {"store": caught.value.store}
    found = pb.best_of(awaited if single else judge, models_for(options),
                   **grouped(N, **options, **given))
    expected = pb.best_of(Judge(), K, **grouped(N, **given))
    assert found.means.tolist() == expected.means.tolist()
    assert {item for _, item in before & set(asked)} == {bad_item}


def test_paid_scores_serve_other_runs():
    """Scores serve runs with another seed, a budget or one more model, also from a disk."""
    paid = {}
    pb.best_of(Judge(), K, N, store=paid, **GIVEN)
    known = dict(paid)
    for options in (dict(GIVEN, rng=9), dict(GIVEN, budget=200), dict(GIVEN, k=3)):
        judge = Judge()
        pb.best_of(judge, K, **grouped(N, store=paid, **options))
        assert not set(judge.asked) & set(known)
        known = dict(paid)


def test_custom_mapping_is_written_after_every_call(tmp_path):
    """Scores are on the disk as soon as the call that returned them has ended."""
    class Shelf(dict):
        def update(self, cells):
            super().update(cells)
            with shelve.open(str(tmp_path / "paid")) as shelf:
                shelf.update({repr(place): cell for place, cell in cells.items()})

    judge = Judge(9)
    with pytest.raises(TimeoutError) as caught:
        pb.best_of(judge, K, N, store=Shelf(), **GIVEN)
    assert isinstance(caught.value.store, Shelf)
    with shelve.open(str(tmp_path / "paid")) as shelf:
        assert sorted(shelf) == sorted(map(repr, judge.asked))


@pytest.mark.parametrize("baseline", [None, 0])
def test_paid_judgements_of_pairs_are_reused(baseline):
    asked, again = [], []

    def pairwise(a, b, items, kept=asked):
        if kept is asked and len(kept) > 60:
            raise TimeoutError
        kept += [(min(a, b), max(a, b), item) for item in items.tolist()]
        return (SCORES[items, a] > SCORES[items, b]) * 1.0

    options = dict(baseline=baseline, rng=3, progress=False)
    with pytest.raises(TimeoutError) as caught:
        pb.best_of_pairs(pairwise, K, **grouped(N, **options))
    paid = caught.value.store
    assert sorted(paid) == sorted(asked) and "judgements" in caught.value.__notes__[0]
    assert all(won == (SCORES[item, a] > SCORES[item, b]) for (a, b, item), won in paid.items())
    found = pb.best_of_pairs(lambda a, b, items: pairwise(a, b, items, again), K,
                             **grouped(N, store=paid,
                             **options))
    whole = pb.best_of_pairs(lambda a, b, items: pairwise(a, b, items, []), K,
                             **grouped(N, **options))
    assert not set(asked) & set(again) and len(again) > 0
    assert frozen(found._race.get_state()) == frozen(whole._race.get_state())


@pytest.mark.parametrize("paid, error, words", [
    ([], TypeError, ["store", "mapping", "[]"]), (3, TypeError, ["store", "path", "3"]),
    ({(m, i): "x" for m in range(K) for i in range(N)}, TypeError, ["store", "a number", "'x'"]),
    ({(m, i): (1, 2) for m in range(K) for i in range(N)}, TypeError, ["store", "(1, 2)"]),
    ({(m, i): 7.0 for m in range(K) for i in range(N)}, ValueError, ["value_range", "7.0"])])
def test_what_is_refused(paid, error, words):
    with pytest.raises(error) as caught:
        pb.best_of(Judge(), K, N, store=paid, **GIVEN)
    assert_says(caught.value, *words)


def test_store_with_table_is_refused():
    with pytest.raises(ValueError, match="store must be left out with a table"):
        pb.best_of(SCORES, store={}, **GIVEN)
    paid = {(m, i): 0.5 for m in range(K) for i in range(N)}
    with pytest.raises(TypeError, match=r"store must hold a tuple \(score, cost\)"):
        pb.best_of(Judge(told=True), K, N, store=paid, costs="told", **GIVEN)
