"""Formats of score files: long tables, JSON lines, workbooks, packed and other text."""

import csv
import gzip
import json
from pathlib import Path

import numpy as np
import pytest

import pybandit as pb
from pybandit import cli
from pybandit.errors import MissingPackageError, UnreadableFileError
from pybandit.tables._long import Record, table_of_records
from pybandit.tables._read_scores import Form, read_scores
from pybandit.tables._scores import Options

DATA = Path(__file__).parent / "data" / "long-csv"
TABLE = "item,gpt,claude\nq1,1,0.25\nq2,0.5,1\nq3,0,0.75\n"
EXPECTED = [[1, 0.25], [0.5, 1], [0, 0.75]]


def written(tmp_path, content, name="scores.csv"):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def check_table(table):
    assert table.columns == ["gpt", "claude"] and list(table.index) == ["q1", "q2", "q3"]
    assert np.asarray(table.values).tolist() == EXPECTED


# -- text -----------------------------------------------------------------------


@pytest.mark.parametrize("content", [
    TABLE, "\ufeff" + TABLE, TABLE.replace("\n", "\r\n"), TABLE.replace("\n", "\r"),
    TABLE.rstrip("\n"), TABLE + "\n\n\r\n", TABLE + ",,\n,,\n", TABLE.replace("\n", ",\n"),
    TABLE.replace("\n", ",,\n"), TABLE.replace("claude\n", "claude,\n", 1),
    TABLE.replace(",", " , "), TABLE.replace("0.25", '"0.25"').replace("gpt", '"gpt"'),
    TABLE.encode("utf-16"), TABLE.encode("utf-16-le"), TABLE.encode("utf-16-be"),
    TABLE.replace(",", ";"), TABLE.replace(",", "\t"), TABLE.replace(",", "\t").encode("utf-16"),
    TABLE.replace(",", ";").replace(".", ","), TABLE.replace(",", "\t").replace(".", ","),
    TABLE.replace("0.25", '"0,25"').replace("0.5", '"0,5"').replace("0.75", '"0,75"'),
    "sep=;\n" + TABLE.replace(",", ";"), "sep=,\r\n" + TABLE, '"sep=|"\n' + TABLE.replace(",", "|"),
    "\ufeffsep=;\n" + TABLE.replace(",", ";").replace(".", ","),
    gzip.compress(TABLE.encode(), mtime=0), gzip.compress(TABLE.encode("utf-16"), mtime=0),
    gzip.compress(TABLE[:20].encode(), mtime=0) + gzip.compress(TABLE[20:].encode(), mtime=0)])
def test_text_variants_are_read(tmp_path, content):
    check_table(read_scores(written(tmp_path, content)))


@pytest.mark.parametrize("name", ["scores.csv.gz", "scores.CSV", "scores.tsv", "scores.txt.gz"])
def test_text_file_names_are_recognised(tmp_path, name):
    content = gzip.compress(TABLE.encode(), mtime=0) if name.endswith("gz") else TABLE
    assert pb.best_of(written(tmp_path, content, name), value_range=(0, 1), rng=1).names == (
        "gpt", "claude")


def test_zstandard_files_are_read(tmp_path, monkeypatch):
    arrow = pytest.importorskip("pyarrow")
    packed = arrow.compress(TABLE.encode(), codec="zstd", asbytes=True)
    check_table(read_scores(written(tmp_path, packed, "scores.csv.zst")))
    with pytest.raises(UnreadableFileError, match="the Zstandard file is damaged"):
        read_scores(written(tmp_path, packed[:-3], "bad.csv.zst"))
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(MissingPackageError, match=r"pip install 'pybandit-core\[tables\]'"):
        read_scores(tmp_path / "scores.csv.zst")


@pytest.mark.parametrize("content, words", [
    ("item;a;b\nq1;0,5;0.5\nq2;1;1\n", ["line 2", "'0,5'", "decimal point", "--decimal"]),
    ("item;a;b\nq1;1,234;5,678\nq2;2,345;1\n", ["line 2", "'1,234'", "--decimal"]),
    (gzip.compress(TABLE.encode(), mtime=0)[:-9], ["gzip file is damaged"]),
    (gzip.compress(b"a" + b",b" * 999 + (b"\n" + b"0," * 999 + b"0") * 10_000, mtime=0),
     ["expand to at most 16,777,216 bytes"]),
    (TABLE.encode("utf-16")[:-1], ["not UTF-16 text"]),
    (TABLE.replace("gpt", "g\u00e9").encode("latin-1"), ["line 1, column 2", "not UTF-8"]),
    (TABLE + "q4,1,0,1\n", ["line 5 has 4 cells; line 1 has 3"])])
def test_ambiguous_and_damaged_text_is_refused(tmp_path, content, words):
    with pytest.raises(UnreadableFileError) as caught:
        read_scores(written(tmp_path, content))
    for word in words:
        assert word in str(caught.value)


def test_decimal_option_sets_decimal_point(tmp_path):
    path = written(tmp_path, "item;a;b\nq1;1,234;5,678\nq2;2,345;1\n")
    assert read_scores(path, Form(decimal=",")).values.tolist() == [[1.234, 5.678], [2.345, 1]]
    with pytest.raises(UnreadableFileError, match="line 2, column 'a': '1,234' is not a number"):
        read_scores(path, Form(decimal="."))
    with pytest.raises(UnreadableFileError, match=r"column 'a': '0\.5' is not a number"):
        read_scores(written(tmp_path, "item;a;b\nq1;0.5;1\n"), Form(decimal=","))


# -- workbooks --------------------------------------------------------------------


def test_workbooks_are_read(tmp_path, monkeypatch):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    rows = [line.split(",") for line in TABLE.splitlines()]
    for row in rows:
        book.active.append([row[0], *(float(cell) if cell[0].isdigit() else cell
                                      for cell in row[1:])])
    words = book.create_sheet("words")
    for row in ["gpt", "claude"], [True, False], [False, False], [True, True]:
        words.append(row)
    book.save(tmp_path / "s.xlsx")
    with pytest.raises(UnreadableFileError, match="--sheet names one: 'Sheet', 'words'"):
        read_scores(tmp_path / "s.xlsx")
    check_table(read_scores(tmp_path / "s.xlsx", Form(sheet="Sheet")))
    table = read_scores(tmp_path / "s.xlsx", Form(sheet="words"))
    assert table.values.tolist() == [[1, 0], [0, 0], [1, 1]]
    assert cli.main(["best-of", str(tmp_path / "s.xlsx"), "--sheet", "Sheet"]) == 0
    monkeypatch.setitem(__import__("sys").modules, "openpyxl", None)
    with pytest.raises(MissingPackageError, match=r"pip install 'pybandit-core\[xlsx\]'"):
        pb.best_of(tmp_path / "s.xlsx", value_range=(0, 1))


# -- JSON lines ----------------------------------------------------------------------


def lines_of(rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


WIDE = [{"item": "q1", "gpt": 1, "claude": 0.25}, {"item": "q2", "gpt": 0.5, "claude": 1},
        {"claude": 0.75, "item": "q3", "gpt": 0}]
LONG = [{"model": model, "item": row["item"], "score": row[model], "note": "x"}
        for row in WIDE for model in ("gpt", "claude")]


@pytest.mark.parametrize("name, content", [
    ("s.jsonl", lines_of(WIDE)), ("s.ndjson", lines_of(LONG)), ("s.json", json.dumps(LONG)),
    ("s.json", json.dumps(WIDE, indent=1)),
    ("s.jsonl.gz", gzip.compress(lines_of(LONG).encode(), mtime=0)),
    ("s.jsonl", "\ufeff" + lines_of(LONG).replace("\n", "\r\n\r\n")),
    ("s.jsonl", lines_of(LONG).encode("utf-16"))])
def test_json_lines_are_read(tmp_path, name, content):
    path = written(tmp_path, content, name)
    check_table(read_scores(path))
    assert pb.best_of(path, value_range=(0, 1), rng=1).names == ("gpt", "claude")


@pytest.mark.parametrize("content, words", [
    ("", ["is empty"]), ("3\n", ["line 1", "object"]), ("{}\n[1]\n", ["line 2", "object"]),
    ('{"model": "a", "item": 1, "score": 1}\n{"model": }\n', ["line 2", "is not JSON"]),
    ('{"item": "q1", "a": 1, "a": 0, "b": 1}\n', ["line 1", "'a' occurs twice"]),
    ("[" * 100_000, ["line 1", "deeply"]),
    (lines_of([{"item": "q1", "a": [1], "b": 0}]), ["line 1, column 'a'", "[1] is not a number"])])
def test_json_that_is_not_scores_is_refused(tmp_path, content, words):
    with pytest.raises(UnreadableFileError) as caught:
        read_scores(written(tmp_path, content, "s.jsonl"))
    for word in words:
        assert word in str(caught.value)


# -- long tables ------------------------------------------------------------------------


def test_long_table_has_expected_values():
    table = read_scores(DATA / "scores.csv")
    with open(DATA / "expected.csv", newline="") as file:
        expected = {(row["model"], row["item"]): float(row["score"])
                    for row in csv.DictReader(file)}
    assert set(table.columns) == {"alpha", "beta", "gamma"} and table.values.shape == (20, 3)
    found = {(model, item): table.values[row, column] for row, item in enumerate(table.index)
             for column, model in enumerate(table.columns)}
    assert found == expected
    assert pb.best_of(DATA / "scores.csv", value_range=(0, 1), rng=1).best_name == "alpha"


def test_epochs_are_averaged_if_all_are_there(capsys):
    with pytest.raises(ValueError, match="item 'q04', column 'beta': a score is lost or missing"):
        pb.best_of(DATA / "scores_epochs.csv", value_range=(0, 1))
    table = read_scores(DATA / "scores_epochs.csv")
    assert table.values[0, 0] == pytest.approx(2 / 3) and table.values[1, 1] == pytest.approx(1 / 3)
    kept = table.without_lost()
    assert "q04" not in kept.index and kept.values.shape == (19, 2)
    path = str(DATA / "scores_epochs.csv")
    assert cli.main(["best-of", path]) == 2
    assert "item 'q04', column 'beta'" in capsys.readouterr().err
    assert cli.main(["best-of", path, "--missing", "drop", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["n_items_left_out"] == 1


def test_second_score_error_names_both_lines():
    with pytest.raises(UnreadableFileError) as caught:
        read_scores(DATA / "scores_bad.csv")
    for word in ("line 42", "'alpha'", "'q12'", "line 2", "second score"):
        assert word in str(caught.value)


def test_missing_scores_of_long_table_are_refused(tmp_path):
    text = "".join(line for at, line in enumerate(
        (DATA / "scores_bad.csv").read_text().splitlines(keepends=True)) if at not in (41, 43, 44))
    table = read_scores(written(tmp_path, text))
    assert {"07", "7", "q99"} <= set(table.index)  # labels are text
    with pytest.raises(ValueError, match="a score is lost or missing, .* in all"):
        pb.best_of(tmp_path / "scores.csv", value_range=(0, 1))
    assert not {"07", "7", "q99"} & set(table.without_lost().index)


@pytest.mark.parametrize("head", ["model,item,score", "Model,Question ID,Correct",
                                  "system, doc_id ,acc", "model_name,prompt,value",
                                  "llm,task_id,passed", "item;model;score"])
def test_long_table_column_names_are_recognised(tmp_path, head):
    rows = [("m1", "x", 1), ("m1", "y", 0), ("m2", "y", 1), ("m2", "x", 0)]
    if head.startswith("item"):
        rows = [(item, model, score) for model, item, score in rows]
    delimiter = ";" if ";" in head else ","
    text = head + "\n" + "".join(delimiter.join(map(str, row)) + "\n" for row in rows)
    table = read_scores(written(tmp_path, text))
    assert table.columns == ["m1", "m2"] and table.index == ["x", "y"]
    assert table.values.tolist() == [[1, 0], [0, 1]]


@pytest.mark.parametrize("head", ["metric", "Scorer", "filter"])
def test_long_table_of_several_metrics_is_refused(tmp_path, head):
    """This holds even if they are of different items: their scores must not be mixed."""
    lines = [f"{model},{item},{0.1 * item},{'acc' if item < 3 else 'f1'}"
             for model in ("a", "b") for item in range(1, 6)]
    path = tmp_path / "s.csv"
    path.write_text("\n".join([f"model,item,score,{head}", *lines]))
    with pytest.raises(ValueError, match=f"column '{head}' must have one value; got 'acc', 'f1'"):
        pb.best_of(path, value_range=(0, 1))
    columns = ["model", "item", "score"]
    scores = pb.evaluation.read_scores(path, columns=columns)
    assert pb.best_of(scores, value_range=(0, 1)).n_items == 5
    path.write_text(path.read_text().replace("f1", "acc"))
    assert pb.best_of(path, value_range=(0, 1)).n_items == 5


def test_long_table_with_words_and_other_columns(tmp_path):
    text = ("model,item,latency,correct,answer\na,x,3.5,True,foo\nb,x,1.5,False,bar\n"
            "a,y,3,False,baz\nb,y,9,False,qux\n")
    assert read_scores(written(tmp_path, text)).values.tolist() == [[1, 0], [0, 0]]
    two = text.replace("latency", "accuracy")
    with pytest.raises(UnreadableFileError,
                       match="one column of scores; got 'accuracy', 'correct'"):
        read_scores(written(tmp_path, two))
    chosen = Options(columns=["model", "item", "accuracy"])
    assert read_scores(tmp_path / "scores.csv", options=chosen).values.tolist() == [
        [3.5, 1.5], [3, 9]]


@pytest.mark.parametrize("text, words", [
    ("model,item,score\na,x,1\n,x,0\n", ["line 3", "model must not be empty"]),
    ("model,item,score\na,,1\nb,x,0\n", ["line 2", "item must not be empty"]),
    ("model,item,score\na,x,1\na,y,0\n", ["2 models", "'a'"]),
    ("model,item,score\na,x,1\nb,x,good\n", ["line 3, column 'score'", "'good'"]),
    ("model,item,epoch,score\na,x,1,1\na,x,1,0\nb,x,1,1\n", ["line 3", "line 2", "epoch"])])
def test_long_table_errors_name_line(tmp_path, text, words):
    with pytest.raises(UnreadableFileError) as caught:
        read_scores(written(tmp_path, text))
    for word in words:
        assert word in str(caught.value)


def test_records_become_a_table():
    records = [Record("m1", "x", 1.0, place="a.json, line 1"), Record("m2", "x", 0.5),
               Record("m1", "y", 0.0), Record("m2", "y", 1.0)]
    table = table_of_records(iter(records))
    assert table.columns == ["m1", "m2"] and table.values.tolist() == [[1, 0.5], [0, 1]]
    with pytest.raises(UnreadableFileError,
                       match="record 4: model 'm1' has a second score on item 'x'; the "
                                      "first is at a.json, line 1"):
        table_of_records([*records, Record("m1", "x", 1.0)])
    with pytest.warns(UserWarning, match="rows of 'average' left out"):
        assert table_of_records([*records, Record("m1", "average", 9.0)]).index == ["x", "y"]
    with pytest.raises(UnreadableFileError, match="no scores"):
        table_of_records([])
