"""pybandit best-of: input, report and errors."""

import io
import json
import os
import subprocess
import sys

import numpy as np
import pytest

import pybandit as pb
from pybandit import cli
from pybandit._shared import drawing

NAMES = ["plain", "chain of thought", "few-shot", "none", "terse"]
SCORES = np.round(np.random.default_rng(0).random((300, 5)) * [0.6, 1.0, 0.9, 0.3, 0.7], 4)
HEADER = ["item", *NAMES]
ROWS = [[f"q{i}", *map(str, row)] for i, row in enumerate(SCORES.tolist())]
SMALL = "item,a,b\nq0,0.5,0.6\nq1,0.1,0.2\n"


def write(path, rows, delimiter=",", encoding="utf-8"):
    text = "".join(delimiter.join(row) + "\n" for row in rows)
    path.write_text(text, encoding=encoding)
    return str(path)


@pytest.fixture
def table(tmp_path):
    return write(tmp_path / "scores.csv", [HEADER, *ROWS])


def run_json(capsys, *arguments):
    assert cli.main(["best-of", *arguments, "--json"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return json.loads(out)


def refused(capsys, *arguments):
    assert cli.main(["best-of", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.startswith("pybandit best-of: ") and err.count("\n") == 1
    return err


def test_answer_equals_best_of(table, capsys):
    expected = pb.best_of(SCORES, value_range=(0, 1), rng=1)
    known = run_json(capsys, table)
    for name, value in expected.to_dict().items():
        if name not in ("names", "best_name", "best_names", "summary"):
            assert known[name] == value, name
    assert known["names"] == NAMES and known["best_name"] == "chain of thought"
    assert known["item_labels"] == [f"q{i}" for i in expected.items]
    assert known["n_items_left_out"] == 0 and known["lower_is_better"] is False


def test_report_has_answer_cost_and_table(table, capsys):
    expected = pb.best_of(SCORES, value_range=(0, 1), rng=1)
    assert cli.main(["best-of", table]) == 0
    out = capsys.readouterr().out
    low, high = expected.intervals[1]
    assert out.startswith(f"best: chain of thought, mean {expected.means[1]:.3f}, between "
                          f"{low:.3f} and {high:.3f}\nWrong with probability at most 0.05.\n")
    assert (f"Read {expected.n_pulls:,} of 1,500 scores ({100 * expected.fraction_read:.2g} %): 5 "
            "models on 300 items.") in out
    lines = out.splitlines()
    assert lines[-6].split() == ["model", "items", "read", "mean", "95", "%", "interval"]
    assert lines[-5].startswith("chain of thought") and lines[-5].endswith("best")
    assert all(len(line) < 100 for line in lines)


def test_budget_gives_best_so_far(table, capsys):
    assert cli.main(["best-of", table, "--max-pulls", "60", "--k", "2"]) == 0
    out = capsys.readouterr().out
    assert out.count("best so far: ") == 2 and "Not decided: " in out
    assert "2 best are among them" in out
    assert len(run_json(capsys, table, "--max-pulls", "60")["survivors"]) > 1


def test_options_are_passed_to_best_of(table, capsys):
    known = run_json(capsys, table, "--k", "2", "--delta", "0.2", "--epsilon", "0.05",
                     "--seed", "7", "--value-range", "-1", "2")
    expected = pb.best_of(SCORES, value_range=(-1, 2), rng=7, k=2, delta=0.2, epsilon=0.05)
    assert known["best_arms"] == expected.best_arms.tolist()
    assert known["items"] == expected.items.tolist()
    assert known["delta"] == 0.2 and known["value_range"] == [-1.0, 2.0]


def test_lower_is_better_finds_the_lowest_mean(tmp_path, table, capsys):
    known = run_json(capsys, table, "--lower-is-better", "--value-range", "0", "1")
    expected = pb.best_of(-SCORES, value_range=(-1, 0), rng=1)
    assert known["best_name"] == "none" and known["lower_is_better"] is True
    assert known["means"] == (-expected.means).tolist()
    assert known["value_range"] == [0.0, 1.0]
    assert known["intervals"] == (-expected.intervals[:, ::-1]).tolist()
    pytest.importorskip("matplotlib")
    picture = tmp_path / "race.png"
    assert cli.main(["best-of", table, "--lower-is-better", "--plot", str(picture)]) == 0
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert "mean 0.1" in capsys.readouterr().out


# -- reading ----------------------------------------------------------------


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_delimiters_and_encodings_are_recognised(delimiter, encoding, tmp_path, table, capsys):
    other = write(tmp_path / "other.csv", [HEADER, *ROWS], delimiter, encoding)
    assert run_json(capsys, other) == run_json(capsys, table)


@pytest.mark.parametrize("rows, names, labels", [
    ([HEADER, *ROWS], NAMES, [f"q{i}" for i in range(300)]),
    ([["", *NAMES], *ROWS], NAMES, [f"q{i}" for i in range(300)]),
    ([["question", *NAMES], *ROWS], NAMES, [f"q{i}" for i in range(300)]),
    ([["ID", *NAMES], *([str(9 - i), *row[1:]] for i, row in enumerate(ROWS))], NAMES,
     [str(9 - i) for i in range(300)]),
    ([["item", *"12345"], *ROWS], list("12345"), [f"q{i}" for i in range(300)]),
    ([NAMES, *(row[1:] for row in ROWS)], NAMES, list(range(300))),
    ([row[1:] for row in ROWS], [f"model {i}" for i in range(5)], list(range(300))),
    ([["item", "", *NAMES[1:]], *ROWS], ["column 2", *NAMES[1:]], [f"q{i}" for i in range(300)]),
    ([[" item", '"a, b"', *NAMES[1:]], *ROWS], ["a, b", *NAMES[1:]],
     [f"q{i}" for i in range(300)]),
])
def test_headers_and_labels_are_recognised(rows, names, labels, tmp_path, table, capsys):
    known = run_json(capsys, write(tmp_path / "other.csv", rows))
    assert known["names"] == names
    assert known["item_labels"] == [labels[i] for i in known["items"]]
    assert known["means"] == run_json(capsys, table)["means"]


def test_stdin_with_blank_lines_and_another_delimiter_is_read(monkeypatch, capsys):
    text = "\ufeff" + SMALL.replace(",", "|").replace("\n", "\r\n\r\n")
    monkeypatch.setattr(sys, "stdin", io.StringIO(text))
    known = run_json(capsys, "-", "--delimiter", "|")
    assert known["best_name"] == "b" and known["n_items"] == 2
    monkeypatch.setattr(sys, "stdin", io.StringIO(SMALL.replace(",", "\t")))
    assert run_json(capsys, "-", "--delimiter", "tab")["best_name"] == "b"


@pytest.mark.parametrize("lost", ["", "NaN", "n/a", " None "])
def test_lost_scores_need_missing_drop(lost, tmp_path, capsys):
    rows = [list(row) for row in ROWS]
    rows[4][2] = rows[7][1] = rows[7][3] = lost
    path = write(tmp_path / "lost.csv", [HEADER, *rows])
    error = refused(capsys, path)
    for word in ("line 6, column 'chain of thought'", "3 in all", "--missing drop"):
        assert word in error
    kept = np.delete(SCORES, [4, 7], axis=0)
    known = run_json(capsys, path, "--missing", "drop")
    assert known["n_items_left_out"] == 2 and known["n_items"] == 298
    assert known["means"] == pb.best_of(kept, value_range=(0, 1), rng=1).means.tolist()
    assert not {"q4", "q7"} & set(known["item_labels"])
    assert cli.main(["best-of", path, "--missing", "drop"]) == 0
    assert "left out: 2 of 300. The answer is about the 298 others only." in capsys.readouterr().out


@pytest.mark.parametrize("text, words", [
    ("", ["is empty"]), ("\n\n", ["is empty"]), ("item,a,b\n", ["no items"]),
    ("item,a,b\nq0,0.5,high\n", ["line 2", "'b'", "'high'"]),
    ("item,a,b\nq0,0.5,1_0\n", ["line 2", "'b'", "'1_0'"]),
    ("a,b\n0.5,0.5\nq1,0.5\n", ["line 3", "'a'", "'q1'", "'item'"]),
    ("item,a,b\nq0,0.5,0.5\nq1,0.5\n", ["line 3 has 2 cells", "line 1 has 3"]),
    ("item,a\nq0,0.5\n", ["2 models", "got 1", "'a'"]),
    ("0.5\n0.4\n", ["2 models", "delimiter"]),
    ("item|a|b\nq0|0.5|0.6\n", ["2 models", "delimiter"]),
    ("item,a,a\nq0,0.5,0.6\n", ["differ", "'a'"]),
    ("q0,0.5,0.6\nq1,0.5,0.6\n", ["line 1", "header", "'item'"]),
    ("item,a,b\nq0,0.5,\n", ["line 2", "'b'", "lost"]),
    ("item,a,b\nq0,0.5,1.5\n", ["line 2", "'b'", "1.5", "--value-range", "before"]),
    ("item,a,b\nq0,0.5,inf\n", ["line 2", "'b'", "inf", "--value-range"]),
    ('item,a,b\nq0,0.5,"0.6\n', ["line 2"]),
])
def test_invalid_files_are_rejected(text, words, tmp_path, capsys):
    path = tmp_path / "bad.csv"
    path.write_text(text)
    error = refused(capsys, str(path))
    for word in [str(path), *words]:
        assert word in error


def test_files_without_text_are_rejected(tmp_path, capsys):
    assert "No such file" in refused(capsys, str(tmp_path / "none.csv"))
    assert "it has none" in refused(capsys, str(tmp_path))
    (tmp_path / "bytes.csv").write_bytes(b"item,a,b\n\xff\xfe,1,2\n")
    assert "UTF-8" in refused(capsys, str(tmp_path / "bytes.csv"))
    path = write(tmp_path / "lost.csv", [["a", "b"], ["", "0.5"]])
    assert "none is left" in refused(capsys, path, "--missing", "drop")


@pytest.mark.parametrize("options, words", [
    (["--k", "5"], ["k must be below", "5"]), (["--delta", "0"], ["delta", "0.0"]),
    (["--value-range", "1", "0"], ["--value-range", "LOW < HIGH", "1 0"]),
    (["--value-range", "0", "nan"], ["--value-range", "0 nan"]),
    (["--epsilon", "-1"], ["epsilon", "-1"]),
    (["--max-pulls", "4"], ["max_pulls", "5", "4"])])
def test_invalid_options_are_rejected(options, words, table, capsys):
    error = refused(capsys, table, *options)
    for word in words:
        assert word in error


@pytest.mark.parametrize("options", [["--k", "0"], ["--k", "two"], ["--seed", "-1"],
                                     ["--missing", "guess"], ["--delimiter", "::"],
                                     ["--value-range", "1"], ["--plot", "no/such/folder/x.png"]])
def test_options_rejected_by_argparse_are_named(options, table, capsys):
    with pytest.raises(SystemExit) as end:
        cli.main(["best-of", table, *options])
    assert end.value.code == 2
    error = capsys.readouterr().err
    assert options[0] in error and "pybandit best-of" in error


@pytest.mark.parametrize("name, reason", [
    ("x.csv", "must end in .png, .svg"), ("x", "must end in .png"), ("fifo.png", "got a FIFO"),
    ("folder.png", "got a folder"), ("device.png", "got a device"), ("loop.png", ".png, .svg")])
def test_plot_rejects_other_formats_and_special_files(name, reason, table, tmp_path, capsys):
    os.mkfifo(tmp_path / "fifo.png")
    (tmp_path / "folder.png").mkdir()
    (tmp_path / "device.png").symlink_to("/dev/zero")
    (tmp_path / "loop.png").symlink_to(tmp_path / "loop.png")
    with pytest.raises(SystemExit) as end:
        cli.main(["best-of", table, "--plot", str(tmp_path / name)])
    assert end.value.code == 2
    error = capsys.readouterr().err.splitlines()[-1]
    assert "argument --plot: must" in error and reason in error and name in error
    assert ".png, .svg, .pdf" in error


def test_plot_that_cannot_be_written_is_an_error_of_one_line(table, tmp_path, monkeypatch,
                                                               capsys):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(drawing, "save", lambda figure, path: os.stat(path))
    assert cli.main(["best-of", table, "--plot", str(tmp_path / "x.png")]) == 2
    error = capsys.readouterr().err
    assert error.startswith("pybandit best-of: --plot must be a file that can be written; got ")
    assert "No such file or directory" in error and error.count("\n") == 1


def test_missing_package_names_the_extra(table, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert cli.main(["best-of", table, "--plot", "x.png"]) == 1
    assert "pip install 'pybandit-core[plot]'" in capsys.readouterr().err


def test_many_models_and_long_names_are_cut(tmp_path, capsys):
    names = [f"{i}: " + "a long name " * 9 for i in range(60)]
    rows = np.random.default_rng(0).random((50, 60)).round(3).astype(str).tolist()
    path = write(tmp_path / "many.csv", [names, *rows])
    assert cli.main(["best-of", path, "--max-pulls", "300"]) == 0
    out = capsys.readouterr().out
    assert "and 20 more survivors" in out
    assert all(len(line) < 100 for line in out.splitlines())


def test_program_prints_the_answer(table):
    command = [sys.executable, "-m", "pybandit", "best-of"]
    run = subprocess.run([*command, table], capture_output=True, text=True, check=True,
                         env=os.environ)
    assert run.stdout.startswith("best: chain of thought") and run.stderr == ""
    run = subprocess.run([*command, "-"], input="a,b\n1,x\n", capture_output=True, text=True,
                         env=os.environ)
    assert run.returncode == 2 and run.stdout == ""
    assert run.stderr == ("pybandit best-of: stdin: line 2, column 'b': 'x' is not a number; "
                          "labels of items go into a first column headed 'item'; columns= or "
                          "--columns names the models, --drop leaves columns out\n")
