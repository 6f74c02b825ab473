"""Log files of evaluation tools for tests: written ones, and those of tests/tables/data/logs."""

import json
from pathlib import Path

import pytest

from pybandit.errors import UnreadableFileError
from pybandit.tables._logs.read import choice_of, read_logs

DATA = Path(__file__).parent / "data" / "logs"
TIME = "2026-11-25T15-00-59.178874"
ONE = {0: 1.0, 1: 0.0}


def table_of(*paths, **options):
    return read_logs([str(path) for path in paths], choice_of(**options))


def refused(*paths, words, **options):
    """Assert that log files are refused by a short message with these words."""
    with pytest.raises(UnreadableFileError) as caught:
        table_of(*paths, **options)
    for word in words:
        assert word in str(caught.value), (word, str(caught.value))
    assert len(str(caught.value)) < 1500


def cells_of(table):
    """Return scores by model and item."""
    return {(model, item): float(table.values[row, column])
            for row, item in enumerate(table.index) for column, model in enumerate(table.columns)}


def write_json(path, value):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value))
    return path


def write_lines(path, values):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(value) + "\n" for value in values))
    return path


def lm_eval(folder, model, scores, task="sums", metrics=("acc",), key="none", **more):
    """Write a samples file; `scores` has a score, or one per metric, for each doc_id."""
    rows = []
    for item, given in scores.items():
        given = given if isinstance(given, dict) else {metrics[0]: given}
        rows.append({"doc_id": item, "filtered_resps": [""], "filter": key,
                     "metrics": list(metrics), "doc_hash": f"d{item}", "target_hash": f"t{item}",
                     **given, **more})
    return write_lines(folder / model / f"samples_{task}_{TIME}.jsonl", rows)


def results(folder, model, **content):
    return write_json(folder / model / f"results_{TIME}.json",
                      {"results": {}, "n-shot": {}, **content})


def inspect_log(folder, model, scores, task="sums", **eval_more):
    """Write an Inspect log; `scores` has the values of scorers, or an error, by (id, epoch)."""
    samples = []
    for (item, epoch), given in scores.items():
        sample = {"id": item, "epoch": epoch, "input": f"{item}?", "target": "1"}
        if isinstance(given, str) and len(given) > 1:
            sample |= {"error": {"message": given}, "scores": {}}
        else:
            given = given if isinstance(given, dict) else {"exact": given}
            sample["scores"] = {name: {"value": value} for name, value in given.items()}
        samples.append(sample)
    return write_json(folder / f"{model}.json", {
        "version": 2, "status": "success", "eval": {"model": model, "task": task} | eval_more,
        "samples": samples})


def promptfoo(folder, scores, name="results.json"):
    """Write a promptfoo file; `scores` has a score or "error" by (provider, prompt, test)."""
    columns = list(dict.fromkeys(key[:2] for key in scores))
    rows = []
    for (provider, prompt, test), score in scores.items():
        rows.append({"provider": {"id": provider, "label": ""}, "prompt": {"label": prompt},
                     "promptIdx": columns.index((provider, prompt)), "testIdx": test,
                     "vars": {"q": test}, "testCase": {"vars": {"q": test}},
                     "failureReason": 2 if score == "error" else 0,
                     "score": 0 if score == "error" else score, "success": score == 1})
    return write_json(folder / name, {"evalId": "e", "results": {"version": 3, "results": rows}})
