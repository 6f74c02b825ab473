"""best_of with weights of items and of groups."""

import json

import numpy as np
import pytest

import pybandit as pb

from evaluation.grouped import grouped

RNG = np.random.default_rng(1)
GROUPS = np.repeat(["code", "maths", "law"], [240, 50, 10])
# the second model has the better mean over items, the first over groups
SCORES = (RNG.random((300, 2)) < np.repeat([[0.4, 0.6], [0.7, 0.4], [0.9, 0.3]], [240, 50, 10],
                                           axis=0)) * 1.0
UNIT = dict(value_range=(0, 1), rng=1)


def test_group_weights_give_mean_of_group_means():
    weights = pb.evaluation.group_weights(GROUPS)
    assert weights.sum() == pytest.approx(1.0)
    means = np.mean([SCORES[GROUPS == group].mean(axis=0) for group in np.unique(GROUPS)], axis=0)
    np.testing.assert_allclose(weights @ SCORES, means)
    assert pb.best_of(SCORES, **UNIT).best == 1
    result = pb.best_of(SCORES, items=pb.Items(weights=weights), **UNIT)
    assert result.best == 0 == means.argmax() and "300 weighted items" in result.summary()
    assert json.loads(json.dumps(result.to_dict()))["intervals"] is None
    assert result.to_dict()["weights"] == weights.tolist()
    with pytest.raises(ValueError, match="weights must be left out for confidence sequences"):
        result.confidence_sequence(0)
    assert "weighted" in result._repr_html_()


def test_weighted_frame_has_no_bounds():
    pandas = pytest.importorskip("pandas")
    frame = pb.best_of(pandas.DataFrame(SCORES, columns=["a", "b"]),
                       items=pb.Items(weights=pandas.Series(pb.evaluation.group_weights(GROUPS))),
                       **UNIT).to_frame()
    assert "lower" not in frame and frame.index[0] == "a"
    pb.best_of(SCORES, items=pb.Items(weights=pb.evaluation.group_weights(pandas.Series(GROUPS))),
               **UNIT)


def test_ties_with_weights():
    result = pb.best_of(SCORES[:, [0, 0, 1]],
                        items=pb.Items(weights=pb.evaluation.group_weights(GROUPS)), **UNIT)
    assert result.exact and result.tied.tolist() == [1]


@pytest.mark.parametrize("options", [dict(budget=100), dict(budget_cost=90.0, costs=0.5)])
def test_weights_with_budget_are_refused(options):
    with pytest.raises(ValueError, match="weights must be left out with a budget"):
        pb.best_of(SCORES, **grouped(weights=np.ones(300), **UNIT, **options))


@pytest.mark.parametrize("groups, expected", [
    (["a", "a", "b"], [0.25, 0.25, 0.5]), ([1, 2, 3, 3], [1 / 3, 1 / 3, 1 / 6, 1 / 6]),
    (["x"], [1.0]), (np.array(["a", "b"], dtype=object), [0.5, 0.5]), ([True, False], [0.5, 0.5])])
def test_group_weights_values(groups, expected):
    np.testing.assert_allclose(pb.evaluation.group_weights(groups), expected)


@pytest.mark.parametrize("groups, error, message", [
    ([], ValueError, "one dimension"), ([["a"]], ValueError, "shape"),
    (["a", None], ValueError, "label for every item"), ([1.0, np.nan], ValueError, "label for"),
    (np.array([1, "a"], dtype=object), TypeError, "one kind")])
def test_invalid_groups_are_refused(groups, error, message):
    with pytest.raises(error, match=message):
        pb.evaluation.group_weights(groups)
