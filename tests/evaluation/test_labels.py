"""Labels of series: values are aligned by the index, or refused."""

import numpy as np
import pytest

import pybandit as pb

from evaluation.grouped import grouped

pandas = pytest.importorskip("pandas")

RNG = np.random.default_rng(1)
SCORES = RNG.random((64, 3)) * [0.5, 0.7, 1.0]
LABELS = [f"q{i}" for i in range(64)]
FRAME = pandas.DataFrame(SCORES, index=LABELS, columns=list("abc"))
UNIT = dict(value_range=(0, 1), rng=1)


def same(one, other):
    return one.to_dict() == other.to_dict()


# -- functions ------------------------------------------------------------------------


@pytest.mark.parametrize("order", [lambda items: items, np.sort, lambda items: items[::-1]])
def test_series_of_score_function_is_aligned(order):
    def score(model, items):
        items = order(items)
        return pandas.Series(SCORES[items, model], index=items)

    expected = pb.best_of(lambda model, items: SCORES[items, model], 3, 64, **UNIT)
    assert same(pb.best_of(score, 3, 64, **UNIT), expected)


@pytest.mark.parametrize("index", [
    lambda items: None, lambda items: [LABELS[item] for item in items], lambda items: items + 1,
    lambda items: [items[0]] * len(items)])
def test_series_of_other_items_is_refused(index):
    def score(model, items):
        return pandas.Series(SCORES[items, model], index=index(items))

    with pytest.raises(ValueError, match=r"score\(0, items\) must have the index of its items; got "
                                         r".*to_numpy\(\)"):
        pb.best_of(score, 3, 64, **UNIT)


def test_costs_of_score_function_are_aligned():
    costs = RNG.random((64, 3))

    def score(model, items):
        shuffled = np.sort(items)
        return SCORES[items, model], pandas.Series(costs[shuffled, model], index=shuffled)

    expected = pb.best_of(SCORES, costs=costs, **UNIT)
    found = pb.best_of(score, 3, 64, costs="told", **UNIT)
    assert found.cost == pytest.approx(expected.cost)


def test_series_of_pair_judge_is_aligned():
    def judge(a, b, items):
        return (SCORES[items, a] > SCORES[items, b]).astype(float)

    def series(a, b, items):
        items = np.sort(items)
        return pandas.Series(judge(a, b, items), index=items)

    assert same(pb.best_of_pairs(series, 3, 64, rng=1), pb.best_of_pairs(judge, 3, 64, rng=1))
    with pytest.raises(ValueError, match=r"judge\(.*must have the index of its items"):
        pb.best_of_pairs(lambda a, b, items: pandas.Series(judge(a, b, items)), 3, 64, rng=1)


# -- weights, costs, prior scores -----------------------------------------------------------


def test_group_weights_keep_index_of_series():
    groups = pandas.Series(["x", "y"] * 32, index=LABELS)
    weights = pb.evaluation.group_weights(groups)
    assert list(weights.index) == LABELS and weights.sum() == pytest.approx(1)
    expected = pb.best_of(SCORES, items=pb.Items(weights=pb.evaluation.group_weights(list(groups))),
                          **UNIT)
    found = pb.best_of(FRAME, items=pb.Items(weights=weights), **UNIT)
    assert found.pulls.tolist() == expected.pulls.tolist()
    with pytest.raises(ValueError, match="weights must have the index of the scores.*'q63' where "
                                         "'q0' was expected"):
        pb.best_of(FRAME, items=pb.Items(weights=weights[::-1]), **UNIT)
    categories = pandas.Series(pandas.Categorical(groups), index=LABELS)
    assert pb.evaluation.group_weights(categories).equals(weights)
    assert isinstance(pb.evaluation.group_weights(["x", "y"]), np.ndarray)


WRONG = {
    "weights": lambda: pandas.Series(np.ones(64), index=LABELS[::-1]),
    "costs": lambda: pandas.Series(np.ones(64), index=LABELS[::-1]),
    "prior_scores": lambda: FRAME[["a"]][::-1],
}


@pytest.mark.parametrize("name", WRONG)
def test_reordered_series_is_refused_by_all_entry_points(name, tmp_path):
    wrong = WRONG[name]()
    FRAME.to_csv(tmp_path / "s.csv")
    sources = {"frame": FRAME, "path": tmp_path / "s.csv", "array": SCORES}
    for source in sources.values():
        with pytest.raises(ValueError, match=rf"{name} must have the index of the scores"):
            pb.best_of(source, **grouped(**{name: wrong}, **UNIT))
    with pytest.raises(ValueError, match=rf"{name} must have the index of the scores"):
        pb.best_of(lambda model, items: SCORES[items, model], 3,
                   **grouped(64, **{name: wrong}, **UNIT))
    with pytest.raises(ValueError, match=rf"{name} must have the index of the items"):
        pb.BettingRace(3, 64, **{name: wrong}, **UNIT)
    right = wrong[::-1]
    assert pb.best_of(FRAME, **grouped(**{name: right}, **UNIT)).best == 2
    assert pb.best_of(tmp_path / "s.csv", **grouped(**{name: right}, **UNIT)).best == 2
    assert pb.best_of(SCORES, **grouped(**{name: right.to_numpy()}, **UNIT)).best == 2


def test_weights_may_have_index_of_frame_with_label_column():
    frame = FRAME.reset_index(names="item")
    weights = pb.evaluation.group_weights(pandas.Series(["x", "y"] * 32))
    assert pb.best_of(frame, items=pb.Items(weights=weights), **UNIT).best == 2
    assert pb.best_of(frame, items=pb.Items(weights=weights.set_axis(LABELS)), **UNIT).best == 2


# -- tell -------------------------------------------------------------------------------------


def test_race_tell_refuses_reordered_series():
    race = pb.BettingRace(3, 64, **UNIT)
    arms, items = race.ask()
    rewards = SCORES[items, arms]
    pairs = pandas.DataFrame({"arm": arms, "item": items, "reward": rewards})
    wrong = pairs.sort_values("reward")
    with pytest.raises(ValueError, match="rewards must have the index of arms"):
        race.tell(arms, items, wrong["reward"])
    with pytest.raises(ValueError, match="rewards must have the index of arms"):
        race.tell(pairs["arm"], pairs["item"], wrong["reward"])
    assert np.array_equal(race.ask()[1], items)
    race.tell(wrong["arm"], wrong["item"], wrong["reward"])
    other = pb.BettingRace(3, 64, **UNIT)
    other.tell(arms, items, rewards)
    assert np.array_equal(race.ask()[1], other.ask()[1])
    arms, items = other.ask()
    other.tell(arms, items, pandas.Series(SCORES[items, arms], index=items))


@pytest.mark.parametrize("make",
                         [lambda: pb.policies.Uniform(4, budget=8), lambda: pb.policies.UCB1(4)])
def test_policy_tell_refuses_reordered_series(make):
    policy = make()
    arms = policy.ask()
    values = np.linspace(0, 1, 4)
    shuffled = arms[::-1]
    if arms.size > 1:
        with pytest.raises(ValueError, match="rewards must have the index of arms, in their order"):
            policy.tell(arms, pandas.Series(values[shuffled % 4], index=shuffled))
    with pytest.raises(ValueError, match="rewards must have the index of arms"):
        policy.tell(arms, pandas.Series(values[arms % 4], index=[f"a{arm}" for arm in arms]))
    assert policy.n_pulls == 0
    policy.tell(arms, pandas.Series(values[arms % 4], index=arms))
    assert policy.n_pulls == arms.size
