"""Markers of readers, such as OVRFLW, and limits, such as >4.000."""

from pathlib import Path

import numpy as np
import pytest

import pybandit as pb
from pybandit.lab.controls import readings_of

from cli.screen_commands import NEW, as_json, digest, fill, ok, refused

pytestmark = pytest.mark.usefixtures("folder")
CELLS = {"A1": "OVRFLW", "A2": "OVER", "A3": ">4.000", "A4": "<LOD", "A5": "MISSED", "A6": "NaN",
         "B1": "#N/A", "B2": "ovrflw", "B3": "*****", "B4": "--", "B5": "?????", "B6": "#Sat",
         "C1": "> 4.000", "C2": "<0.01", "C3": "Range?", "C4": "#DIV/0!", "C5": "n.d."}


def marked(capsys, cells=CELLS, options=(), value=0.5):
    ok(capsys, *NEW, *options)
    ok(capsys, "next", "-o", "p.csv")
    return fill("p.csv", "r.csv", value=lambda row: cells.get(row[1], value))


def test_markers_are_lost_wells_and_counted(capsys):
    path = marked(capsys)
    said = refused(capsys, "record", path)
    assert "line 2, column 'value': 'OVRFLW' is not a finite number; --lost or" in said
    done = as_json(capsys, "record", path, "--lost")
    assert (done["n_new"], done["n_lost"], done["limits"]) == (7, 17, {})
    assert done["markers"] == dict.fromkeys(CELLS.values(), 1)
    with pb.Study.open("study.db") as study:
        assert (study.batch(0).states == "lost").sum() == 17
    head = digest()
    assert ok(capsys, "record", path, "--lost").startswith(
        "plate 0: 7 already known; marked: #DIV/0! 1, #N/A 1, #Sat 1, ")
    assert digest() == head
    assert as_json(capsys, "status")["controls"][0]["markers"] == done["markers"]
    ok(capsys, "report", "-o", "r.html")
    page = Path("r.html").read_text()
    assert "Wells with a marker" in page and "OVRFLW" in page and "&gt;4.000" in page


def test_markers_are_counted_by_kind(capsys):
    path = marked(capsys, {"A1": "OVRFLW", "A2": "OVRFLW", "B1": "MISSED"})
    assert ok(capsys, "record", path, "--lost") == (
        "plate 0: 21 new, 3 lost; marked: MISSED 1, OVRFLW 2\n")


def test_limits_are_read_with_an_option(capsys):
    cells = {"A1": ">4.000", "A2": ">4.000", "B1": "<0.01", "B2": "\u22654"}
    path = marked(capsys, cells)
    assert "'>4.000' is not a finite number; --lost or --lost-markers counts the well as lost; " \
        "--take-limits reads it as 4" in refused(capsys, "record", path)
    assert ok(capsys, "record", path, "--take-limits") == (
        "plate 0: 24 new; at a limit: <0.01 1, >4.000 2, \u22654 1\n")
    with pb.Study.open("study.db") as study:
        assert study.batch(0).values[[0, 1, 6, 7]].tolist() == [4.0, 4.0, 0.01, 4.0]
        markers = readings_of(study)[0].markers
        assert {cell: wells.tolist() for cell, wells in markers.items()} == {
            ">4.000": [0, 1], "<0.01": [6], "\u22654": [7]}
    head = digest()
    assert "24 already known" in ok(capsys, "record", path, "--take-limits")
    assert digest() == head
    ok(capsys, "amend", "--plate", "0", "--well", "A2=3.5", "--reason", "diluted")
    assert as_json(capsys, "status")["controls"][0]["markers"] == {
        "<0.01": 1, ">4.000": 1, "\u22654": 1}
    ok(capsys, "report", "-o", "r.html")
    assert "the limit" in Path("r.html").read_text()


def test_limits_without_a_number_stay_lost(capsys):
    path = marked(capsys, {"A1": "<LOD", "A2": ">4.000"})
    assert "'<LOD'" in refused(capsys, "record", path, "--take-limits")
    assert ok(capsys, "record", path, "--take-limits", "--lost") == (
        "plate 0: 23 new, 1 lost; marked: <LOD 1; at a limit: >4.000 1\n")


def test_limits_with_decimal_commas_are_read(capsys):
    path = marked(capsys, {"A1": ">1.004,5"}, value="0,5")
    ok(capsys, "record", path, "--take-limits", "--decimal", ",", "--thousands", ".")
    with pb.Study.open("study.db") as study:
        assert study.batch(0).values[0] == 1004.5


def test_user_defined_markers_are_lost_wells(capsys):
    """Other cells without a value are still rejected."""
    path = marked(capsys, {"A1": "bubble", "A2": "BUBBLE"})
    assert "'bubble' is not" in refused(capsys, "record", path, "--lost")
    assert "'bubble' is not" in refused(capsys, "record", path, "--lost-markers", "OVRFLW")
    assert "got ' ,'" in refused(capsys, "record", path, "--lost-markers", " ,")
    mixed = fill("p.csv", "m.csv", value=lambda row: {"A1": "bubble", "A2": ""}.get(row[1], 1))
    assert "no value for well A2" in refused(capsys, "record", mixed, "--lost-markers", "bubble")
    assert ok(capsys, "record", path, "--lost-markers", "Bubble, OVRFLW") == (
        "plate 0: 22 new, 2 lost; marked: BUBBLE 1, bubble 1\n")


def test_marked_controls_are_lost(capsys):
    path = marked(capsys, {"A6": "OVRFLW"}, ["--controls", "col:6", "--normalise"])
    ok(capsys, "record", path, "--lost")
    with pb.Study.open("study.db") as study:
        assert study.batch(0).values.tolist() == [1.0] * 20
        assert np.isnan(readings_of(study)[0].values).tolist() == [i == 5 for i in range(24)]


def test_markers_withdraw_readings_in_an_amendment(capsys):
    path = marked(capsys, {})
    ok(capsys, "record", path)
    wrong = fill("p.csv", "w.csv", value=lambda row: "OVRFLW" if row[1] == "B2" else 0.5)
    assert "'OVRFLW'" in refused(capsys, "amend", "--file", wrong, "--reason", "saturated")
    done = as_json(capsys, "amend", "--file", wrong, "--reason", "saturated", "--lost")
    assert (done["n_readings"], done["n_withdrawn"]) == (1, 1)
    assert as_json(capsys, "status")["controls"][0]["markers"] == {"OVRFLW": 1}


def test_markers_in_a_grid_are_lost_wells(capsys):
    ok(capsys, *NEW)
    ok(capsys, "next")
    rows = [["", *range(1, 7)], *([letter, *[0.5] * 6] for letter in "ABCD")]
    rows[2][3] = "OVRFLW"
    Path("g.csv").write_text("\n".join(",".join(map(str, row)) for row in rows))
    assert "line 3, column '3': 'OVRFLW'" in refused(capsys, "record", "g.csv", "--plate", "0")
    assert ok(capsys, "record", "g.csv", "--plate", "0", "--lost") == (
        "plate 0: 23 new, 1 lost; marked: OVRFLW 1\n")
