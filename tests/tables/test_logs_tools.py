"""Rules for the log files of single evaluation tools."""

import json
import math
import shutil

import pytest

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


def changed(source, path, change):
    """Write JSON of tests/tables/data/logs after a function has changed it."""
    value = json.loads((DATA / source).read_text())
    value = change(value) or value
    return write_json(path, value)


# -- lm-evaluation-harness ------------------------------------------------------------


def test_lm_eval_results_files_are_refused_with_what_to_pass():
    paths = sorted(DATA.glob("lm-eval/*/results_*.json"))
    assert len(paths) == 2
    for scores in (paths, paths[0]):
        with pytest.raises(UnreadableFileError,
                           match=r"has means only: pass the files samples_\*.jsonl"):
            pb.best_of(scores, value_range=(0, 1))


def test_lm_eval_names_models_by_the_results_file_of_the_same_time(tmp_path):
    for name in "ab":
        lm_eval(tmp_path, name, ONE)
        results(tmp_path, name, model_name_sanitized=f"org__{name}")
    assert table_of(tmp_path).columns == ["org__a", "org__b"]


def test_lm_eval_files_that_were_renamed_are_models(tmp_path):
    for name in "ab":
        shutil.move(lm_eval(tmp_path, name, ONE), tmp_path / f"{name}.jsonl")
    table = table_of(tmp_path / "a.jsonl", tmp_path / "b.jsonl")
    assert table.columns == ["a", "b"] and table.values.tolist() == [[1, 1], [0, 0]]


def test_lm_eval_versions_that_do_not_list_metrics(tmp_path):
    for name in "ab":
        row = {"doc_id": 0, "doc": {"q": 1}, "target": "x", "arguments": [], "resps": [],
               "filtered_resps": [], "acc": 1.0}
        write_lines(tmp_path / f"{name}.jsonl", [row])
    assert table_of(tmp_path).values.tolist() == [[1, 1]]


@pytest.mark.parametrize("metric, words", [
    ("word_perplexity", ["a list", "[-1.0, 4]", "no score per item", "line 1"]),
    ("bits_per_byte", ["a list"])])
def test_lm_eval_metrics_of_pairs_are_refused(metric, words):
    (path,) = DATA.glob("lm-eval/more/samples_rolling*")
    refused(path, words=[*words, metric], metric=metric)


def test_lm_eval_metrics_of_texts_are_refused():
    (path,) = DATA.glob("lm-eval/more/samples_repeats*")
    refused(path, words=["'bleu'", "a list"], metric="bleu", filter="first")


def test_lm_eval_metrics_that_are_not_means_are_refused(tmp_path):
    """Values of perplexity are log likelihoods, of which the highest is best."""
    lm_eval(tmp_path, "a", {0: -1.5}, metrics=("perplexity",))
    refused(tmp_path, words=["'perplexity'", "must be the mean of its values"])
    lm_eval(tmp_path, "a", {0: 1}, metrics=("mcc",))
    results(tmp_path, "a", configs={"sums": {"metric_list": [
        {"metric": "mcc", "aggregation": "matthews_corrcoef"}]}})
    refused(tmp_path, words=["'mcc'", "its aggregation is 'matthews_corrcoef'"])


def test_lm_eval_directions_of_known_metrics(tmp_path):
    for name in "ab":
        lm_eval(tmp_path, name, {0: 0.5}, metrics=("wer",))
    assert table_of(tmp_path).lower_is_better
    for name in "ab":
        results(tmp_path, name, higher_is_better={"sums": {"wer": True}})
    assert not table_of(tmp_path).lower_is_better


def test_lm_eval_scores_that_are_null_or_nan_are_lost(tmp_path):
    lm_eval(tmp_path, "a", {0: None, 1: math.nan})
    lm_eval(tmp_path, "b", ONE)
    assert table_of(tmp_path).lost == {"a": (2, 0)}


# -- Inspect -------------------------------------------------------------------------------


def test_inspect_logs_that_stopped_early_are_refused():
    paths = sorted((DATA / "inspect").glob("early_*.json"))
    refused(*paths, words=["stopped early", "biased"], failed=0)
    with pytest.raises(UnreadableFileError, match="stopped early"):
        pb.evaluation.read_scores(paths, failed="skip", metric="exact")


def test_inspect_archives_that_stopped_early_are_refused(tmp_path):
    for name in "ab":
        path = inspect_log(tmp_path, name, {("q", 1): "C"}, dataset={"sample_ids": ["q", "r"]})
        value = json.loads(path.read_text())
        write_json(path, value | {"results": {"early_stopping": {"early_stops": []}}})
    refused(tmp_path, words=["stopped early"])


def test_inspect_letters_and_words_become_scores(tmp_path):
    values = ["C", "I", "P", "N", True, False, 1, 0.25, "yes", "No", "0.75"]
    for name in "ab":
        inspect_log(tmp_path, name, {(f"q{at:02}", 1): {"s": value}
                                     for at, value in enumerate(values)})
    assert table_of(tmp_path).values[:, 0].tolist() == [1, 0, 0.5, 0, 1, 0, 1, 0.25, 1, 0, 0.75]


@pytest.mark.parametrize("value, words", [
    ("good", ["text, 'good'"]), ([1, 0], ["a list"]), ({"a": 1}, ["an object"]),
    ("c", ["text"]), ("", ["text"])])
def test_inspect_values_that_are_not_numbers_are_refused(tmp_path, value, words):
    inspect_log(tmp_path, "a", {("q", 1): {"judge": value}})
    refused(tmp_path, words=["'judge'", "sample 'q'", "no score per item", *words])


def test_inspect_samples_that_are_not_in_the_log_are_missing(tmp_path):
    for name in "ab":
        inspect_log(tmp_path, name, {("q", 1): "C"}, dataset={"sample_ids": ["q", "r"]})
    assert table_of(tmp_path).lost == {"a": (0, 1), "b": (0, 1)}


def test_inspect_errors_hide_scores(tmp_path):
    for name in "ab":
        path = inspect_log(tmp_path, name, {("q", 1): "C", ("r", 1): "C", ("s", 1): {}})
        log = json.loads(path.read_text())
        log["samples"][1]["error"] = {"message": "down"}
        write_json(path, log)
    assert table_of(tmp_path).lost == {"a": (2, 0), "b": (2, 0)}


def test_inspect_other_inputs_are_refused_and_ids_of_messages_are_not_compared(tmp_path):
    def chat(value):
        value["samples"][0]["input"] = [{"id": name, "role": "user", "content": text}]

    text = "1 + 1"
    for name in "ab":
        inspect_log(tmp_path, name, {("q", 1): "C"})
        path = tmp_path / f"{name}.json"
        value = json.loads(path.read_text())
        chat(value)
        write_json(path, value)
    assert table_of(tmp_path).values.tolist() == [[1, 1]]
    text = "2 + 2"
    chat(value)
    write_json(path, value)
    refused(tmp_path, words=["item 'q'", "input or target differs"])


def test_inspect_logs_without_samples_are_refused(tmp_path):
    log = json.loads(inspect_log(tmp_path, "a", {("q", 1): "C"}).read_text())
    write_json(tmp_path / "a.json", {name: log[name] for name in ("version", "eval")})
    refused(tmp_path / "a.json", words=["has no samples"])
    write_json(tmp_path / "a.json", log | {"invalidated": True})
    refused(tmp_path / "a.json", words=["invalidated"])


# -- promptfoo -----------------------------------------------------------------------------


def test_promptfoo_metrics_are_the_score_or_named_ones():
    path = DATA / "promptfoo" / "results.json"
    rows = {(row["provider"]["id"], str(row["testIdx"])): row
            for row in json.loads(path.read_text())["results"]["results"]}
    for metric in ("correct", "brief"):
        for (model, item), score in cells_of(table_of(path, metric=metric)).items():
            named = rows.get((model, item), {}).get("namedScores", {})
            assert score == pytest.approx(named.get(metric, math.nan), nan_ok=True)
    refused(path, words=["'score', 'success'", "'brief'"], metric="nothing")


def test_promptfoo_columns_of_one_provider_are_refused(tmp_path):
    path = promptfoo(tmp_path, {("a", "p", 0): 1.0, ("b", "p", 0): 0.0})
    value = json.loads(path.read_text())
    value["results"]["results"][1]["provider"]["id"] = "a"
    write_json(path, value)
    refused(path, words=["'a' twice", "labels"])
    for row, label in zip(value["results"]["results"], ("hot", "cold"), strict=True):
        row["provider"]["label"] = label
    assert table_of(write_json(path, value)).columns == ["hot", "cold"]


def test_promptfoo_repeated_tests_are_epochs(tmp_path):
    scores = {(model, "p", test): float(test == 2) for model in "ab" for test in range(4)}
    value = json.loads(promptfoo(tmp_path, scores).read_text())
    for row in value["results"]["results"]:  # tests 2 and 3 repeat 0 and 1
        row["vars"] = {"q": row["testIdx"] % 2}
        row["testCase"] = {"vars": row["vars"]}
    table = table_of(write_json(tmp_path / "results.json", value))
    assert table.index == ["0", "1"] and table.values.tolist() == [[0.5, 0.5], [0, 0]]


def test_promptfoo_files_of_other_tests_are_refused(tmp_path):
    promptfoo(tmp_path, {("a", "p", 0): 1.0}, "a.json")
    value = json.loads(promptfoo(tmp_path, {("b", "p", 0): 1.0}, "b.json").read_text())
    assert table_of(tmp_path).columns == ["a", "b"]
    value["results"]["results"][0]["vars"] = {"q": "other"}
    write_json(tmp_path / "b.json", value)
    refused(tmp_path, words=["vars differs", "item '0'"])


# -- the others -----------------------------------------------------------------------------


def helm(folder, change=None, spec=None):
    for name in ("alpha", "beta"):
        run = f"sums_invented,model=invented_{name}"
        changed(f"helm/{run}/per_instance_stats.json", folder / name / "per_instance_stats.json",
                change if name == "beta" and change else lambda value: None)
        changed(f"helm/{run}/run_spec.json", folder / name / "run_spec.json",
                spec if name == "beta" and spec else lambda value: None)
        write_json(folder / name / "stats.json", [])
    return folder


def test_helm_perturbed_copies_are_not_the_instances(tmp_path):
    with pytest.warns(UserWarning, match="perturbed copies 'misspelling' of instances are not"):
        table = table_of(helm(tmp_path), metric="exact_match")
    assert len(table.index) == 20
    table = table_of(tmp_path, metric="exact_match", filter="misspelling")
    assert table.index == ["id0", "id1"] and table.values.tolist() == [[0, 0], [0, 0]]
    refused(tmp_path, words=["'original', 'misspelling'"], metric="exact_match", filter="typos")


@pytest.mark.filterwarnings("ignore:.*perturbed copies")
def test_helm_lost_statistics_trials_and_scenarios(tmp_path):
    refused(helm(tmp_path / "metric"), words=["'exact_match', 'num_output_tokens'"])

    def without(value):
        del value[3]["stats"][0]

    assert table_of(helm(tmp_path / "lost", without), metric="exact_match").lost == {
        "invented/beta": (1, 0)}

    def trials(value):
        return value + [row | {"train_trial_index": 1} for row in value]

    refused(helm(tmp_path / "trials", trials), words=["epochs"], metric="exact_match")

    def other(value):
        value["scenario_spec"]["args"] = {"x": 1}

    refused(helm(tmp_path / "spec", spec=other), words=["scenario_spec", "differs"],
            metric="exact_match")
    (tmp_path / "lost" / "alpha" / "run_spec.json").unlink()
    refused(tmp_path / "lost" / "alpha" / "per_instance_stats.json", words=["run_spec.json"])


def test_mteb_revisions_must_be_equal(tmp_path):
    shutil.copytree(DATA / "mteb" / "results", tmp_path / "results")
    (path,) = tmp_path.glob("results/*beta/*/InventedBitext.json")
    value = json.loads(path.read_text())
    write_json(path, value | {"dataset_revision": "other"})
    refused(tmp_path, words=["dataset_revision differs"])


def test_swebench_instances_that_were_not_measured_are_lost(tmp_path):
    def infra(value):
        value["infra_failure_ids"] = [value["unresolved_ids"][0]]

    for name in ("alpha", "beta"):
        changed(f"swebench/invented__{name}.run1.json", tmp_path / f"{name}-4.1.run1.json",
                infra if name == "alpha" else lambda value: None)
    table = table_of(tmp_path)
    assert table.columns == ["alpha-4.1", "beta-4.1"]
    assert table.lost == {"alpha-4.1": (1, 0), "beta-4.1": (2, 0)}
    changed("swebench/invented__beta.run1.json", tmp_path / "beta-4.1.run1.json",
            lambda value: value["unresolved_ids"].append(value["resolved_ids"][0]))
    refused(tmp_path, words=["resolved_ids and unresolved_ids"])
    (path, *_) = (DATA / "swebench").rglob("report.json")
    refused(path, words=["report of one instance"])


@pytest.mark.parametrize("change, words", [
    (dict(generator_1="other"), ["generator_1 or annotator differs"]),
    (dict(annotator="other"), ["generator_1 or annotator differs"]),
    (dict(preference=0), ["preference must be in [1, 2]", "got 0"]),
    (dict(preference="2"), ["must be a number", "text"])])
def test_alpaca_eval_baselines_and_preferences(tmp_path, change, words):
    for name in ("alpha", "beta"):
        source = f"alpaca_eval/invented_{name}/weighted_invented/annotations.json"
        changed(source, tmp_path / name / "annotations.json",
                lambda value: [row | change for row in value] if name == "beta"  # noqa: B023
                else None)
    write_json(tmp_path / "model_outputs.json", [{"instruction": "", "output": "",
                                                  "generator": "x"}])
    refused(tmp_path, words=words)


def test_openai_evals_errors_metrics_and_second_events(tmp_path):
    for name in "ab":
        events = [{"sample_id": f"s.{at}", "type": "metrics", "data": {"score": at, "choice": "Y"}}
                  for at in range(3)] + [{"sample_id": "s.3", "type": "error", "data": {}}]
        write_lines(tmp_path / f"{name}.jsonl", [
            {"spec": {"completion_fns": [name], "eval_name": "s"}}, {"final_report": {}}, *events])
    table = table_of(tmp_path)
    assert table.values[:3].tolist() == [[0, 0], [1, 1], [2, 2]]
    assert table.lost == {"a": (1, 0), "b": (1, 0)}
    with open(tmp_path / "a.jsonl", "a") as file:
        file.write(json.dumps(events[0]) + "\n")
    refused(tmp_path, words=["a.jsonl: line 7", "one score of metric 'score'", "line 3"])


def test_dspy_examples_and_metrics_must_be_the_same(tmp_path):
    source = "dspy/evaluate_save_as_json.json"
    changed(source, tmp_path / "a.json", lambda value: None)
    changed(source, tmp_path / "b.json", lambda value: value[2].update(question="other"))
    refused(tmp_path, words=["item '2'", "the example differs"])
    changed(source, tmp_path / "b.json", lambda value: [
        {("f1" if name == "<lambda>" else name): cell for name, cell in row.items()}
        for row in value])
    refused(tmp_path, words=["'<lambda>'", "'f1'"])


def test_dspy_predictions_without_fields(tmp_path):
    rows = [{"question": "1 + 1", "prediction": "2", "exact": True},
            {"question": "1 + 2", "exact": 0.0}]
    for name in "ab":
        write_json(tmp_path / f"{name}.json", rows)
    table = table_of(tmp_path)
    assert table.values[0].tolist() == [1, 1] and table.lost == {"a": (1, 0), "b": (1, 0)}
    write_json(tmp_path / "b.json", [rows[0] | {"question": "1 + 3"}, rows[1]])
    refused(tmp_path, words=["the example differs"])
    long = [{"model": name, "item": "q", "prediction": "2", "score": 1} for name in "ab"]
    path = write_json(tmp_path / "long.json", long)
    assert pb.best_of(path, value_range=(0, 1), rng=1).names == ("a", "b")
