"""Calls that return None or NaN: repeated with retry=, counted with failed=, else an error."""

import asyncio
import itertools
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import pybandit as pb
from pybandit.evaluation import _calls

from evaluation.grouped import grouped
from evaluation.judges import GIVEN, SCORES, K, N, cost, in_blocks

EMPTY = [None, np.nan, np.float32("nan"), np.array(np.nan)]
TOLD = [*EMPTY, (None, 1.0), (np.nan, 1.0), (0.5, None), (0.5, np.nan)]


@pytest.fixture(autouse=True)
def _quickly(monkeypatch):
    monkeypatch.setattr(_calls, "FIRST_WAIT", 0.001)


def judge(fails, empty, told=False):
    """Return a judge that returns `empty` if ``fails(number of the call, model, item)`` is true."""
    count = itertools.count()

    def score(model, item):
        if fails(next(count), model, item):
            return empty
        value = float(SCORES[item, model])
        return (value, cost(model, item)) if told else value

    return score


def once(every):
    """Return a `fails` that is true at the first call of cells of every `every`-th item."""
    seen = set()

    def fails(n, model, item):
        is_first = (model, item) not in seen
        seen.add((model, item))
        return is_first and item % every == 0

    return fails


def plain(score, **options):
    return pb.best_of(score, K, **grouped(N, **{**GIVEN, "concurrency": 8, **options}))


def executed(score, **options):
    with ThreadPoolExecutor(4) as pool:
        return plain(score, executor=pool, **options)


def awaited(score, **options):
    async def ask(model, item):
        await asyncio.sleep(0)
        return score(model, item)

    return plain(ask, **options)


def nested(score, **options):
    async def choose():
        return await pb.best_of_async(score, K, **grouped(N, **{**GIVEN, **options}))

    return asyncio.run(choose())


KINDS = pytest.mark.parametrize("call", [plain, executed, awaited, nested])


@KINDS
@pytest.mark.parametrize("empty", EMPTY, ids=repr)
def test_missing_answer_is_retried(call, empty):
    found = call(judge(once(7), empty), retry=ConnectionError)
    expected = pb.best_of(in_blocks(), K, N, **GIVEN)
    assert found.best_arms.tolist() == expected.best_arms.tolist() and found.n_failed == 0
    assert found.n_pulls == expected.n_pulls


@KINDS
@pytest.mark.filterwarnings("ignore:.*calls that failed")
@pytest.mark.parametrize("retry", [(), OSError])
def test_missing_answer_counts_as_failed(call, retry):
    def fails(n, model, item):
        return model == 4 and item % 3 == 0

    table = SCORES.copy()
    table[::3, 4] = 0.0
    found = call(judge(fails, None), failed=0.0, retry=retry)
    expected = pb.best_of(table, **GIVEN)
    assert found.n_pulls == expected.n_pulls
    assert found.n_failed_by_arm[:4].sum() == 0 and found.n_failed_by_arm[4] > 0


@KINDS
@pytest.mark.filterwarnings("ignore:.*calls that failed")
@pytest.mark.parametrize("empty", TOLD, ids=repr)
def test_missing_cost_is_refused(call, empty):
    def always(n, model, item):
        return model == 4

    with pytest.raises(ValueError, match=r"score\(4, \d+\) must return a number and its cost; "
                                         r"got .*retry=.*failed="):
        call(judge(always, empty, told=True), costs="told")
    found = call(judge(always, empty, told=True), costs="told", failed=(0.0, 2.0), retry=OSError)
    assert found.n_failed_by_arm[4] >= found.pulls[4] > 0 and found.n_failed_by_arm[:4].sum() == 0
    again = call(judge(once(5), empty, told=True), costs="told", retry=OSError)
    expected = plain(judge(lambda *_: False, None, told=True), costs="told")
    assert again.best_arms.tolist() == expected.best_arms.tolist() and again.cost == expected.cost


@KINDS
@pytest.mark.parametrize("empty", EMPTY, ids=repr)
def test_missing_answer_error_names_call_and_remedy(call, empty):
    with pytest.raises(ValueError, match=r"score\(\d, \d+\) must return a number; got .*retry="
                       ) as caught:
        call(judge(lambda n, model, item: n == 40, empty))
    assert len(caught.value.store) > 20


def test_after_five_missing_answers_race_stops_with_paid_scores():
    calls = []

    def never(model, item):
        calls.append((model, item))
        return None if model == 2 else float(SCORES[item, model])

    with pytest.raises(ValueError, match=r"score\(2, \d+\) must return a number; got None"):
        plain(never, concurrency=1, retry=OSError)
    asked = [cell for cell in calls if cell[0] == 2]
    assert len(asked) == _calls.ATTEMPTS and len(set(asked)) == 1


@pytest.mark.parametrize("bad, error", [("nan", TypeError), (np.inf, ValueError),
                                        ([np.nan], ValueError), (object(), TypeError)])
def test_non_numeric_answer_is_not_retried(bad, error):
    with pytest.raises(error, match="score"):
        plain(judge(lambda n, model, item: n == 3, bad), retry=OSError, failed=0.0)


@pytest.mark.parametrize("empty", [None, np.nan])
def test_missing_judgement_error_names_call(empty):
    with pytest.raises((ValueError, TypeError), match=r"judge\(\d, \d, items\)"):
        pb.best_of_pairs(lambda model, opponent, items: np.full(items.shape, empty), 3, 50, rng=1)
