"""pybandit best-of on log files of evaluation tools."""

import json

import pytest

from pybandit import cli

from tables.logs import DATA, lm_eval, results

EVALS = sorted(map(str, (DATA / "openai-evals").glob("*.jsonl")))
INSPECT = sorted(map(str, (DATA / "inspect").glob("sums_*.json")))


def answer(capsys, *arguments):
    assert cli.main(["best-of", *map(str, arguments), "--json"]) == 0
    out, err = capsys.readouterr()
    return json.loads(out), err


def refusal(capsys, *arguments):
    assert cli.main(["best-of", *map(str, arguments)]) == 2
    out, err = capsys.readouterr()
    assert not out and err.startswith("pybandit best-of: ") and err.count("\n") == 1
    return err


def test_files_and_folders_give_the_same_answer(capsys):
    known, _ = answer(capsys, *EVALS)
    assert known["names"] == ["invented/alpha", "invented/beta"] and known["n_items"] == 20
    assert answer(capsys, DATA / "openai-evals")[0] == known
    assert known["lost"] == {} and known["n_items_left_out"] == 0


def test_scorers_and_failures_are_chosen(capsys):
    assert "'exact', 'closeness'; metric= or --metric" in refusal(capsys, *INSPECT)
    refused = refusal(capsys, *INSPECT, "--metric", "exact")
    assert "mockllm/beta 2 (2 failed, 0 missing)" in refused and "--failed 0" in refused
    known, warned = answer(capsys, *INSPECT, "--metric", "exact", "--failed", "0")
    assert known["n_items"] == 20 and "failed=0" in warned and "mockllm/beta 3" in warned
    known, _ = answer(capsys, *INSPECT, "--metric", "exact", "--missing", "drop")
    assert known["n_items_left_out"] == 2
    assert known["lost"] == {"mockllm/beta": {"failed": 2, "missing": 0}}


def test_the_report_counts_lost_scores(capsys):
    assert cli.main(["best-of", *INSPECT, "--metric", "exact", "--missing", "drop"]) == 0
    out = capsys.readouterr().out
    assert "left out: 2 of 20" in out
    assert "Lost by model: mockllm/beta 2 (2 failed, 0 missing)." in out


def test_metrics_and_filters_are_chosen_by_task(capsys):
    folders = [DATA / "lm-eval" / f"invented__{name}" for name in ("alpha", "beta")]
    known, _ = answer(capsys, *folders, "--metric", "exact_match,acc", "--filter", "strict,none")
    assert known["n_items"] == 40 and "sums_invented/0" in known["item_labels"]
    assert "'strict', 'loose'; filter= or --filter" in refusal(
        capsys, *folders, "--metric", "exact_match,acc")


def test_logs_with_lower_scores_better_need_the_option(tmp_path, capsys):
    for name, score in (("a", 0.75), ("b", 0.25)):
        lm_eval(tmp_path, name, dict.fromkeys(range(40), score), metrics=("err",))
        results(tmp_path, name, higher_is_better={"sums": {"err": False}})
    assert "--lower-is-better looks for the lowest mean" in refusal(capsys, tmp_path)
    known, _ = answer(capsys, tmp_path, "--lower-is-better")
    assert known["names"][known["best"]] == "b" and known["means"] == [0.75, 0.25]


def test_scores_outside_the_range_are_rejected(tmp_path, capsys):
    for name in "ab":
        lm_eval(tmp_path, name, {0: 0.5, 1: 3.0})
    refused = refusal(capsys, tmp_path)
    assert "item '1'" in refused and "3 is outside --value-range 0 1" in refused
    assert answer(capsys, tmp_path, "--value-range", "0", "5")[0]["n_items"] == 2


@pytest.mark.parametrize("options, words", [
    (["--columns", "a"], "columns must be left out for log files"),
    (["--drop", "a"], "--drop must be left out for log files"),
    (["--sheet", "a"], "--sheet must be left out for log files"),
    (["--groups"], "--groups must be left out for log files"),
    (["--failed", "nan"], "failed must be a finite number")])
def test_options_of_tables_are_rejected(capsys, options, words):
    assert words in refusal(capsys, *EVALS, *options)


def test_options_of_logs_are_rejected_for_tables(tmp_path, capsys):
    path = tmp_path / "s.csv"
    path.write_text("item,a,b\nq1,1,0\n")
    for option, value in (("--metric", "acc"), ("--filter", "none"), ("--failed", "0")):
        assert f"{option[2:]} must be left out unless FILE is a log" in refusal(
            capsys, path, option, value)
    assert "s.csv: must be a log of an evaluation tool" in refusal(capsys, path, path)
    assert "-: must be a log" in refusal(capsys, "-", EVALS[0])
