"""best_of: races on all sources of scores, invalid arguments, and the result."""

import copy
import json
import math
import pickle

import numpy as np
import pytest

import pybandit as pb

from evaluation.grouped import grouped

N, K = 400, 8


def make_scores(seed=0, n_items=N, n_arms=K):
    rng = np.random.default_rng(seed)
    means = np.linspace(0.7, 0.3, n_arms)
    return np.clip(means + rng.normal(scale=0.2, size=(n_items, n_arms)), 0.0, 1.0)


SCORES = make_scores()


def race_by_hand(scores, **options):
    race = pb.BettingRace(scores.shape[1], len(scores), value_range=(0, 1), **options)
    order = []
    while not race.done:
        arms, items = race.ask()
        order += dict.fromkeys(items.tolist())
        race.tell(arms, items, scores[items, arms])
    return race, order


def assert_same(one, other):
    first, second = one.to_dict(), other.to_dict()
    for name in ("names", "best_name", "best_names", "summary"):
        first.pop(name), second.pop(name)
    assert first == second


@pytest.mark.parametrize("options", [
    {}, {"k": 2}, {"k": 7}, {"epsilon": 0.1}, {"k": 3, "epsilon": 0.1},
    {"max_pulls": 100}, {"k": 2, "max_pulls": 333},
    {"block_size": 50}, {"delta": 1e-200}])
def test_result_equals_race_by_hand(options):
    race, order = race_by_hand(SCORES, rng=5, **options)
    result = pb.best_of(SCORES, **grouped(value_range=(0, 1), rng=5, **options))
    assert result.best_arms.tolist() == race.recommend().tolist()
    assert result.best == result.best_arms[0]
    assert result.n_pulls == race.n_pulls == result.pulls.sum()
    assert result.fraction_read == race.n_pulls / (N * K)
    assert (result.decided, result.exact) == (race.decided, race.exact)
    np.testing.assert_array_equal(result.pulls, race.pulls)
    np.testing.assert_array_equal(result.means, race.means)
    assert result.items.tolist() == order
    for model in range(K):
        np.testing.assert_array_equal(result.rewards(model),
                                      SCORES[result.items[:result.pulls[model]], model])


@pytest.mark.parametrize("options", [{}, {"k": 2}, {"max_pulls": 100}])
def test_all_sources_give_same_result(options):
    options = dict(options, value_range=(0, 1), rng=3)
    calls = []

    def score(model, items):
        assert isinstance(model, int) and items.dtype == np.int64
        calls.append((model, items.tolist()))
        values = SCORES[items, model]
        items[:] = -1  # the function may modify its argument
        return values.tolist()

    result = pb.best_of(score, K, **grouped(N, **options))
    assert sum(len(items) for _, items in calls) == result.n_pulls
    assert_same(result, pb.best_of(SCORES, **grouped(**options)))
    assert_same(result, pb.best_of(SCORES.tolist(), **grouped(models=K, items=N, **options)))
    assert_same(result, pb.best_of(np.asfortranarray(SCORES), **grouped(**options)))
    pandas = pytest.importorskip("pandas")
    names = [f"m{i}" for i in range(K)]
    frame = pb.best_of(pandas.DataFrame(SCORES, columns=names), **grouped(**options))
    assert_same(result, frame)
    assert frame.names == tuple(names) and frame.best_name == names[result.best]
    assert result.names == tuple(map(str, range(K))) and result.best_name == str(result.best)


def test_bools_integers_and_objects_are_accepted():
    wins = np.random.default_rng(0).random((3000, 3)) < [0.2, 0.5, 0.8]
    for table in (wins, wins.astype(np.int8), wins.astype(np.float32), wins.astype(object)):
        result = pb.best_of(table, value_range=(0, 1), rng=0)
        assert result.best == 2 and result.decided and result.n_pulls < 1000


def test_epsilon_ends_ties():
    tie = np.repeat(make_scores()[:, :1], 3, axis=1)
    tie[:, 1] = np.clip(tie[:, 1] + 0.001 * np.where(np.arange(N) % 2, 1, -1), 0, 1)
    plain = pb.best_of(tie, value_range=(0, 1), rng=0)
    near = pb.best_of(tie, value_range=(0, 1), rng=0, epsilon=0.2)
    assert plain.exact and plain.fraction_read == 1.0
    assert "says nothing about others. Of the same mean: model 2;" in plain.guarantee()
    assert near.decided and not near.exact and near.fraction_read < 0.9
    assert "more than 0.2" in near.guarantee()


def test_max_pulls_keeps_best_among_survivors():
    result = pb.best_of(SCORES, value_range=(0, 1), rng=0, max_pulls=130, k=2)
    assert not result.decided and not result.exact
    assert result.n_pulls <= 130
    assert set(result.best_arms) <= set(result.survivors.tolist())
    assert {0, 1} <= set(result.survivors.tolist())
    assert "Undecided which are the 2 best" in str(result)
    assert "2 best are among them" in result.guarantee()
    full = pb.best_of(SCORES, value_range=(0, 1), rng=0, k=2)
    assert full.survivors.tolist() == full.best_arms.tolist() == [0, 1]


def budget_by_hand(scores, **options):
    race = pb.BudgetRace(scores.shape[1], len(scores), value_range=(0, 1), **options)
    while not race.done:
        arms, items = race.ask()
        race.tell(arms, items, scores[items, arms])
    return race


@pytest.mark.parametrize("options", [{"budget": 8}, {"budget": 200}, {"budget": 900, "k": 3},
                                     {"budget": N * K}, {"budget": 500, "delta": 0.2}])
def test_budget_equals_budget_race_by_hand(options):
    race = budget_by_hand(SCORES, rng=5, **options)
    result = pb.best_of(SCORES, **grouped(value_range=(0, 1), rng=5, **options))
    assert result.best_arms.tolist() == race.recommend().tolist() and result.budget == race.budget
    assert result.n_pulls == race.n_pulls <= options["budget"]
    assert (result.decided, result.exact) == (race.decided, race.exact)
    assert result.error_estimate == race.error_estimate
    np.testing.assert_array_equal(result.pulls, race.pulls)
    np.testing.assert_array_equal(result.dropped, race.dropped)
    assert set(result.best_arms.tolist()) <= set(result.survivors.tolist())
    for model in range(K):
        np.testing.assert_array_equal(result.rewards(model),
                                      SCORES[result.items[:result.pulls[model]], model])
    assert json.loads(json.dumps(result.to_dict()))["error_estimate"] == race.error_estimate


def test_budget_result_states_its_guarantee():
    poor = pb.best_of(SCORES, value_range=(0, 1), rng=5, budget=64)
    assert not poor.decided and poor.dropped.size and 0.0 < poor.error_estimate < 1.0
    for words in ("Not certified", f"{poor.dropped.size} of 8", "an estimate", "at most 0.05"):
        assert words in poor.guarantee()
    rich = pb.best_of(SCORES, value_range=(0, 1), rng=5, budget=N * K)
    assert rich.decided and not rich.dropped.size and "at most 0.05" in rich.guarantee()
    assert rich.error_estimate <= 0.05
    assert pb.best_of(SCORES, value_range=(0, 1), rng=5).error_estimate is None


def test_budget_beats_uniform_cap_on_near_ties():
    """With max_pulls all models are read evenly; with a budget the worst are dropped early."""
    close = np.random.default_rng(1).random((300, 30)) < np.linspace(0.8, 0.6, 30)
    close = close * 1.0
    best = np.flatnonzero(close.mean(axis=0) == close.mean(axis=0).max())
    right = [sum(pb.best_of(close,
                            **grouped(value_range=(0, 1), rng=seed, **{name: 2000})).best in best
                 for seed in range(60)) for name in ("budget", "max_pulls")]
    assert right[0] >= right[1] + 6, right


@pytest.mark.parametrize("options, words", [
    ({"budget": 7}, ["budget", "8", "7"]), ({"budget": 100, "max_pulls": 100},
                                            ["max_pulls", "left out", "100"]),
    ({"budget": 100, "epsilon": 0.1}, ["epsilon", "left out"]),
    ({"budget": 100, "block_size": 4}, ["block_size", "left out"])])
def test_invalid_budgets_are_refused(options, words):
    with pytest.raises(ValueError) as caught:
        pb.best_of(SCORES, **grouped(value_range=(0, 1), **options))
    for word in words:
        assert word in str(caught.value)


def test_accepted_models_stay_among_survivors():
    """An accepted model (k > 1) is not read any more but remains among the survivors."""
    scores = SCORES.copy()
    scores[:, 0] = 1.0
    late = [result for budget in range(100, 2000, 50)
            if not (result := pb.best_of(scores, value_range=(0, 1), rng=0, k=3,
                                         max_pulls=budget)).decided
            and result.pulls[0] < result.pulls.max()]
    assert late and all(0 in result.survivors for result in late)


def test_intervals_equal_confidence_sequences():
    result = pb.best_of(SCORES, value_range=(0, 1), rng=1, delta=0.1)
    lower, upper = pb.confidence_sequence(result.rewards(1), population_size=N, delta=0.1,
                                          value_range=(0, 1))
    np.testing.assert_array_equal(result.confidence_sequence(1).lower, lower)
    np.testing.assert_array_equal(result.confidence_sequence(1).upper, upper)
    assert result.confidence_sequence(1) is result.confidence_sequence(1)
    assert result.intervals.shape == (K, 2)
    assert result.intervals[1].tolist() == [lower[-1], upper[-1]]
    assert (np.diff(result.intervals) >= 0).all()


def test_range_of_differences_gives_no_intervals():
    result = pb.best_of(SCORES, value_range=1.0, rng=1)
    assert result.to_dict()["intervals"] is None
    with pytest.raises(ValueError, match=r"value_range must be \(low, high\).*differences 1.0"):
        _ = result.intervals
    result.plot() if _has_matplotlib() else None
    with pytest.raises(ValueError, match="differ by at most value_range = 0.1"):
        pb.best_of(SCORES, value_range=0.1, rng=1)


def _has_matplotlib():
    return bool(pytest.importorskip("matplotlib"))


def test_result_is_json_pickles_and_is_immutable():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(SCORES, columns=pandas.RangeIndex(10, 10 + K))
    result = pb.best_of(frame, value_range=(0, 1), rng=1)
    known = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert known["best"] == result.best and known["best_name"] == str(10 + result.best)
    assert known["value_range"] == [0.0, 1.0] and len(known["intervals"]) == K
    for other in (pickle.loads(pickle.dumps(result)), copy.deepcopy(result)):
        assert other.to_dict() == result.to_dict()
        np.testing.assert_array_equal(other.rewards(3), result.rewards(3))
    assert len(repr(result)) < 120 and str(result).startswith("10 is best")
    with pytest.raises(AttributeError):
        result.delta = 0.0


# -- invalid arguments --------------------------------------------------------


@pytest.mark.parametrize("arguments, options, words", [
    ((lambda m, i: i, None, 9), {}, ["models", "None"]),
    ((lambda m, i: i, 9), {}, ["items", "None"]),
    ((lambda m, i: i, 1, 9), {}, ["models", "2", "1"]),
    ((lambda m, i: i, 2, 0), {}, ["items", "1", "0"]),
    ((SCORES, 3), {}, ["models", "8", "3"]),
    ((SCORES, None, 3), {}, ["items", "400", "3"]),
    ((SCORES[:, :1],), {}, ["scores", "2 models", "(400, 1)"]),
    ((SCORES[:0],), {}, ["scores", "1 item", "(0, 8)"]),
    ((SCORES[0],), {}, ["scores", "(8,)"]),
    (([[1.0, 0.0], [1.0]],), {}, ["scores", "one length"]),
    ((SCORES,), {"k": 8}, ["k", "models, 8"]),
    ((SCORES,), {"k": 0}, ["k", "1"]),
    ((SCORES,), {"delta": 1.0}, ["delta", "1.0"]),
    ((SCORES,), {"value_range": (1, 0)}, ["value_range", "(1, 0)"]),
    ((SCORES,), {"epsilon": -1}, ["epsilon", "-1"]),
    ((SCORES,), {"max_pulls": 7}, ["max_pulls", "8", "7"]),
    ((SCORES,), {"progress": "yes"}, ["progress", "yes"]),
])
def test_invalid_arguments_are_refused(arguments, options, words):
    with pytest.raises(ValueError) as caught:
        pb.best_of(*arguments, **{"value_range": (0, 1), **options})
    for word in words:
        assert word in str(caught.value)


def test_value_range_defaults_for_tables_in_memory(tmp_path):
    """The default is (0, 1) for bools and cells in [0, 1]; other tables raise, with a reason."""
    given = pb.best_of(SCORES, value_range=(0, 1), rng=1)
    assert pb.best_of(SCORES, rng=1).to_dict() == given.to_dict()
    bools = SCORES > 0.5
    assert pb.best_of(bools, rng=1).value_range == (0.0, 1.0)
    world = pb.Items(population_size=math.inf)
    assert pb.best_of(bools, items=world, rng=1).population_size == math.inf
    such = r"\(low, high\), the limits of all values a score can take, such as \(0, 1\)"
    with pytest.raises(ValueError, match=f"value_range must be given for a function: {such}"):
        pb.best_of(lambda model, items: SCORES[items, model], K, N)
    np.save(tmp_path / "scores.npy", SCORES)
    with pytest.raises(ValueError, match="value_range must be given for a file: "):
        pb.best_of(tmp_path / "scores.npy")
    with pytest.raises(ValueError, match="value_range must be given with a population_size"):
        pb.best_of(SCORES, items=world)
    with pytest.raises(ValueError, match="value_range must be given for scores that are not"):
        pb.best_of(np.load(tmp_path / "scores.npy", mmap_mode="r"))
    for cell in (4000.0, -0.5):
        scores = SCORES.copy()
        scores[3, 5] = cell
        with pytest.raises(ValueError, match=f"value_range must be .*; got {cell} for model 5, "
                                             "item 3"):
            pb.best_of(scores)
    scores[3, 5] = np.nan
    with pytest.raises(ValueError, match="scores must be finite; got nan for model 5, item 3"):
        pb.best_of(scores)


@pytest.mark.parametrize("bad, words", [
    (np.nan, ["finite", "nan", "beforehand"]), (np.inf, ["finite", "inf"]),
    (1.5, ["value_range = (0.0, 1.0)", "1.5"]), (-0.1, ["value_range = (0.0, 1.0)", "-0.1"])])
def test_bad_score_error_names_item_and_model(bad, words):
    scores = SCORES.copy()
    item = pb.best_of(SCORES, value_range=(0, 1), rng=0).items[7]
    scores[item, 2] = bad

    def score(model, items):
        return scores[items, model]

    for source in (scores, score):
        with pytest.raises(ValueError) as caught:
            pb.best_of(source, K, N, value_range=(0, 1), rng=0)
        for word in [*words, f"item {item}", "model 2"]:
            assert word in str(caught.value)
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(scores, [f"q{i}" for i in range(N)], [f"m{i}" for i in range(K)])
    with pytest.raises(ValueError) as caught:
        pb.best_of(frame, value_range=(0, 1), rng=0)
    for word in [*words, f"'q{item}' (row {item})", "'m2' (column 2)"]:
        assert word in str(caught.value)


def test_unread_lost_score_is_ignored():
    plain = pb.best_of(SCORES, value_range=(0, 1), rng=0)
    scores = SCORES.copy()
    scores[np.setdiff1d(np.arange(N), plain.items)[0], 2] = np.nan
    assert_same(plain, pb.best_of(scores, value_range=(0, 1), rng=0))


@pytest.mark.parametrize("table", [
    [[0.5, "0.5"], [0.5, 0.5]], np.array([["a", "b"]]), np.array([[0.1, {}]], dtype=object),
    np.array([[1j, 0.5]])])
def test_non_numeric_table_is_refused(table):
    with pytest.raises(TypeError, match="scores must hold real numbers; got .* for item 0 of mod"):
        pb.best_of(table, value_range=(0, 1))


def test_huge_integer_error_names_cell():
    with pytest.raises(ValueError, match="scores must be finite .* for item 1 of model 0"):
        pb.best_of([[0.5, 0.5], [10**400, 0.1]], value_range=(0, 1))


@pytest.mark.parametrize("name", ["max_pulls"])
def test_zero_with_budget_is_refused(name):
    with pytest.raises(ValueError, match=f"{name} must be left out with a budget; got 0"):
        pb.best_of(SCORES, **grouped(value_range=(0, 1), budget=60, **{name: 0}))


def test_text_in_frame_error_names_cell():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [0.5, 0.6], "b": ["0.5", 0.1]}, index=["x", "y"])
    with pytest.raises(ValueError, match=r"item 'x' \(row 0\), column 'b': '0.5' is not a number"):
        pb.best_of(frame, value_range=(0, 1))
    frame = pandas.DataFrame({"a": [0.5, 0.6], "b": pandas.array([1, None], dtype="Int64")})
    with pytest.raises(ValueError, match=r"nan for item 1 of model 'b'"):
        pb.best_of(frame, value_range=(0, 1))


@pytest.mark.parametrize("returned, error, words", [
    (np.zeros(3), ValueError, ["shape (4,)", "shape (3,)"]),
    (0.5, ValueError, ["shape (4,)", "shape ()"]),
    (np.zeros((4, 1)), ValueError, ["shape (4,)", "shape (4, 1)"]),
    (["a"] * 4, TypeError, ["real numbers"]), (None, TypeError, ["real numbers"])])
def test_invalid_return_values_are_refused(returned, error, words):
    with pytest.raises(error) as caught:
        pb.best_of(lambda model, items: returned, 2, 100, value_range=(0, 1))
    for word in ["score(0, items)", *words]:
        assert word in str(caught.value)


def test_exception_in_score_is_raised_again():
    error = KeyError("no such model")

    def score(model, items):
        raise error

    for progress in (False, True):
        if progress:
            pytest.importorskip("tqdm")
        with pytest.raises(KeyError) as caught:
            pb.best_of(score, 2, 100, value_range=(0, 1), progress=progress)
        assert caught.value is error


@pytest.mark.parametrize("model, error", [(8, ValueError), (-1, ValueError), ("a", TypeError)])
def test_unknown_model_number_is_refused(model, error):
    with pytest.raises(error, match="model must"):
        pb.best_of(SCORES, value_range=(0, 1), rng=0).rewards(model)


# -- progress and plot ---------------------------------------------------


def test_progress_bar_counts_scores(capsys):
    pytest.importorskip("tqdm")
    result = pb.best_of(SCORES, value_range=(0, 1), rng=0, progress=True)
    shown = capsys.readouterr().err
    assert f"{result.n_pulls}/{N * K}" in shown and "1 left" in shown
    pb.best_of(SCORES, value_range=(0, 1), rng=0, progress=True, max_pulls=100, k=2)
    assert "/100" in capsys.readouterr().err
    for progress in (None, False):
        pb.best_of(SCORES, value_range=(0, 1), rng=0, progress=progress)
        assert capsys.readouterr().err == ""


def test_progress_without_tqdm_is_refused(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "tqdm", None)
    with pytest.raises(ImportError, match=r"pip install 'pybandit-core\[progress\]'"):
        pb.best_of(SCORES, value_range=(0, 1), progress=True)


@pytest.mark.parametrize("options", [{}, {"k": 3}, {"max_pulls": 100},
                                     {"max_pulls": 8}, {"budget": 100}])
def test_plot_shows_all_models(options, tmp_path):
    figures = pytest.importorskip("matplotlib.figure")
    result = pb.best_of(SCORES, **grouped(value_range=(0, 1), rng=0, **options))
    axis = result.plot()
    axis.figure.savefig(tmp_path / "race.png")
    assert (tmp_path / "race.png").read_bytes().startswith(b"\x89PNG")
    assert f"{100 * result.fraction_read:.2g} %" in axis.get_title(loc="left")
    assert {text.get_text() for text in axis.texts} == {result.name(m) for m in range(K)}
    dots = [line for line in axis.lines if line.get_marker() == "o"]
    assert len(dots) == K - result.survivors.size
    own = figures.Figure().subplots()
    assert result.plot(own) is own


def test_plot_with_negative_sign_restores_scores():
    figures = pytest.importorskip("matplotlib.figure")
    from pybandit.evaluation._figure import elimination_axes

    result = pb.best_of(-SCORES, value_range=(-1, 0), rng=0)
    axis = elimination_axes(result, figures.Figure().subplots(), sign=-1)
    lines = {line.get_label(): line for line in axis.lines if len(line.get_xdata()) > 1}
    for model in range(K):
        line, scores = lines[result.name(model)], -result.rewards(model)
        for read, mean in zip(line.get_xdata(), line.get_ydata(), strict=True):
            assert mean == pytest.approx(scores[:read].mean())
        assert line.get_xdata()[-1] == result.pulls[model]


# -- guarantees -----------------------------------------------------------------


def test_guarantee_states_only_what_holds():
    """An exact result is certain only about the items read and the remaining models."""
    same = pb.best_of(np.ones((40, 3)), value_range=(0, 1), rng=1)
    assert same.exact and same.fraction_read == 1.0
    assert "for these 40 items" in same.guarantee() and "model 1 and 1 more" in same.guarantee()
    part = np.ones((200, 3)) * [0.1, 0.9, 0.9]
    part = pb.best_of(part, value_range=(0, 1), rng=1, delta=0.02)
    assert part.exact and part.fraction_read < 1.0
    for words in ("The 2 remaining models were read on all 200 items", "totals decided", "model 2",
                  "eliminated before may be better, with probability at most 0.02"):
        assert words in part.guarantee()
    for result in (same, part, pb.best_of(SCORES, value_range=(0, 1), rng=1)):
        for said in (result.guarantee(), str(result), repr(result), json.dumps(result.to_dict())):
            assert "certain" not in said
        assert result.to_dict()["guarantee"] == result.guarantee()


# -- tables and masks -----------------------------------------------------------------


class Arrow:
    """A table like those of pyarrow: names and columns, without to_numpy."""

    def __init__(self, values, names):
        self.column_names, self._values = list(names), values
        self.columns = [self.column(place) for place in range(len(names))]

    def column(self, place):
        return list(self._values[:, place])


class Interchanged:
    """A frame that offers only the interchange protocol."""

    def __init__(self, values, names):
        self._values, self._names = values, names

    def __array__(self, dtype=None, copy=None):
        return np.array(self._values, dtype=dtype)

    def __dataframe__(self):
        return self

    def column_names(self):
        return list(self._names)


@pytest.mark.parametrize("make", [Arrow, Interchanged])
def test_tables_keep_model_names(make):
    names = [f"model {chr(97 + i)}" for i in range(K)]
    result = pb.best_of(make(SCORES, names), value_range=(0, 1), rng=5)
    assert_same(result, pb.best_of(SCORES, value_range=(0, 1), rng=5))
    assert result.names == tuple(names) and result.best_name == "model a"
    lost = SCORES.copy()
    lost[:, 2] = np.nan
    with pytest.raises(ValueError, match=r"got nan .* of model 'model c' \(column 2\)"):
        pb.best_of(make(lost, names), value_range=(0, 1), rng=5)


def test_masked_scores_are_lost():
    """Masked numbers are never used: like NaN, they raise an error when they are read."""
    mask = np.zeros(SCORES.shape, dtype=bool)
    mask[7, 3] = True
    scores = np.ma.array(np.where(mask, 0.99, SCORES), mask=mask)
    with pytest.raises(ValueError, match="finite; got nan for item 7 of model 3; an item"):
        pb.best_of(scores, value_range=(0, 1), rng=1, delta=1e-200)
    unmasked = np.ma.array(SCORES, mask=np.zeros_like(mask))
    assert_same(pb.best_of(unmasked, value_range=(0, 1), rng=1),
                pb.best_of(SCORES, value_range=(0, 1), rng=1))
    with pytest.raises(ValueError, match=r"score\(0, items\) must not be masked; got a mask at"):
        pb.best_of(lambda model, items: np.ma.masked_less(SCORES[items, model], 0.9), K, N,
                   value_range=(0, 1), rng=1)


@pytest.mark.parametrize("options, error, word", [
    ({"models": np.array([K, K])}, TypeError, "models"),
    ({"models": K + 1}, ValueError, "models"),
    ({"epsilon": [0.1, 0.2]}, ValueError, "epsilon"),
    ({"delta": [0.1, 0.2]}, (ValueError, TypeError), "delta"),
    ({"value_range": np.ma.array([0.0, 1.0], mask=[0, 1])}, ValueError, "value_range"),
])
def test_errors_name_argument(options, error, word):
    with pytest.raises(error, match=word):
        pb.best_of(SCORES, **grouped(**{"value_range": (0, 1), **options}))
