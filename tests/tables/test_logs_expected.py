"""Log files of tests/tables/data/logs give the scores that their expected.csv has."""

import csv
import gzip
import json
import math
import shutil

import numpy as np
import pytest

import pybandit as pb
from pybandit.errors import MissingPackageError

from tables.logs import DATA, cells_of, table_of

INSPECT, LM = DATA / "inspect", DATA / "lm-eval"
MODELS = [LM / "invented__alpha", LM / "invented__beta"]


def expected(tool, **where):
    """Return scores by model and item of rows of expected.csv with these cells; NaN if empty."""
    found = {}
    with open(DATA / tool / "expected.csv", newline="") as file:
        for row in csv.DictReader(file):
            row["item"] = row.get("item") or row.get("testIdx")
            row["model"] = row.get("model") or row.get("provider")
            if all(row[name] == value for name, value in where.items()):
                found[row["model"], row["item"]] = float(row["score"] or "nan")
    assert found
    return found


def check(table, known):
    """Compare cells; a cell without a line in expected.csv is lost."""
    found = cells_of(table)
    assert set(known) <= set(found)
    for key, score in found.items():
        assert score == pytest.approx(known.get(key, math.nan), nan_ok=True), key


@pytest.mark.parametrize("task, metric, filter", [
    ("sums_invented", "exact_match", "strict"), ("sums_invented", "exact_match", "loose"),
    ("parity_invented", "acc", "none"), ("parity_invented", "acc_norm", "none")])
def test_lm_eval_samples(task, metric, filter):
    paths = [next(folder.glob(f"samples_{task}_*.jsonl")) for folder in MODELS]
    check(table_of(*paths, metric=metric, filter=filter),
          expected("lm-eval", task=task, metric=metric, filter=filter))


def test_lm_eval_means_are_those_of_the_results_file():
    table = table_of(*MODELS, metric=["exact_match", "acc"], filter=["strict", "none"])
    tasks = np.array([item.partition("/")[0] for item in table.index])
    for column, folder in enumerate(MODELS):
        (path,) = folder.glob("results_*.json")
        known = json.loads(path.read_text())["results"]
        for task, key in (("sums_invented", "exact_match,strict"), ("parity_invented", "acc,none")):
            assert table.values[tasks == task, column].mean() == pytest.approx(known[task][key])


@pytest.mark.parametrize("scorer", ["exact", "closeness"])
@pytest.mark.parametrize("ends", [("eval", "eval"), ("json", "json"), ("eval", "json")])
def test_inspect_logs(scorer, ends):
    pytest.importorskip("pyarrow")
    paths = [INSPECT / f"sums_{name}.{end}" for name, end in zip(("alpha", "beta"), ends,
                                                                 strict=True)]
    check(table_of(*paths, metric=scorer), expected("inspect", scorer=scorer))


@pytest.mark.parametrize("tool, options, n_lost", [
    ("promptfoo", {}, {"invented:beta": (1, 1)}), ("helm", dict(metric="exact_match"), {}),
    ("mteb", {}, {"invented/beta": (0, 1)}), ("swebench", {}, {"invented/beta": (2, 0)}),
    ("alpaca_eval", {}, {"invented_alpha": (1, 0), "invented_beta": (1, 0)}),
    ("openai-evals", {}, {})])
@pytest.mark.filterwarnings("ignore:.*perturbed copies")
def test_folders_of_other_tools(tool, options, n_lost):
    table = table_of(DATA / tool, **options)
    check(table, expected(tool))
    assert table.lost == n_lost


def test_dspy_names_models_by_files(tmp_path):
    rows = json.loads((DATA / "dspy" / "evaluate_save_as_json.json").read_text())
    for name in ("first.json", "second.json"):
        shutil.copy(DATA / "dspy" / "evaluate_save_as_json.json", tmp_path / name)
    table = table_of(tmp_path)
    assert table.columns == ["first", "second"] and table.index == [str(i) for i in range(20)]
    scores = [float(row["<lambda>"]) for row in rows]
    scores[7] = math.nan  # it has failure_score and no prediction
    assert np.array_equal(table.values, np.array([scores, scores]).T, equal_nan=True)
    assert table.lost == {"first": (1, 0), "second": (1, 0)}


def test_packed_logs_are_read(tmp_path):
    for name in ("sums_alpha", "sums_beta"):
        packed = gzip.compress((DATA / "openai-evals" / f"{name}.jsonl").read_bytes())
        (tmp_path / f"{name}.jsonl.gz").write_bytes(packed)
    check(table_of(tmp_path), expected("openai-evals"))


def test_eval_archives_need_pyarrow(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(MissingPackageError, match=r"pip install 'pybandit-core\[tables\]'"):
        table_of(INSPECT / "sums_alpha.eval", INSPECT / "sums_beta.eval", metric="exact")


def test_best_of_takes_a_folder_a_file_and_several_files():
    files = sorted((DATA / "openai-evals").glob("*.jsonl"))
    for scores in (DATA / "openai-evals", str(DATA / "openai-evals"), files,
                   tuple(map(str, files))):
        result = pb.best_of(scores, value_range=(0, 1), rng=1)
        assert result.best_name == "invented/alpha" and result.n_items == 20
    path = DATA / "promptfoo" / "results.json"
    with pytest.warns(UserWarning, match=r"left out, by model: invented:beta 2 \(1 fail"):
        one = pb.best_of(pb.evaluation.read_scores(path, failed="skip"), value_range=(0, 1), rng=1)
    assert one.names == ("invented:alpha", "invented:beta") and one.n_items == 18
