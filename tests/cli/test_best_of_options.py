"""pybandit best-of with budgets, costs, samples and groups."""

import json

import numpy as np
import pytest

import pybandit as pb
from pybandit import cli

from evaluation.grouped import grouped

SCORES = np.random.default_rng(0).random((200, 3)).round(3) * [0.6, 1.0, 0.9]
COSTS = np.random.default_rng(1).exponential(size=(200, 3)).round(3)
GROUPS = ["law"] * 20 + ["code"] * 180
LABELS = [f"q{i}" for i in range(200)]


def write(path, values, labels=LABELS):
    lines = ["item,a,b,c", *(",".join([label, *map(str, row)])
                             for label, row in zip(labels, values.tolist(), strict=True))]
    path.write_text("\n".join(lines) + "\n")
    return str(path)


@pytest.fixture
def files(tmp_path):
    return write(tmp_path / "scores.csv", SCORES), write(tmp_path / "costs.csv", COSTS)


def answer(capsys, *arguments):
    assert cli.main(["best-of", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def text(capsys, *arguments):
    assert cli.main(["best-of", *arguments]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("given, options", [
    (["--budget", "60"], dict(budget=60)), (["--max-cost", "40"], dict(max_cost=40.0)),
    (["--budget-cost", "40"], dict(budget_cost=40.0)), ([], {})])
def test_costs_equal_those_of_best_of(files, capsys, given, options):
    known = answer(capsys, files[0], "--costs", files[1], *given)
    expected = pb.best_of(SCORES, **grouped(costs=COSTS, value_range=(0, 1), rng=1, **options))
    assert known["cost"] == expected.cost and known["pulls"] == expected.pulls.tolist()
    said = text(capsys, files[0], "--costs", files[1], *given)
    assert f"They cost {expected.cost:,.6g}." in said
    assert said.startswith("guess: " if "budget" in str(given) else
                           "best" if expected.decided else "best so far")


def test_one_line_of_costs_has_a_cost_per_model(files, tmp_path, capsys):
    one = write(tmp_path / "one.csv", COSTS[:1], ["x"])
    known = answer(capsys, files[0], "--costs", one, "--lower-is-better")
    assert known["cost"] == pytest.approx(np.dot(known["pulls"], COSTS[0]))


def test_costs_of_dropped_items_are_dropped(files, tmp_path, capsys):
    lines = (tmp_path / "scores.csv").read_text().splitlines()
    lines[1] = "q0,,0.5,0.5"
    (tmp_path / "scores.csv").write_text("\n".join(lines))
    known = answer(capsys, files[0], "--costs", files[1], "--missing", "drop")
    expected = pb.best_of(SCORES[1:], costs=COSTS[1:], value_range=(0, 1), rng=1)
    assert known["cost"] == pytest.approx(expected.cost)


def test_sample_has_an_undecided_tie(files, capsys):
    known = answer(capsys, files[0], "--sample")
    assert known["population_size"] is None
    tied = text(capsys, files[0], "--sample", "--delta", "1e-60")
    assert "Not decided after all 200 items of the sample" in tied and "all read" not in tied


def test_groups_have_equal_weights(tmp_path, capsys):
    files = [write(tmp_path / "grouped.csv", SCORES, GROUPS)]
    known = answer(capsys, files[0], "--groups")
    expected = pb.best_of(SCORES, items=pb.Items(weights=pb.evaluation.group_weights(GROUPS)),
                          value_range=(0, 1),
                          rng=1)
    assert known["pulls"] == expected.pulls.tolist() and known["intervals"] is None
    said = text(capsys, files[0], "--groups")
    assert "weighted" in said and "between" not in said


@pytest.mark.parametrize("change, message", [
    (lambda rows: rows[:3], "must have a line for each item"),
    (lambda rows: ["item,a,c,b", *rows[1:]], "must have the models of the scores"),
    (lambda rows: [*rows[:-1], "x,1,1,1"], "line 201 must be item 'q199'"),
    (lambda rows: [rows[0], "q0,-1,1,1", *rows[2:]], "costs must be finite and at least 0")])
def test_costs_that_do_not_match_the_scores_are_rejected(files, tmp_path, capsys, change, message):
    path = tmp_path / "costs.csv"
    path.write_text("\n".join(change(path.read_text().splitlines())))
    assert cli.main(["best-of", files[0], "--costs", files[1]]) == 2
    assert message in capsys.readouterr().err


def test_invalid_options_are_rejected(tmp_path, files, capsys):
    plain = tmp_path / "plain.csv"
    plain.write_text("\n".join(",".join(map(str, row)) for row in SCORES.tolist()))
    for arguments, message in [
            ([files[0], "--max-cost", "9"], "--max-cost must be left out without --costs"),
            ([files[0], "--budget", "9", "--groups"], "weights must be left out with a budget"),
            ([str(plain), "--groups"], "--groups needs labels")]:
        assert cli.main(["best-of", *arguments]) == 2
        assert message in capsys.readouterr().err


def test_arrays_and_parquet_files_are_read(tmp_path, files, capsys):
    parquet = pytest.importorskip("pyarrow.parquet")
    import pyarrow as pa

    parquet.write_table(pa.table(dict(zip("abc", SCORES.T, strict=True))), tmp_path / "s.parquet")
    np.save(tmp_path / "s.npy", SCORES)
    numbered = ["model 0", "model 1", "model 2"]
    for name, labels in ("s.parquet", ["a", "b", "c"]), ("s.npy", numbered):
        for options in [], ["--lower-is-better"]:
            found = answer(capsys, str(tmp_path / name), *options)
            expected = answer(capsys, files[0], *options)
            assert found["pulls"] == expected["pulls"]
            assert found["best_arms"] == expected["best_arms"]
            assert found["means"] == expected["means"] and found["names"] == labels
    lost = SCORES.copy()
    lost[7, 1] = np.nan
    np.save(tmp_path / "s.npy", lost)
    assert cli.main(["best-of", str(tmp_path / "s.npy")]) == 2
    assert "row 7, column 'model 1': a score is lost" in capsys.readouterr().err
    assert answer(capsys, str(tmp_path / "s.npy"), "--missing", "drop")["n_items_left_out"] == 1


def test_shuffled_table_is_read_in_place(tmp_path, files, capsys):
    pytest.importorskip("pyarrow")
    np.save(tmp_path / "s.npy", SCORES)
    out = str(tmp_path / "out.parquet")
    assert cli.main(["shuffle", str(tmp_path / "s.npy"), out]) == 0
    capsys.readouterr()
    found = answer(capsys, out)
    assert found["best_arms"] == [int(SCORES.mean(axis=0).argmax())] and len(found["item_labels"])
    assert "best: " in text(capsys, out)
    for options in (["--lower-is-better"], ["--groups"], ["--costs", files[1]],
                    ["--missing", "drop"]):
        assert cli.main(["best-of", out, *options]) == 2
        assert f"{' '.join(options[:1])}" in capsys.readouterr().err
    assert cli.main(["best-of", str(tmp_path / "none.npy")]) == 2
    assert "none.npy" in capsys.readouterr().err
