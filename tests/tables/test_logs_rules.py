"""Rules that all readers of log files share: lost scores, choices, items, epochs, direction."""

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pybandit as pb
from pybandit.errors import UnreadableFileError

from tables.logs import (
    DATA,
    ONE,
    cells_of,
    inspect_log,
    lm_eval,
    promptfoo,
    refused,
    results,
    table_of,
    write_json,
    write_lines,
)

# -- lost scores -------------------------------------------------------------------


def test_failures_are_refused_with_counts_by_model():
    paths = sorted((DATA / "inspect").glob("sums_*.json"))
    with pytest.raises(UnreadableFileError) as caught:
        pb.evaluation.read_scores(paths, metric="exact")
    for word in ("mockllm/beta 2 (2 failed, 0 missing)", "failed=0", "--missing drop"):
        assert word in str(caught.value)
    with pytest.raises(UnreadableFileError, match=r"1 failed, 1 missing"):
        pb.best_of(DATA / "promptfoo", value_range=(0, 1))


def test_missing_items_are_not_failures():
    with pytest.raises(UnreadableFileError) as caught:
        pb.best_of(DATA / "mteb", value_range=(0, 1))
    assert "(0 failed, 1 missing)" in str(caught.value)
    assert "failed=0" not in str(caught.value)
    with pytest.raises(UnreadableFileError, match="0 failed, 1 missing"):
        pb.evaluation.read_scores(DATA / "mteb", failed=0.0)


def test_failed_is_the_score_of_failures_before_epochs_are_averaged():
    paths = sorted((DATA / "inspect").glob("sums_*.json"))
    with pytest.warns(UserWarning, match="failures were given the score failed=0.5; number by "
                                         "model: mockllm/beta 3"):
        filled = table_of(*paths, metric="exact", failed=0.5)
    found = cells_of(filled)
    assert found["mockllm/beta", "q07"] == 0.5
    assert found["mockllm/beta", "q11"] == 0.25  # one epoch is 0, the other failed
    assert not np.isnan(filled.values).any()
    with pytest.warns(UserWarning):
        result = pb.best_of(pb.evaluation.read_scores(paths, metric="exact", failed=0),
                            value_range=(0, 1), rng=1)
    assert result.n_items == 20 and result.best_name == "mockllm/alpha"


def test_skip_leaves_items_out_for_all_models():
    with pytest.warns(UserWarning, match=r"left out, by model: mockllm/beta 2 \(2 failed"):
        table = table_of(*sorted((DATA / "inspect").glob("sums_*.json")), metric="exact",
                         failed="skip")
    assert len(table.index) == 18 and not {"q07", "q11"} & set(table.index)


def test_skip_refuses_tables_without_whole_items(tmp_path):
    lm_eval(tmp_path, "a", {0: 1.0})
    lm_eval(tmp_path, "b", {1: 1.0})
    with pytest.warns(UserWarning):
        refused(tmp_path, words=["none is left"], failed="skip")


def test_zeros_of_failures_are_not_scores(tmp_path):
    """promptfoo, DSPy and SWE-bench give failures the score 0."""
    promptfoo(tmp_path, {("a", "p", 0): "error", ("b", "p", 0): 0.0, ("a", "p", 1): 1.0,
                         ("b", "p", 1): 1.0})
    table = table_of(tmp_path)
    assert math.isnan(cells_of(table)["a", "0"]) and cells_of(table)["b", "0"] == 0


@pytest.mark.parametrize("failed", ["drop", math.nan, math.inf, [1, 2], "0"])
def test_failed_must_be_a_number_or_skip(failed):
    with pytest.raises((ValueError, TypeError), match="failed must"):
        pb.evaluation.read_scores(DATA / "openai-evals", failed=failed)


# -- choices ------------------------------------------------------------------------


def test_several_metrics_are_refused_with_their_names(tmp_path):
    for name in "ab":
        lm_eval(tmp_path, name, {0: {"acc": 1, "acc_norm": 0}}, metrics=("acc", "acc_norm"))
    refused(tmp_path, words=["'acc', 'acc_norm'", "metric= or --metric"])
    refused(tmp_path, words=["'acc', 'acc_norm'", "got 'f1'"], metric="f1")
    refused(tmp_path, words=["several of them"], metric=["acc", "acc_norm"])
    assert table_of(tmp_path, metric="acc_norm").values.tolist() == [[0, 0]]


def test_tasks_may_have_different_metrics_and_labels_name_the_task(tmp_path):
    for name in "ab":
        lm_eval(tmp_path, name, ONE, task="sums")
        lm_eval(tmp_path, name, ONE, task="parity", metrics=("f1",))
    table = table_of(tmp_path)
    assert sorted(table.index) == ["parity/0", "parity/1", "sums/0", "sums/1"]
    refused(tmp_path, words=["task 'parity'", "'f1'"], metric="acc")
    assert table_of(tmp_path, metric=["acc", "f1"]).index == table.index
    refused(tmp_path, words=["metric must name", "'exact'"], metric=["acc", "f1", "exact"])


def test_models_must_have_the_same_metric_on_a_task(tmp_path):
    lm_eval(tmp_path, "a", ONE)
    lm_eval(tmp_path, "b", ONE, metrics=("f1",))
    refused(tmp_path, words=["'acc'", "'f1'", "must have one metric"])
    refused(tmp_path, words=["'acc'", "'f1'"], metric=["acc", "f1"])


def test_prompts_of_one_provider_are_chosen_or_raced(tmp_path):
    scores = {(model, prompt, test): score for model in "ab" for prompt, score in
              (("terse", 1.0), ("long", 0.0)) for test in range(3)}
    promptfoo(tmp_path, scores)
    refused(tmp_path, words=["'terse', 'long'", "--filter", "filter='*'"])
    assert table_of(tmp_path, filter="long").values.tolist() == [[0, 0]] * 3
    assert table_of(tmp_path, filter="*").columns == ["a, terse", "a, long", "b, terse", "b, long"]


def test_filters_are_refused_for_tools_without_them():
    refused(DATA / "openai-evals", words=["filter must be left out for logs of OpenAI evals"],
            filter="none")


@pytest.mark.parametrize("option", ["metric", "filter"])
def test_options_of_logs_are_refused_elsewhere(option, tmp_path):
    (tmp_path / "s.csv").write_text("item,a,b\nq1,1,0\n")
    for scores in (tmp_path / "s.csv", np.eye(2), [[1, 0], [0, 1]]):
        with pytest.raises(ValueError, match=f"{option} must be left out unless scores are log"):
            pb.evaluation.read_scores(scores, **{option: "acc"})
    with pytest.raises(TypeError, match="source must be a path, a list of paths or a table"):
        pb.evaluation.read_scores(lambda model, items: items * 0.0, **{option: "acc"})
    with pytest.raises(TypeError, match=f"{option} must be a name"):
        pb.evaluation.read_scores(DATA / "openai-evals", **{option: 3})
    with pytest.raises(ValueError, match="failed must be left out unless source is log files"):
        pb.evaluation.read_scores(tmp_path / "s.csv", failed=0.0)


@pytest.mark.parametrize("option, value", [("columns", ["a"]), ("models", "rows"), ("items", "x")])
def test_options_of_tables_are_refused_for_logs(option, value):
    with pytest.raises(ValueError, match=f"{option} must be left out for log files"):
        pb.evaluation.read_scores(DATA / "openai-evals", **{option: value})


# -- items ----------------------------------------------------------------------------


def test_an_id_of_another_item_is_refused(tmp_path):
    lm_eval(tmp_path, "a", ONE)
    lm_eval(tmp_path, "b", ONE, doc_hash="other")
    refused(tmp_path, words=["item '0'", "doc_hash or target_hash differs", "different items",
                             str(tmp_path / "a"), str(tmp_path / "b")])


def test_ids_are_text(tmp_path):
    inspect_log(tmp_path, "a", {(1, 1): "C", ("07", 1): "I", (7, 1): "C"})
    inspect_log(tmp_path, "b", {("1", 1): "I", ("07", 1): "C", ("7", 1): "C"})
    table = table_of(tmp_path)
    assert table.index == ["1", "07", "7"] and table.values.tolist() == [[1, 0], [0, 1], [1, 1]]


def test_a_model_has_one_score_for_an_item(tmp_path):
    lm_eval(tmp_path / "run1", "a", ONE)
    lm_eval(tmp_path / "run2", "a", ONE)
    lm_eval(tmp_path, "b", ONE)
    refused(tmp_path, words=["model 'a' has a second score on item '0'", "run1", "run2", "line 1"])


def test_one_model_is_not_enough(tmp_path):
    refused(lm_eval(tmp_path, "a", ONE), words=["at least 2 models", "'a'", "other models"])


# -- epochs ------------------------------------------------------------------------------


def test_epochs_must_be_those_of_all_models(tmp_path):
    inspect_log(tmp_path, "a", {("q", 1): "C", ("q", 2): "I"})
    path = inspect_log(tmp_path, "b", {("q", 1): "C"})
    refused(tmp_path, words=["'b'", "epochs"])
    path.unlink()
    inspect_log(tmp_path, "b", {("q", 1): "C"}, config={"epochs": 2},
                dataset={"sample_ids": ["q"]})
    inspect_log(tmp_path, "a", {("q", 1): "C", ("q", 2): "I"})
    assert table_of(tmp_path).lost == {"b": (0, 1)}


# -- direction and range --------------------------------------------------------------------


def with_direction(folder, **higher):
    for name in "ab":
        lm_eval(folder, name, {0: 0.25, 1: 0.5 if name == "a" else 0.125}, metrics=("err",))
        if name in higher:
            results(folder, name, higher_is_better={"sums": {"err": higher[name]}})


def test_lower_is_better_turns_the_sign(tmp_path):
    with_direction(tmp_path, a=False, b=False)
    with pytest.warns(UserWarning, match="lower scores are better"):
        result = pb.best_of(tmp_path, value_range=(-1, 0), rng=1)
    assert result.best_name == "b"
    with pytest.warns(UserWarning), pytest.raises(ValueError, match="value_range"):
        pb.best_of(tmp_path, value_range=(0, 1), rng=1)


def test_directions_that_differ_are_refused(tmp_path):
    with_direction(tmp_path, a=False, b=True)
    refused(tmp_path, words=["the lower score is better", "the higher score is better"])


# -- files ------------------------------------------------------------------------------------


def test_unknown_files_are_refused_with_what_was_looked_for(tmp_path):
    lm_eval(tmp_path, "a", ONE)
    lm_eval(tmp_path, "b", ONE)
    (tmp_path / "notes.txt").write_text("not read")
    assert table_of(tmp_path).values.shape == (2, 2)
    path = write_json(tmp_path / "other.json", {"accuracy": 0.5})
    refused(tmp_path, words=[str(path), "recognised by its content", "Inspect", "doc_id"])
    refused(tmp_path / "notes.txt", tmp_path / "a", words=["notes.txt", "whose name ends in"])


def test_objects_of_json_are_not_tables(tmp_path):
    path = tmp_path / "o.json"
    path.write_text(json.dumps({"results": {"outputs": [{"score": 1}]}}, indent=1))
    with pytest.raises(UnreadableFileError,
                       match="o.json: must be a log of an evaluation tool, recognised"):
        pb.best_of(path, value_range=(0, 1))


def test_logs_of_two_tools_are_refused(tmp_path):
    lm_eval(tmp_path, "a", ONE)
    inspect_log(tmp_path / "b", "b", {("q", 1): "C"})
    refused(tmp_path, words=["a log of lm-evaluation-harness", "it is one of Inspect"])


def test_folders_without_logs_are_refused(tmp_path):
    refused(tmp_path, words=[str(tmp_path), "log files of evaluation tools", ".eval"])
    (tmp_path / "scores.csv").write_text("item,a,b\nq,1,0\n")
    with pytest.raises(UnreadableFileError, match="it has none"):
        pb.best_of(tmp_path, value_range=(0, 1))


def test_tables_of_json_are_still_tables(tmp_path):
    path = write_lines(tmp_path / "s.jsonl", [{"item": "q1", "a": 1, "b": 0}])
    assert pb.best_of(path, value_range=(0, 1), rng=1).names == ("a", "b")
    path = write_json(tmp_path / "s.json", [{"item": "q1", "a": 1, "b": 0}])
    assert pb.best_of(path, value_range=(0, 1), rng=1).names == ("a", "b")


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_tables_do_not_depend_on_the_order_of_lines_and_files(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("logs")
    n_items, models = data.draw(st.integers(1, 6)), ["a", "b", "c"][:data.draw(st.integers(2, 3))]
    scores = {(model, str(item)): data.draw(st.floats(0, 1) | st.none())
              for model in models for item in range(n_items)}
    for model in data.draw(st.permutations(models)):
        items = data.draw(st.permutations(range(n_items)))
        lm_eval(folder, model, {item: scores[model, str(item)] for item in items})
    table = table_of(*data.draw(st.permutations([folder / model for model in models])))
    found = cells_of(table)
    assert set(found) == set(scores)
    for key, score in scores.items():
        assert math.isnan(found[key]) if score is None else found[key] == score
    lost = {model: (sum(scores[model, str(item)] is None for item in range(n_items)), 0)
            for model in models}
    assert table.lost == {model: counts for model, counts in lost.items() if counts[0]}
