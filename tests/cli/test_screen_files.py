"""pybandit screen: files of readers and spreadsheets, amendments, robots."""

import csv
from pathlib import Path

import numpy as np
import openpyxl
import pytest

import pybandit as pb
from pybandit.cli import _screen_options, screen
from pybandit.lab import _fill, _picklists, _read
from pybandit.lab.controls import readings_of

from cli.screen_commands import GENES, NEW, as_json, digest, fill, ok, refused, rows_of

pytestmark = pytest.mark.usefixtures("folder")
CONTROLS = ["--controls", "A1,B1,C1,D1", "--positives", "A6,B6,C6,D6"]


def german(source, target, header=("Platte", "Pos", "Fluoreszenz")):
    """Write an export of a reader: a title, semicolons, decimal commas, no names of arms."""
    _, *rows = rows_of(source)
    lines = ["Reader 7;Lauf vom 3. Mai", "Gain;1.200,5", "", ";".join(header)]
    lines += [f"{row[0]};{row[1]};{shown(1000 + i)}" for i, row in enumerate(rows)]
    Path(target).write_text("\n".join(lines) + "\n")
    return target


def shown(value):
    return f"{value + 0.25:,.2f}".replace(",", " ").replace(".", ",").replace(" ", ".")


GERMAN = ["--decimal", ",", "--thousands", ".", "--plate-column", "Platte", "--well-column", "Pos",
          "--value-column", "Fluoreszenz"]


def test_reader_with_decimal_commas_is_read(capsys):
    ok(capsys, *NEW)
    ok(capsys, "next", "-o", "p.csv")
    path = german("p.csv", "r.csv")
    said = refused(capsys, "record", path)
    assert "line 1" in said and "the columns plate, well, arm, value" in said
    assert "--thousands . reads it" in refused(capsys, "record", path, *GERMAN[:2], *GERMAN[4:])
    assert ok(capsys, "record", path, *GERMAN) == (
        "plate 0: 24 new; the file names no arms, so none were checked\n")
    with pb.Study.open("study.db") as study:
        assert study.batch(0).values.tolist() == [1000.25 + i for i in range(24)]


def test_workbook_is_written_and_recorded(capsys):
    ok(capsys, *NEW)
    assert ok(capsys, "next", "-o", "p.xlsx") == "plate 0: 24 wells, in p.xlsx\n"
    ok(capsys, "next", "-o", "p.xlsx")
    book = openpyxl.load_workbook("p.xlsx")
    for i, row in enumerate(book.active.iter_rows(min_row=2)):
        row[3].value = i / 10
    book.save("r.xlsx")
    assert "r.xlsx exists with other content" in refused(capsys, "next", "-o", "r.xlsx")
    assert ok(capsys, "record", "r.xlsx") == "plate 0: 24 new\n"
    ok(capsys, "next", "-o", "g.xlsx", "--format", "grid")
    ok(capsys, "export", "all.xlsx")
    rows = list(openpyxl.load_workbook("all.xlsx").active.iter_rows(values_only=True))
    assert rows[1][:4] == ("0", "A1", "gene 0", None) or rows[1][3] == 0.0
    book = openpyxl.Workbook()
    for name in ["Gene Symbol", "tp53", "myc"]:
        book.active.append([name])
    book.save("arms.xlsx")
    said = ok(capsys, "new", "other.db", "--policy", "ucb1", "--arms", "arms.xlsx")
    assert said == "other.db: UCB1, 2 arms under 'Gene Symbol'; next: the first plate\n"


@pytest.mark.parametrize("head, options, names", [
    ("Gene Symbol", [], 0), ("compound_id", [], 0), ("Gene Symbol", ["--no-header"], 1),
    ("BRCA1", [], 1), ("whatever", ["--header"], 0), ("gene", [], 0)])
def test_header_of_the_file_of_arms_is_recognised(head, options, names, capsys):
    Path("arms.csv").write_text(f"{head}\ntp53\nmyc\n")
    ok(capsys, "new", "a.db", "--policy", "ucb1", "--arms", "arms.csv", *options)
    with pb.Study.open("a.db") as study:
        assert study.names == (*[head][:names], "tp53", "myc")


def test_arms_below_a_title_are_read(capsys):
    Path("arms.csv").write_text("Library of 2026\n\nPlate,Gene,Entrez\n1,tp53,7157\n1,myc,4609\n")
    ok(capsys, "new", "a.db", "--policy", "ucb1", "--arms", "arms.csv", "--column", "entrez")
    with pb.Study.open("a.db") as study:
        assert study.names == ("7157", "4609")


# amendments

def recorded(capsys, *options):
    ok(capsys, *NEW, *CONTROLS, *options)
    ok(capsys, "next", "-o", "p.csv")
    ok(capsys, "record", fill("p.csv", "r.csv", value=lambda row: {
        "control": 1000.0 + ord(row[1][0]), "positive": 100.0 + ord(row[1][0])}.get(row[2], 500.0)))


def test_typo_is_amended(capsys):
    recorded(capsys)
    text = Path("r.csv").read_text()
    Path("right.csv").write_text(text.replace("gene 1,500.0", "gene 1,512.5"))
    said = refused(capsys, "record", "right.csv")
    assert "512.5 for well A3 of plate 0 (gene 1), where 500.0 is recorded (1 such wells" \
        in said
    reason = ["--reason", "a digit was missing"]
    assert ok(capsys, "amend", "--file", "right.csv", *reason) == (
        "plate 0: 1 reading amended; 1 result changed\n")
    head = digest()
    assert ok(capsys, "amend", "--file", "right.csv", *reason) == "plate 0: nothing to amend\n"
    assert ok(capsys, "record", "right.csv") == "plate 0: 16 already known\n"
    assert digest() == head
    done = as_json(capsys, "amend", "--plate", "0", "--well", "A3=failed", "--well", "B2=3",
                   *reason)
    assert (done["n_readings"], done["n_amended"], done["n_withdrawn"]) == (2, 2, 1)
    with pb.Study.open("study.db") as study:
        assert study.batch(0).states[1] == "lost" and study.batch(0).values[4] == 3.0
        assert {one.reason for one in study.amendments()} == {"a digit was missing"}
        assert readings_of(study)[0].files == ["r.csv", "right.csv", "the command line"]
    assert "amended 2 times" in ok(capsys, "status")
    ok(capsys, "report", "-o", "report.html")
    page = Path("report.html").read_text()
    assert "a digit was missing" in page and "Z\N{PRIME}" in page


def test_corrected_control_changes_its_plate(capsys):
    """The results equal those with the correct control from the start."""
    recorded(capsys, "--normalise", "inhibition")
    ok(capsys, "amend", "--plate", "0", "--well", "B1=900", "--reason", "typo")
    with pb.Study.open("study.db") as study:
        values = study.batch(0).values.copy()
    Path("study.db").rename("amended.db")
    Path("right.csv").write_text(Path("r.csv").read_text().replace("control,1066.0", "control,900"))
    ok(capsys, *NEW, *CONTROLS, "--normalise", "inhibition")
    ok(capsys, "next")
    ok(capsys, "record", "right.csv")
    with pb.Study.open("study.db") as study:
        assert study.batch(0).values.tolist() == values.tolist()
        negative, positive = np.mean([1065, 900, 1067, 1068]), np.mean([165, 166, 167, 168])
        assert values == pytest.approx(100 * (negative - 500) / (negative - positive))
    # a control in a study whose results do not depend on controls
    Path("study.db").unlink()
    recorded(capsys)
    assert ok(capsys, "amend", "--plate", "0", "--well", "B1=900", "--reason", "typo") == (
        "plate 0: 1 reading amended\n")
    known = as_json(capsys, "status")["controls"][0]
    assert known["controls"]["mean"] == np.mean([1065, 900, 1067, 1068])
    assert "where 900 is recorded; use amend to correct it" in refused(capsys, "record", "r.csv")


@pytest.mark.parametrize("options", [[], ["--normalise", "inhibition"]])
def test_file_sent_again_restores_no_withdrawn_reading(options, capsys):
    """This holds for any state of the controls; only an amendment restores a reading."""
    recorded(capsys, *options)
    why = ["--reason", "a bubble"]
    ok(capsys, "amend", "--plate", "0", "--well", "A3=failed", "--well", "C6=failed", *why)
    head = digest()
    assert ok(capsys, "record", "r.csv") == "plate 0: 16 already known\n" and digest() == head
    ok(capsys, "amend", "--plate", "0", "--well", "B1=900", *why)
    Path("right.csv").write_text(Path("r.csv").read_text().replace("control,1066.0", "control,900"))
    head = digest()
    assert ok(capsys, "record", "right.csv") == "plate 0: 16 already known\n" and digest() == head
    with pb.Study.open("study.db") as study:
        assert study.batch(0).states[1] == "lost"
        assert np.flatnonzero(np.isnan(readings_of(study)[0].values)).tolist() == [2, 17]
    assert "1 result changed" in ok(capsys, "amend", "--plate", "0", "--well", "A3=500", *why)
    with pb.Study.open("study.db") as study:
        values = study.batch(0).values
        assert values[1] == values[0] and readings_of(study)[0].values[2] == 500.0
        study.verify()
    # a different reading of the well is new
    ok(capsys, "amend", "--plate", "0", "--well", "A3=failed", *why)
    Path("again.csv").write_text(Path("right.csv").read_text().replace("gene 1,500.0",
                                                                       "gene 1,480"))
    assert ok(capsys, "record", "again.csv").startswith("plate 0: 1 new, 15 already known")


@pytest.mark.parametrize("kind", ["percent", "inhibition"])
def test_late_positive_controls_are_accepted(kind, capsys):
    """Results depend on them only if they are inhibitions."""
    value = {"control": 1000.0, "positive": 100.0}
    ok(capsys, *NEW, *CONTROLS, "--normalise", kind)
    ok(capsys, "next", "-o", "p.csv")
    ok(capsys, "record", fill("p.csv", "r.csv", value=lambda row: "" if row[1] == "A6"
                              else value.get(row[2], 500.0)), "--lost")
    whole = fill("p.csv", "r.csv", value=lambda row: value.get(row[2], 500.0))
    if kind == "percent":
        assert "already known" in ok(capsys, "record", whole)
    else:
        assert "control well A6 of plate 0 has a value now" in refused(capsys, "record", whole)


@pytest.mark.parametrize("arguments, message", [
    (["--reason", "x"], "--file with readings, or --plate with --well WELL=VALUE"),
    (["--reason", "x", "--well", "A2=1"], "--well needs --plate"),
    (["--reason", " ", "--plate", "0", "--well", "A2=1"], "reason must say why"),
    (["--reason", "x", "--plate", "zero", "--well", "A2=1"], "--plate must be the name of a plate"),
    (["--reason", "x", "--plate", "0p2", "--well", "A2=1"], "--plate must be 0, the only"),
    (["--reason", "x", "--plate", "9", "--well", "A2=1"], "a plate of a batch that was asked for"),
    (["--reason", "x", "--plate", "0", "--well", "A9=1"], "--well must be WELL=VALUE.*'A9=1'"),
    (["--reason", "x", "--plate", "0", "--well", "A2"], "--well must be WELL=VALUE"),
    (["--reason", "x", "--plate", "0", "--well", "A2=1", "--well", "a02=2"], "each well once"),
    (["--reason", "x", "--plate", "0", "--well", "A2=one"], "--well A2=one: 'one' is not a finite"),
    (["--reason", "x", "--plate", "0", "--well", "D5=1"], "D5 of plate 0.*no result to amend"),
])
def test_invalid_amendments_are_rejected(arguments, message, capsys):
    import re

    ok(capsys, *NEW, *CONTROLS)
    ok(capsys, "next", "-o", "p.csv")
    ok(capsys, "record", fill("p.csv", "r.csv", keep=lambda row: row[1] != "D5"), "--partial")
    assert re.search(message, refused(capsys, "amend", *arguments))


def test_missing_readings_are_amended_by_a_whole_plate(capsys):
    """Results reported from Python have no readings; a file of the plate amends them."""
    ok(capsys, *NEW, *CONTROLS, "--normalise")
    ok(capsys, "next", "-o", "p.csv")
    with pb.Study.open("study.db") as study:
        study.tell(0, np.full(16, 0.5))
    said = refused(capsys, "amend", "--plate", "0", "--well", "A2=1", "--reason", "x")
    assert "is stored, because its results were reported from Python; pass a file of" in said
    assert ok(capsys, "amend", "--file", fill("p.csv", "r.csv"), "--reason", "x") == (
        "plate 0: 24 readings amended; 16 results changed\n")


def test_status_and_report_show_the_quality_of_plates(capsys):
    recorded(capsys)
    line = next(line for line in ok(capsys, "status").splitlines() if "Z'" in line)
    assert line == ("quality plate 0: control 1066 ± 1.29 (4), positive 166.5 ± 1.29 (4), "
                    "Z' 0.99")
    found = as_json(capsys, "status")["controls"]
    assert [one["files"] for one in found] == [["r.csv"]]
    assert found[0]["z_prime"] == pytest.approx(1 - 6 * np.std([1, 2, 3, 4], ddof=1) / 900)


# orders and robots

@pytest.mark.parametrize("options", [["--fill", "shuffled", "--fill-seed", "3"],
                                     ["--fill", "apart", "--free-edges", "--batches", "40"]])
def test_plates_in_another_order_are_recorded(options, capsys):
    ok(capsys, *NEW, *options)
    ok(capsys, "next", "-o", "p.csv")
    wells = [row[1] for row in rows_of("p.csv")[1:]]
    assert ("A2" in wells) == (options[1] == "shuffled")
    ok(capsys, "record", fill("p.csv", "r.csv", value=lambda row: float(row[2].split()[1])))
    with pb.Study.open("study.db") as study:
        record = study.batch(0)
        assert [float(name.split()[1]) for name in record.names] == record.values.tolist()
    ok(capsys, "export", "all.csv")
    assert {tuple(row[1:3]) for row in rows_of("all.csv")[1:]} == {
        tuple(row[1:3]) for row in rows_of("p.csv")[1:]}
    assert options[1] in ok(capsys, "status")
    ok(capsys, "report", "-o", "report.html")


@pytest.mark.parametrize("form", ["echo", "opentrons", "hamilton"])
def test_picklist_of_a_robot_fills_the_plate(form, capsys):
    ok(capsys, *NEW, "--controls", "A1,B1", "--fill", "shuffled")
    with open("stock.csv", "w", newline="") as file:
        csv.writer(file).writerows([["plate", "well", "arm"], *(
            [f"S{i // 24}", "ABCD"[i // 6 % 4] + str(i % 6 + 1), name]
            for i, name in enumerate(GENES))])
    ok(capsys, "next", "-o", "p.csv")
    said = ok(capsys, "next", "--format", form, "--stock", "stock.csv", "--volume", "5", "-o",
              "list.csv")
    assert said.startswith("plate 0: 22 transfers, in list.csv\n")
    assert "control, 2 wells, is not in the stock" in said
    done = as_json(capsys, "next", "--format", form, "--stock", "stock.csv", "--volume", "5")
    filled = {(plate, well): arm for _, _, plate, well, arm in done["transfers"]}
    assert filled == {(row[0], row[1]): row[2] for row in rows_of("p.csv")[1:]
                      if row[2] != "control"}
    assert "needs --stock" in refused(capsys, "next", "--format", form, "--volume", "5")
    assert "needs --volume" in refused(capsys, "next", "--format", form, "--stock", "stock.csv")
    Path("stock.csv").write_text("plate,well,arm\nS1,A1,gene 0\n")
    assert "--stock must hold every arm" in refused(capsys, "next", "--format", form, "--stock",
                                                    "stock.csv", "--volume", "5")


def test_options_agree_with_the_library():
    """The command line repeats choices of the library, so that --help does not import SQLite."""
    assert _screen_options.FILLS == _fill.ORDERS
    assert tuple(_screen_options.HELP) == _read.COLUMNS
    assert screen.FORMATS == ("long", "grid", *_picklists.HEADERS)


def test_amendment_of_an_empty_well_or_unknown_plate_is_rejected(capsys):
    """A mistyped well must not print "nothing to amend"."""
    Path("names.csv").write_text("\n".join(GENES[:4]))
    ok(capsys, "new", "study.db", "--policy", "round-robin", "--arms", "names.csv", "--k", "1",
       "--batches", "2", "--plate", "4x6", "--free-edges")
    ok(capsys, "next", "-o", "plate.csv")
    fill("plate.csv", "results.csv")
    ok(capsys, "record", "results.csv")
    for well in ("A1=5", "A1=failed"):
        error = refused(capsys, "amend", "--plate", "0", "--well", well, "--reason", "a typo")
        assert "--well A1: well A1 of plate 0 is empty" in error
    error = refused(capsys, "amend", "--plate", "9", "--well", "B2=5", "--reason", "a typo")
    assert "--plate must be a plate of a batch that was asked for; got '9'" in error
