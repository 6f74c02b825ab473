"""Results have the attributes and methods of their kind, and a repr of one line."""

import json

import numpy as np
import pytest

import border_calls
import pybandit as pb
from test_pickles import from_the_borders

SCORES = np.random.default_rng(0).random((400, 4)) < [0.3, 0.5, 0.6, 0.9]
BANDIT = pb.environments.GaussianBandit([0.0, 1.0])


def threshold_result():
    race = pb.BettingThreshold(4, 400, threshold=0.55, value_range=(0, 1), rng=1)
    return pb.evaluation.run_race(race, SCORES)


def recommendation():
    study = pb.Study.create(":memory:", pb.policies.Uniform(2, budget=4), arms=["tea", "milk"])
    study.tell(study.ask().id, [0.1, 0.4, 0.2, 0.6])
    return study.recommend()


ANSWERS = {
    "BestOfResult": lambda: pb.best_of(SCORES, rng=1),
    "ThresholdResult": threshold_result,
    "Recommendation": recommendation}
TABLES = {
    "SimulationResult": lambda: pb.simulate(pb.policies.Uniform(2, budget=8), BANDIT, 20, rng=1),
    "Comparison": lambda: pb.compare({"uniform": pb.policies.Uniform(2, budget=8)}, BANDIT, 20,
                                     rng=1),
    "Estimate": lambda: pb.combine_estimators([lambda rng: rng.random()] * 2, 50, rng=1),
    "CountPlan": lambda: pb.webtests.plan_counts([0.04, 0.06], 5000, n_runs=5, rng=1),
    "PowerCurves": lambda: pb.webtests.power_curves(0.04, [0.5], 5000, n_runs=5, rng=1)}
RACES = {"RaceResult": lambda: pb.race(SCORES.astype(float), rng=1)}
EVERY = ANSWERS | TABLES | RACES
each = pytest.mark.parametrize("name", EVERY)


@pytest.mark.parametrize("name", ANSWERS)
def test_answers_name_the_best(name):
    one = ANSWERS[name]()
    assert one.best == one.best_arms[0] and one.best_arms.dtype == np.int64
    assert type(one.names) is tuple and one.best_name == one.names[one.best]
    assert list(one.best_names) == [one.names[arm] for arm in one.best_arms]
    assert type(one.decided) is bool and one.n_pulls > 0


@each
def test_results_have_the_common_methods(name):
    one = EVERY[name]()
    assert type(one).__name__ == name
    assert one.summary().count("\n") == 0 and one.summary().endswith(".")
    json.dumps(one.to_dict(), allow_nan=False)
    assert "<" in one._repr_html_()
    if name != "RaceResult":
        pytest.importorskip("pandas")
        assert len(one.to_frame()) > 0


@each
def test_repr_is_one_line(name):
    text = repr(EVERY[name]())
    assert text.startswith((f"<{name}: ", "RaceResult(")) and "\n" not in text
    assert len(text) < 120


@pytest.mark.parametrize("name", EVERY)
def test_results_are_frozen(name):
    one = EVERY[name]()
    with pytest.raises((AttributeError, TypeError)):
        one.best = 3
    with pytest.raises((AttributeError, TypeError)):
        one.n_pulls = 3


def test_error_probability_is_printed_once():
    assert str(pb.best_of(SCORES, rng=1)).count("5 %") == 1
    assert len(str(pb.best_of(np.repeat(SCORES, 10, axis=1), rng=1)).splitlines()) <= 13


MADE = from_the_borders()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("cls", MADE, ids=lambda cls: cls.__name__)
def test_reprs_name_the_class(cls):
    assert border_calls.UNCALLED.isdisjoint({cls.__name__})
    text = repr(cls(**MADE[cls]))
    assert "object at 0x" not in text and "\n" not in text and len(text) <= 250
