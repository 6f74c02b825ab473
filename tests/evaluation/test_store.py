"""Scores in a file: on the disk before use, and paid for once by all processes."""

import asyncio
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

import pybandit as pb
from pybandit.errors import StoreMismatchError, StudyDamagedError, StudyError
from pybandit.evaluation._store_file import StoreFile
from pybandit.evaluation._store_names import Names

from betting.races import assert_says
from evaluation.judges import GIVEN, MODELS, SCORES, Judge, K, N, cost, in_blocks
from evaluation.stores import kept as kept_by
from evaluation.test_calls import best, state
from programs import figures

KINDS = {"in blocks": lambda judge: dict(score=lambda model, items: np.array(
             [judge.call(model, item) for item in items.tolist()])),
         "awaited": lambda judge: dict(score=judge.awaited),
         "threads": lambda judge: dict(score=judge.call, concurrency=8)}


def opened(path, n_items=9, n_models=5):
    """Open a file of scores, with models by name and items by number."""
    return StoreFile(path, Names(list("abcde")[:n_models], None, n_items), False)


@pytest.mark.parametrize("kind", KINDS)
def test_only_missing_scores_are_paid_for(kind, tmp_path):
    """No stored score is requested again after a failure at any call, or with one more model."""
    store, expected, asked = tmp_path / "evals.db", best(in_blocks()), []
    for fails_at in (0, 3, 40, 10**9):
        def fails(n, model, item, at=fails_at):
            return ConnectionError("no answer") if n == at else None

        judge = Judge(fails, seconds=0.0005)
        given = KINDS[kind](judge)
        kept = {1000 * model + item for model, item in kept_by(store)}
        try:
            found = best(given.pop("score"), store=store, **given)
        except ConnectionError as error:
            is_said = "evals.db" in "".join(getattr(error, "__notes__", []))
            assert kind == "in blocks" or is_said or not kept_by(store)
        assert not {1000 * model + item for model, item in judge.asked} & kept
        asked += judge.asked
    assert state(found) == state(expected)
    again = Judge()
    assert state(best(again.awaited, store=store)) == state(expected) and not again.asked
    more = Judge()
    found = pb.best_of(lambda model, items: np.array(
        [more.call(min(int(model), K - 1), item) for item in items.tolist()]),
        [*MODELS, str(K)], N, store=store, **GIVEN)
    assert found.n_arms == K + 1 and len(more.asked) >= found.pulls[K]
    assert len(more.asked) < found.n_pulls


def test_costs_are_stored(tmp_path):
    store = tmp_path / "evals.db"
    judge = Judge(told=True)
    first = best(judge.awaited, costs="told", store=store)
    again = Judge(told=True)
    assert best(again.awaited, costs="told", store=store).cost == first.cost and not again.asked
    with closing(sqlite3.connect(store)) as db:
        rows = db.execute("SELECT arm, item, score, cost FROM cells").fetchall()
    assert rows and all(score == SCORES[int(item), int(model)]
                        and price == cost(model, int(item)) for model, item, score, price in rows)
    with pytest.raises(StoreMismatchError, match="costs 'told'; got 'not told'"):
        best(judge.awaited, store=store)


def test_store_is_a_mapping(tmp_path):
    with pytest.raises(StudyError):
        opened(tmp_path / "no folder" / "x.db")
    cells = opened(tmp_path / "x.db")
    cells["a", 1] = 0.5
    cells.update({("b", 2): 0.25, ("a", 1): 0.75})  # an update does not change stored scores
    assert dict(cells) == {("a", 1): 0.5, ("b", 2): 0.25}
    assert len(cells) == 2 and ("c", 2) not in cells
    with pytest.raises(TypeError, match="none can be deleted"):
        del cells["a", 1]
    cells.close()
    cells.close()
    cells.update({("d", 3): 1.0})  # an answer may come after the store is closed
    with closing(opened(tmp_path / "x.db")) as again:
        assert again["d", 3] == 1.0


@pytest.mark.parametrize("options, error, words", [
    (dict(store=3), TypeError, ["store", "3"]),
    (dict(store=":memory:"), ValueError, ["store", "in memory", ":memory:"]),
    (dict(store=""), ValueError, ["store", "on the disk"]),
    (dict(version="2", store={}), ValueError, ["version must be left out without a store"])])
def test_what_is_refused(options, error, words):
    with pytest.raises(error) as caught:
        best(in_blocks(), **options)
    assert_says(caught.value, *words)
    with pytest.raises(ValueError, match="store must be left out with a table"):
        pb.best_of(SCORES, store="x.db", **GIVEN)
    assert not os.path.exists("x.db") and not os.path.exists(":memory:")


def test_other_files_are_refused(tmp_path):
    store = tmp_path / "evals.db"
    best(in_blocks(), store=store)
    with pytest.raises(ValueError, match=f"n_items '{N}'; got '9'"):
        pb.best_of(in_blocks(), MODELS, 9, store=store, **GIVEN)
    with pb.Study.create(tmp_path / "study.db", pb.policies.Uniform(2, budget=8)):
        pass
    for path in ("study.db", "text"):
        (tmp_path / "text").write_text("no database at all" * 100)
        with pytest.raises(StudyDamagedError, match="file of scores"):
            best(in_blocks(), store=tmp_path / path)


# -- processes ---------------------------------------------------------------------


PROGRAM = Path(__file__).with_name("stores.py")


def test_random_kills_lose_no_stored_score():
    """Kills during calls repeat no stored call, and the result is that of one run."""
    found = figures(PROGRAM, "kill", 6, 1)
    assert found["kills"] >= 6 and 6 < found["repeated"] <= found["out_at_kills"]


@pytest.mark.slow
def test_two_hundred_kills_lose_no_stored_score():
    found = figures(PROGRAM, "kill", 200, 2)
    assert found["kills"] >= 200 and 200 < found["repeated"] <= found["out_at_kills"]


def test_two_processes_share_one_store():
    """Both processes find the answer, no call is made twice, and neither waits for the other."""
    found = figures(PROGRAM, "share", 1)
    assert found["calls"] == found["cells"] and min(found["by"]) > 0


def test_best_of_async_refuses_table():
    with pytest.raises(TypeError, match="scores must be a function.*for a table; got array"):
        asyncio.run(pb.best_of_async(SCORES, K, N, **GIVEN))


@pytest.mark.filterwarnings("ignore:best_of. .* are of calls that failed")
@pytest.mark.parametrize("told", [False, True])
def test_stored_failures_are_repeated_for_another_failed(told, tmp_path):
    store, costs = tmp_path / "evals.db", dict(costs="told") if told else {}

    def fails(n, model, item):
        return ConnectionError("no answer") if item % 20 == 3 else None

    def judged(zero, fails=fails):
        judge = Judge(fails, told=told, seconds=0.0005)
        failed = zero if zero is None or not told else (zero, 0.5)
        options = {} if zero is None else dict(failed=failed, timeout=30, retry=ConnectionError)
        return best(judge.awaited, store=store, **costs, **options), judge.asked

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pybandit.evaluation._calls.ATTEMPTS", 1)
        first = judged(0.0)[0]
        with closing(sqlite3.connect(store)) as db:
            kept = {(int(model), int(item))
                    for model, item in db.execute("SELECT arm, item FROM cells")}
        failures = {place for place in kept if place[1] % 20 == 3}
        again, asked = judged(0.0)
        assert failures and state(again) == state(first) and not kept & set(asked)
        assert kept & set(judged(0.25)[1]) <= failures
    found, asked = judged(None, lambda *call: None)
    assert kept & set(asked) <= failures and failures & set(asked)
    assert state(found) == state(best(in_blocks(told), **costs))
    assert not kept & set(judged(None)[1])


def test_removed_store_is_an_error(tmp_path):
    """Otherwise paid scores would go to a file without a name."""
    with closing(opened(tmp_path / "x.db")) as cells:
        cells["a", 1] = 0.5
        os.rename(tmp_path / "x.db", tmp_path / "y.db")
        with pytest.raises(StudyError, match="x.db was moved, removed or replaced while the file"):
            cells["a", 2] = 0.5
        os.rename(tmp_path / "y.db", tmp_path / "x.db")
        cells["a", 3] = 0.5
        assert dict(cells) == {("a", 1): 0.5, ("a", 3): 0.5}


def test_late_answer_goes_to_original_file(tmp_path, monkeypatch):
    """A late answer goes to the original file, even if its folder has been renamed."""
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "a")
    cells = opened("x.db")
    cells.close()
    monkeypatch.chdir(tmp_path / "b")
    opened("x.db").close()
    cells["a", 1] = 0.5
    with closing(opened("x.db")) as others, closing(opened("../a/x.db")) as own:
        assert not dict(others) and dict(own) == {("a", 1): 0.5}
