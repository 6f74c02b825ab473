"""BestOfResult in words, in a frame and in a notebook."""

import numpy as np
import pytest

import pybandit as pb

from evaluation.grouped import grouped
from evaluation.test_best_of import SCORES, K, N

UNIT = dict(value_range=(0, 1), rng=1)
NAMED = [f"<m{i}>" for i in range(K)]


def frame_of(scores=SCORES):
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame(scores, columns=NAMED[:scores.shape[1]])


def test_summary_is_one_sentence():
    result = pb.best_of(frame_of(), **UNIT)
    assert result.summary() == (
        f"<m0> is best of 8 models on these 400 items (error at most 5 %), after "
        f"{result.n_pulls:,} of 3,200 scores ({100 * result.fraction_read:.2g} %).")
    lines = str(result).splitlines()
    assert lines[0] == result.summary() and lines[1] == "" and len(lines) == 11
    assert lines[2].split() == ["model", "status", "mean", "items_read", "behind"]
    assert lines[3].startswith("<m0>") and str(result).count("5 %") == 1
    assert repr(result) == (f"<BestOfResult: model '<m0>' of 8, error at most 5 %, "
                            f"{result.n_pulls:,} of 3,200 scores>")
    many = pb.best_of(np.repeat(SCORES, 3, axis=1), **UNIT)
    lines = str(many).splitlines()
    assert len(lines) == 12 and lines[-1] == "and 16 more: to_frame() has all"
    assert (many.names[3], many.best_name, many.name(3)) == ("3", str(many.best), "model 3")
    assert result.to_dict()["summary"] == result.summary()


@pytest.mark.parametrize("options, words", [
    ({"k": 3}, ["<m0>, <m1> and <m2> are the 3 best of 8", "at most 5 %"]),
    ({"epsilon": 0.2}, ["best to within 0.2 of 8 models"]),
    ({"max_pulls": 40}, ["Undecided which is best of 8", "leads, 8 are left"]),
    ({"max_pulls": 40, "k": 2}, ["Undecided which are the 2 best", " lead, "]),
    ({"budget": 40}, ["is guessed to be best of 8", "error about", "an estimate"])])
def test_summary_of_other_results(options, words):
    said = pb.best_of(frame_of(), **grouped(**UNIT, **options)).summary()
    for word in words:
        assert word in said


@pytest.mark.parametrize("options", [{}, {"budget": 3 * N}])
def test_identical_models_are_tied(options):
    same = np.repeat(SCORES[:, :1], 3, axis=1)
    result = pb.best_of(frame_of(same), **grouped(**UNIT, **options))
    others = [model for model in range(3) if model != result.best]
    assert result.exact and result.tied.tolist() == others
    assert (f"{NAMED[result.best]} is tied with {NAMED[others[0]]}, {NAMED[others[1]]} for best "
            "of 3 models") in result.summary()
    assert "(all was read)" in result.summary() and "Of the same mean" in result.guarantee()
    assert ("at random" in result.guarantee()) == ("budget" in options)
    many = pb.best_of(np.repeat(SCORES[:, :1], 6, axis=1), **UNIT)
    assert "model 1, model 2, model 3 and 2 more" in many.summary()
    two = pb.best_of(np.repeat(SCORES[:, :1], 3, axis=1), k=2, **UNIT)
    assert two.tied.tolist() == [2] and "are tied with model 2 for 2 best" in two.summary()


def test_ties_need_all_items_read():
    result = pb.best_of(SCORES, **UNIT)
    assert not result.exact and result.tied.size == 0 and result.tied.dtype == np.int64


@pytest.mark.parametrize("options", [{}, {"k": 2}, {"budget": 300}, {"max_pulls": 200}])
def test_frame_has_one_row_per_model(options):
    result = pb.best_of(frame_of(), **grouped(**UNIT, **options))
    frame = result.to_frame()
    assert sorted(frame.index) == NAMED and frame.index.name == "model"
    assert frame.index[:len(result.best_arms)].tolist() == [NAMED[model]
                                                            for model in result.best_arms]
    assert set(frame["status"][:len(result.best_arms)]) == {"best" if result.decided else "leads"}
    counts = frame["status"].value_counts()
    assert counts.get("dropped", 0) == result.dropped.size
    for model in range(K):
        row, n = frame.loc[NAMED[model]], result.pulls[model]
        assert row["mean"] == result.means[model] and row["items_read"] == n
        first = result.rewards(result.best)
        n = min(n, first.size)
        assert row["behind"] == pytest.approx(np.mean(first[:n] - result.rewards(model)[:n]))
        assert row["lower"] == result.intervals[model, 0]
    assert frame["behind"].iloc[0] == 0.0
    differences = pb.best_of(SCORES, value_range=1.0, rng=1).to_frame()
    assert "lower" not in differences and differences.index.tolist()[0] == "0"


def test_frame_without_pandas_is_refused(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(ImportError, match=r"pip install 'pybandit-core\[pandas\]'"):
        pb.best_of(SCORES, **UNIT).to_frame()


def test_notebook_html_has_a_table():
    shown = pb.best_of(frame_of(), **UNIT)._repr_html_()
    assert "&lt;m0&gt; is best of 8" in shown and "<m0>" not in shown
    assert shown.count("<tr>") == 1 + K and "more" not in shown
    wide = pb.best_of(np.random.default_rng(0).random((50, 30)), **UNIT)._repr_html_()
    assert wide.count("<tr>") == 21 and "and 10 more" in wide
