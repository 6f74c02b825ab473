"""Models by name and items by label, so that a store cannot mix them up."""

import asyncio
import sqlite3
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import closing

import numpy as np
import pytest

import pybandit as pb

from evaluation.grouped import grouped

N = 120
QUALITY = {"terse": 0.2, "plain": 0.5, "chatty": 0.6, "expert": 0.9}
NAMES = list(QUALITY)
LABELS = [f"q{i}" for i in range(N)]
GIVEN = dict(value_range=(0, 1), rng=3, progress=False)


def score_of(name, item):
    """Return the score of a prompt on an item, the same in every process."""
    noise = np.random.default_rng((NAMES.index(name), item)).random()
    return float(np.clip(QUALITY[name] + 0.2 * (noise - 0.5), 0, 1))


class Judge:
    """A judge that takes names and lists its calls."""

    def __init__(self, most=10**9):
        self.asked, self.most = [], most

    def __call__(self, name, items):
        assert isinstance(name, str) and items.dtype == np.int64
        if len(self.asked) >= self.most:
            raise TimeoutError("no more")
        self.asked += [(name, item) for item in items.tolist()]
        return np.array([score_of(name, item) for item in items.tolist()])


def test_function_is_called_with_names():
    judge = Judge()
    result = pb.best_of(judge, NAMES, N, **GIVEN)
    assert result.name(result.best) == "expert" and result.names == tuple(NAMES)
    table = np.array([[score_of(name, item) for name in NAMES] for item in range(N)])
    assert result.to_dict() == pb.best_of(table, NAMES, **GIVEN).to_dict()


def test_reordered_models_keep_their_scores(tmp_path):
    """Scores stored by number would give the worst prompt those of the best one."""
    first = pb.best_of(Judge(), NAMES, N, store=tmp_path / "s.db", **GIVEN)
    judge = Judge()
    again = pb.best_of(judge, NAMES[::-1], N, store=tmp_path / "s.db", **GIVEN)
    assert again.name(again.best) == first.name(first.best) == "expert"
    assert not judge.asked
    others = Judge()
    two = pb.best_of(others, ["expert", "plain"], N, store=tmp_path / "s.db", **GIVEN)
    assert two.name(two.best) == "expert" and not others.asked


def test_store_accepts_more_models(tmp_path):
    pb.best_of(Judge(), NAMES[:3], N, store=tmp_path / "s.db", **GIVEN)
    judge = Judge()
    result = pb.best_of(judge, ["expert", *NAMES[:3]], N, store=tmp_path / "s.db", **GIVEN)
    assert result.name(result.best) == "expert"
    assert {"expert"} == {name for name, _ in judge.asked}


def test_reordered_items_keep_their_scores(tmp_path):
    """Functions receive positions, and the labels tell which item is at a position."""
    order = np.random.default_rng(1).permutation(N)

    def shuffled(name, items):
        return np.array([score_of(name, int(order[item])) for item in items.tolist()])

    pb.best_of(Judge(), NAMES, LABELS, store=tmp_path / "s.db", **GIVEN)
    result = pb.best_of(shuffled, NAMES,
                        **grouped([LABELS[i] for i in order], store=tmp_path / "s.db",
                        **GIVEN | {"rng": 8}))
    alone = pb.best_of(shuffled, NAMES, **grouped(N, **GIVEN | {"rng": 8}))
    assert result.means.tolist() == alone.means.tolist()


@pytest.mark.parametrize("second, words", [
    (dict(items=N - 1), ["n_items '120'", "'119'"]),
    (dict(items=LABELS), ["items 'numbers'", "got '"]),
    (dict(value_range=(-1, 1)), ["value_range '(0.0, 1.0)'", "'(-1.0, 1.0)'"]),
    (dict(value_range=1.0), ["value_range '(0.0, 1.0)'", "'1.0'"]),
    (dict(version="judge 2"), ["version 'judge 1'", "'judge 2'"]),
    (dict(version=None), ["version 'judge 1'", "got ''"]),
    (dict(costs="told"), ["costs 'not told'", "'told'"])], ids=lambda value: str(value)[:40])
def test_store_refuses_another_evaluation(tmp_path, second, words):
    def score(name, items):
        return np.array([score_of(name, item) for item in items.tolist()])

    given = GIVEN | dict(models=NAMES, items=N, version="judge 1", store=tmp_path / "s.db")
    first = pb.best_of(score, **grouped(**given))
    with pytest.raises(pb.errors.StoreMismatchError) as caught:
        pb.best_of(score, **grouped(**given | second))
    assert all(word in str(caught.value) for word in ("store", *words))
    assert str(tmp_path / "s.db") in str(caught.value)
    # the refused call has not changed the file
    assert pb.best_of(score, **grouped(**given)).to_dict() == first.to_dict()


def test_store_refuses_other_labels(tmp_path):
    pb.best_of(Judge(), NAMES, LABELS, store=tmp_path / "s.db", **GIVEN)
    with pytest.raises(pb.errors.StoreMismatchError, match="has items '.*'; got '"):
        pb.best_of(Judge(), NAMES, [*LABELS[1:], "another"], store=tmp_path / "s.db", **GIVEN)


def test_file_store_needs_model_names(tmp_path):
    with pytest.raises(ValueError, match=r'models must be names .* \["a", "b"\].*; got 4'):
        pb.best_of(Judge(), 4, N, store=tmp_path / "s.db", **GIVEN)
    assert not (tmp_path / "s.db").exists()


def test_judgements_are_stored_by_name(tmp_path):
    """Judgements do not depend on the order of names; a file of judgements takes no scores."""
    asked = []

    def judge(first, second, items):
        asked.extend((first, second, item) for item in items.tolist())
        return np.array([score_of(first, item) > score_of(second, item)
                         for item in items.tolist()]) * 1.0

    first = pb.best_of_pairs(judge, NAMES, N, rng=1, store=tmp_path / "s.db")
    n_asked = len(asked)
    again = pb.best_of_pairs(judge, NAMES[::-1], N, rng=1, baseline="plain",
                             store=tmp_path / "s.db")
    assert first.best_name == again.best_name == "expert"
    assert len({(*sorted(call[:2]), call[2]) for call in asked}) == len(asked) >= n_asked
    with pytest.raises(pb.errors.StoreMismatchError, match="kind 'judgement'; got 'score'"):
        pb.best_of(Judge(), NAMES, N, store=tmp_path / "s.db", **GIVEN)


def test_paid_scores_have_names_as_keys():
    with pytest.raises(TimeoutError) as caught:
        pb.best_of(Judge(most=20), NAMES, LABELS, **GIVEN)
    paid, known = caught.value.store, set(caught.value.store)
    assert paid and set(paid) <= {(name, label) for name in NAMES for label in LABELS}
    judge = Judge()
    result = pb.best_of(judge, NAMES[::-1], LABELS, store=paid, **GIVEN)
    assert result.name(result.best) == "expert"
    assert result.n_pulls == len(judge.asked) + len(known)
    with pytest.raises(TypeError, match=r"store must have keys \(model, item\).*integers"):
        pb.best_of(lambda model, items: items * 0.0, 4, N, store=paid, **GIVEN)
    with pytest.raises(TypeError, match=r"store must have keys \(model, item\).*names"):
        pb.best_of(Judge(), NAMES, N, store={(0, 1): 0.5}, **GIVEN)


@pytest.mark.parametrize("kind", ["async", "threads", "processes"])
def test_single_calls_get_names(kind, tmp_path):
    pytest.importorskip("anyio")

    async def awaited(name, item):
        await asyncio.sleep(0)
        return score_of(name, item)

    options = {"async": dict(scores=awaited), "threads": dict(scores=score_of, concurrency=4),
               "processes": dict(scores=score_of, concurrency=2, executor=ProcessPoolExecutor(2))}
    if kind == "processes":
        options["processes"]["executor"].submit(int).result()
    given = GIVEN | options[kind] | dict(models=NAMES, items=LABELS, store=tmp_path / "s.db")
    result = pb.best_of(**grouped(**given))
    assert result.to_dict()["names"] == NAMES and result.name(result.best) == "expert"
    with closing(sqlite3.connect(tmp_path / "s.db")) as db:
        kept = db.execute("SELECT arm, item, score FROM cells").fetchall()
    assert len(kept) >= result.n_pulls
    for name, label, value in kept:
        assert value == score_of(name, LABELS.index(label))
    if kind == "processes":
        options["processes"]["executor"].shutdown()


def test_error_in_thread_names_call():
    def failing(name, item):
        return None if name == "chatty" else score_of(name, item)

    with pytest.raises(ValueError, match=r"score\('chatty', \d+\) must return a number"):
        pb.best_of(failing, NAMES, N, calls=pb.Calls(executor=ThreadPoolExecutor(2)), **GIVEN)


def test_pairs_accept_names():
    def judge(a, b, items):
        return np.array([score_of(a, item) > score_of(b, item) for item in items.tolist()], float)

    paid = {}
    result = pb.best_of_pairs(judge, NAMES, N, store=paid, rng=1)
    assert result.name(result.best) == "expert"
    assert all(a < b for a, b, _ in paid)
    asked = []
    again = pb.best_of_pairs(lambda a, b, items: asked.append((a, b)) or judge(a, b, items),
                             NAMES[::-1], N, store=paid, rng=1, baseline="plain")
    assert again.baseline == "plain" and again.name(again.best) == "expert"
    assert all(value == (score_of(a, i) > score_of(b, i)) for (a, b, i), value in paid.items())
    with pytest.raises(ValueError, match="baseline must be one of models; got 'nobody'"):
        pb.best_of_pairs(judge, NAMES, N, baseline="nobody")


@pytest.mark.parametrize("given, error, words", [
    (dict(models=["a", "b", "a"]), ValueError, ["models", "differ", "'a' twice"]),
    (dict(models=["a"]), ValueError, ["models", "at least 2"]),
    (dict(models=["a", 2]), TypeError, ["models", "text", "2"]),
    (dict(models="ab"), TypeError, ["models"]),
    (dict(models=["a", ""]), TypeError, ["models", "''"]),
    (dict(items=["x", "x"]), ValueError, ["items", "'x' twice"]),
    (dict(items=["7", 7]), ValueError, ["items", "'7' twice"]),
    (dict(items=[0.5]), TypeError, ["items", "0.5"]),
    (dict(items=[]), ValueError, ["items", "at least 1 entry"]),
    (dict(version="2"), ValueError, ["version", "store"])])
def test_invalid_names_are_refused(given, error, words):
    with pytest.raises(error) as caught:
        pb.best_of(Judge(), **grouped(**GIVEN | dict(models=NAMES, items=N) | given))
    assert all(word in str(caught.value) for word in words)


def test_names_for_a_table_are_checked():
    table = np.random.default_rng(1).random((40, 3)) * [0.5, 0.6, 1.0]
    result = pb.best_of(table, ["a", "b", "c"], LABELS[:40], **GIVEN)
    assert result.name(result.best) == "c"
    with pytest.raises(ValueError, match="models must be as many as the table has, 3.*got 2"):
        pb.best_of(table, ["a", "b"], **GIVEN)
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(table, columns=["a", "b", "c"])
    assert pb.best_of(frame, ["a", "b", "c"], **GIVEN).names == ("a", "b", "c")
    with pytest.raises(ValueError, match="models must be those of the table.*'c' instead of 'b'"):
        pb.best_of(frame, ["a", "c", "b"], **GIVEN)
