"""best_of with costs from tables, frames and functions."""

import json

import numpy as np
import pytest

import pybandit as pb

from evaluation.grouped import grouped

N, K = 200, 4
SCORES = np.random.default_rng(1).random((N, K)) * [0.6, 0.8, 0.9, 1.0]
COSTS = np.random.default_rng(2).exponential(size=(N, K)) * [1.0, 2.0, 0.5, 3.0]
UNIT = dict(value_range=(0, 1), rng=3)


def told(model, items):
    return SCORES[items, model], COSTS[items, model].tolist()


@pytest.mark.parametrize("options", [{}, {"max_cost": 60.0}, {"budget_cost": 60.0}, {"budget": 90},
                                     {"k": 2, "max_cost": 90.0}])
def test_all_forms_of_costs_give_same_result(options):
    known = pb.best_of(SCORES, **grouped(costs=COSTS, **options, **UNIT))
    paid = [COSTS[known.items[:n], model].sum() for model, n in enumerate(known.pulls)]
    np.testing.assert_allclose(known.cost_by_arm, paid)
    assert known.cost == pytest.approx(sum(paid))
    assert known.cost <= options.get("max_cost", options.get("budget_cost", np.inf))
    assert f"that cost {known.cost:,.6g}" in known.summary()
    assert json.loads(json.dumps(known.to_dict()))["cost"] == known.cost
    pandas = pytest.importorskip("pandas")
    names = list("abcd")
    frame = pb.best_of(pandas.DataFrame(SCORES, columns=names),
                       **grouped(costs=pandas.DataFrame(COSTS, columns=names), **options, **UNIT))
    assert frame.cost == known.cost and frame.pulls.tolist() == known.pulls.tolist()
    assert frame.to_frame()["cost"].sum() == pytest.approx(known.cost)
    by_function = pb.best_of(told, K, **grouped(N, costs="told", **options, **UNIT))
    paid = [COSTS[by_function.items[:n], model].sum()
            for model, n in enumerate(by_function.pulls)]
    np.testing.assert_allclose(by_function.cost_by_arm, paid)
    if not {"max_cost", "budget_cost"} & set(options):
        assert by_function.cost == pytest.approx(known.cost)


def test_cost_is_none_without_costs():
    result = pb.best_of(SCORES, **UNIT)
    assert result.cost is None and result.cost_by_arm is None and "cost" not in result.summary()
    assert result.to_dict()["cost"] is None


def test_exhausted_max_cost_is_stated():
    result = pb.best_of(SCORES, costs=pb.Costs(COSTS, max_cost=30.0), **UNIT)
    assert not result.decided and result.survivors.size > 1
    assert "Not decided" in result.guarantee()
    budgeted = pb.best_of(SCORES, costs=pb.Costs(COSTS, budget=30.0), **UNIT)
    assert budgeted.budget is None and "an estimate" in str(budgeted)
    assert 0.0 < budgeted.error_estimate < 1.0


@pytest.mark.parametrize("options, error, words", [
    (dict(costs="told"), ValueError, ["costs", "table", "'told'"]),
    (dict(costs=-COSTS), ValueError, ["costs", "at least 0"]),
    (dict(costs=COSTS[:5]), ValueError, ["costs", "(200, 4)", "(5, 4)"]),
    (dict(costs=COSTS, max_cost=1.0), pb.errors.InfeasibleBudgetError,
     ["max_cost", "most expensive", "4 arms"]),
    (dict(costs=COSTS, budget_cost=1.0), pb.errors.InfeasibleBudgetError,
     ["budget", "most expensive"]),
    (dict(costs=COSTS, budget_cost=90.0, max_cost=90.0), ValueError, ["max_cost", "budget"]),
    (dict(costs=COSTS, budget_cost=90.0, budget=90), ValueError,
     ["budget", "Costs", "exactly one"]),
])
def test_what_is_refused(options, error, words):
    with pytest.raises(error) as caught:
        pb.best_of(SCORES, **grouped(**UNIT, **options))
    for word in words:
        assert word in str(caught.value)


def test_cost_frames_with_other_labels_are_refused():
    pandas = pytest.importorskip("pandas")
    scores = pandas.DataFrame(SCORES, columns=list("abcd"))
    with pytest.raises(ValueError, match="costs must have the columns of the scores"):
        pb.best_of(scores, costs=pandas.DataFrame(COSTS, columns=list("abdc")), **UNIT)
    with pytest.raises(ValueError, match="costs must have the index of the scores"):
        pb.best_of(scores, costs=pandas.DataFrame(COSTS, columns=list("abcd"))[::-1], **UNIT)


@pytest.mark.parametrize("name", ["costs", "weights", "prior_scores"])
def test_unlabelled_values_are_accepted(name):
    """Lists and Arrow arrays have a method `index`, which is not a label."""
    pandas, arrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    scores = pandas.DataFrame(SCORES, index=[f"q{i}" for i in range(len(SCORES))])
    plain = pb.best_of(SCORES, **grouped(**UNIT, **{name: COSTS[:, 0]}))
    for values in (arrow.array(COSTS[:, 0]), tuple(COSTS[:, 0])):
        found = pb.best_of(scores, **grouped(**UNIT, **{name: values}))
        assert found.pulls.tolist() == plain.pulls.tolist()


@pytest.mark.parametrize("name", ["costs", "weights", "prior_scores"])
def test_series_with_other_labels_are_refused(name):
    pandas = pytest.importorskip("pandas")
    labels = [f"q{i}" for i in range(len(SCORES))]
    scores = pandas.DataFrame(SCORES, columns=list("abcd"), index=labels)
    series = pandas.Series(COSTS[:, 0], index=labels)
    plain = pb.best_of(SCORES, **grouped(**UNIT, **{name: series.to_numpy()}))
    for table, values in ((scores, series), (SCORES, series[::-1].to_numpy()[::-1]),
                          (scores, COSTS[:, 0]), (scores, COSTS[:, 0].tolist())):
        found = pb.best_of(table, **grouped(**UNIT, **{name: values}))
        assert found.pulls.tolist() == plain.pulls.tolist() and found.best in (
            plain.best, "abcd"[plain.best])
    for other in (series[::-1], series.sort_values(), series.reset_index(drop=True)):
        with pytest.raises(ValueError, match=f"{name} must .* of (the )?scores, in their order"):
            pb.best_of(scores, **grouped(**UNIT, **{name: other}))


def test_series_of_costs_per_model_is_checked():
    pandas = pytest.importorskip("pandas")
    scores = pandas.DataFrame(SCORES, columns=list("abcd"))
    costs = pandas.Series([1.0, 2.0, 3.0, 4.0], index=list("abcd"))
    result = pb.best_of(scores, costs=costs, **UNIT)
    assert (result.cost_by_arm / result.pulls).tolist() == [1.0, 2.0, 3.0, 4.0]
    with pytest.raises(ValueError, match="costs must have the columns of the scores"):
        pb.best_of(scores, costs=costs[::-1], **UNIT)
    pb.best_of(scores, costs=COSTS.tolist(), **UNIT)


def test_series_on_square_table_is_read_by_labels():
    """Labels decide whether costs belong to items or to models."""
    pandas = pytest.importorskip("pandas")
    items, names, costs = list("wxyz"), list("abcd"), [1.0, 2.0, 3.0, 4.0]
    scores = pandas.DataFrame(SCORES[:4], columns=names, index=items)
    for index, shape in ((items, (4, 1)), (names, (1, 4))):
        for kind in (float, "Float64"):
            series = pandas.Series(costs, index=index, dtype=kind)
            found = pb.best_of(scores, costs=series, **UNIT)
            expected = pb.best_of(scores, costs=np.reshape(costs, shape), **UNIT)
            assert found.cost_by_arm.tolist() == expected.cost_by_arm.tolist()
    with pytest.raises(ValueError, match=r"the index of the scores \(one cost per item\) or their"):
        pb.best_of(scores, costs=pandas.Series(costs, index=names[::-1]), **UNIT)
    both = pandas.DataFrame(SCORES[:4])
    for table, series in ((both, pandas.Series(costs)), (SCORES[:4], pandas.Series(costs)),
                          (SCORES[:4], pandas.Series(costs, index=names)), (scores, costs),
                          (scores, np.array(costs))):
        with pytest.raises(ValueError, match="if there are as many items as arms"):
            pb.best_of(table, costs=series, **UNIT)


@pytest.mark.parametrize("given, error, message", [
    (lambda scores, costs: scores, TypeError, r"must return a tuple \(scores, costs\)"),
    (lambda scores, costs: (scores, costs, 1), TypeError, "got tuple of 3"),
    (lambda scores, costs: (scores, 1.0), ValueError, "one cost per item"),
    (lambda scores, costs: (1.0, costs), ValueError, "one score per item"),
    (lambda scores, costs: (scores, -costs), ValueError, "costs must be finite and at least 0"),
    (lambda scores, costs: (scores, costs * np.nan), ValueError, "got nan for item"),
])
def test_invalid_told_costs_are_refused(given, error, message):
    def score(model, items):
        return given(SCORES[items, model], COSTS[items, model])

    with pytest.raises(error, match=message):
        pb.best_of(score, K, N, costs="told", **UNIT)
