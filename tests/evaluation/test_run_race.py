"""run_race: given races, also with thresholds, on tables and functions."""

import json
import pickle

import numpy as np
import pytest

import pybandit as pb
from pybandit.evaluation import run_race

from betting.races import frozen, play

N, K = 300, 4
SCORES = (np.random.default_rng(2).random((N, K)) < [0.3, 0.45, 0.6, 0.8]) * 1.0
NAMES = ["a", "b", "c", "d"]
MAKE = {
    "bets": lambda: pb.BettingRace(K, N, value_range=(0, 1), rng=1,
                                   bets=pb.betting.Bets("ebmix", n_bets=4)),
    "hybrid": lambda: pb.BettingRace(K, N, value_range=(0, 1), rng=1,
                                     bets=pb.betting.Bets("product", hybrid=True)),
    "budget": lambda: pb.BudgetRace(K, N, 2, budget=500, value_range=(0, 1), rng=1),
    "threshold": lambda: pb.BettingThreshold(K, N, threshold=0.5, value_range=(0, 1), rng=1)}


def score(model, items):
    return SCORES[items, NAMES.index(model)]


@pytest.mark.parametrize("kind", MAKE)
@pytest.mark.parametrize("source", ["table", "function", "threads", "store"])
def test_result_equals_race_by_hand(kind, source, tmp_path):
    expected, race, options = play(MAKE[kind](), SCORES), MAKE[kind](), {}
    scores = SCORES if source == "table" else score
    if source == "threads":
        scores = lambda model, item: float(score(model, item))  # noqa: E731
        options = dict(calls=pb.Calls(concurrency=4))
    elif source == "store":
        options = dict(store=tmp_path / "x.db")
    result = run_race(race, scores, NAMES, progress=False, **options)
    assert frozen(race.get_state()) == frozen(expected.get_state()) or source == "threads"
    assert result.best_arms.tolist() == expected.recommend().tolist()
    assert result.best_names == tuple(NAMES[arm] for arm in expected.recommend())
    assert result.n_pulls == expected.n_pulls and result.names == tuple(NAMES)
    assert isinstance(result, pb.evaluation.ThresholdResult) == (kind == "threshold")
    if source == "store":
        again = run_race(MAKE[kind](), lambda model, items: 1 / 0, NAMES, N, **options)
        assert again.to_dict() == result.to_dict()


def test_threshold_result_has_models_above_and_below():
    result = run_race(MAKE["threshold"](), SCORES)
    assert result.above.tolist() == [2, 3] and result.below.tolist() == [0, 1] and result.decided
    assert result.best == 3 and result.best_name == "3" and result.survivors.size == 0
    known = json.loads(json.dumps(result.to_dict()))
    assert known["best_arms"] == [3, 2] and known["threshold"] == 0.5
    assert "2 of 4 models are above 0.5 and 2 below (error at most 5 %)" in result.summary()
    assert repr(result).startswith("<ThresholdResult: 2 of 4 models above 0.5, 2 below, error at")
    assert str(result).startswith(result.summary()) and str(result).count("5 %") == 1
    assert len(str(result).splitlines()) == 7 and "<table>" in result._repr_html_()
    assert pickle.loads(pickle.dumps(result)).to_dict() == result.to_dict()
    pytest.importorskip("pandas")
    frame = result.to_frame()
    assert frame["status"].tolist() == ["above", "above", "below", "below"]
    assert frame.index.tolist()[:2] == ["3", "2"]
    none = run_race(pb.BettingThreshold(K, N, threshold=0.95, value_range=(0, 1), rng=1), SCORES)
    assert none.best is None and none.best_name is None and none.best_names == ()


def test_threshold_plot_has_means_and_bounds():
    figures = pytest.importorskip("matplotlib.figure")
    result = run_race(MAKE["threshold"](), SCORES, NAMES)
    axis = result.plot(figures.Figure().subplots())
    assert [label.get_text() for label in axis.get_yticklabels()] == ["d", "c", "b", "a"]
    for arm, (point, _, (bars,)) in zip((3, 2, 1, 0), axis.containers, strict=True):
        assert point.get_xdata().tolist() == [result.means[arm]]
        bounds = pb.confidence_sequence(result.rewards(arm), population_size=N, delta=result.delta)
        np.testing.assert_allclose(bars.get_segments()[0][:, 0],
                                   [bounds.lower[-1], bounds.upper[-1]])
    assert [0.5, 0.5] in [list(line.get_xdata()) for line in axis.lines]
    assert axis.get_title(loc="left") == "2 above, 2 below, 0 not decided"


@pytest.mark.parametrize("arguments, options, error, words", [
    ((pb.CountRace(K), SCORES), {}, TypeError, "race must be a BettingRace, a BudgetRace or"),
    ((pb.BettingRace(K, None, value_range=1.0), SCORES), {}, ValueError, "not an endless stream"),
    ((MAKE["bets"](), SCORES[:, :3]), {}, ValueError, "race must have n_arms = 3, like the scores"),
    ((MAKE["bets"](), SCORES[:9]), {}, ValueError, "race must have n_items = 9, like the scores"),
    ((MAKE["bets"](), SCORES), {"calls": pb.Calls(block_size=4)}, ValueError, "block_size of Cal"),
    ((MAKE["bets"](), SCORES, None, pb.Items(N)), {}, TypeError, "options of the race"),
    ((MAKE["bets"](), SCORES), {"calls": 64}, TypeError, "calls must be a Calls.*; got 64"),
    ((MAKE["bets"](), score, NAMES), {"calls": pb.Calls(retry=OSError)}, ValueError,
     "Calls must have concurrency or executor for retry")])
def test_what_is_refused(arguments, options, error, words):
    with pytest.raises(error, match=words):
        run_race(*arguments, **options)
