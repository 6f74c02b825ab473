"""record --instrument: files read by allotropy; the files here are invented."""

import os
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import pybandit as pb
from pybandit import cli
from pybandit.errors import UnreadableFileError
from pybandit.lab import Layout, Plates, Screen, _allotropy
from pybandit.lab._allotropy import read_instrument, values_of
from pybandit.lab.controls import readings_of

from cli.screen_commands import as_json, digest, ok, refused

pytestmark = pytest.mark.usefixtures("folder")
GENES = [f"gene {i}" for i in range(96)]


# trees of allotropy

def measured(well, key="absorbance", value=0.5, plate="P1", wavelength=450.0, **more):
    """Return a measurement document as in allotropy."""
    device = {"detection type": "Absorbance"}
    if wavelength:
        device["detector wavelength setting"] = {"value": wavelength, "unit": "nm"}
    return {"sample document": {"location identifier": well, "well plate identifier": plate},
            "measurement identifier": f"{plate} {well} {wavelength}",
            "device control aggregate document": {"device control document": [device]},
            key: {"value": value, "unit": "mAU"}, **more}


def tree(*documents, **more):
    return {"plate reader aggregate document": {"plate reader document": [
        {"measurement aggregate document": {"measurement document": list(documents)},
         "plate well count": {"value": 96, "unit": "#"}}], **more}}


def test_numbers_of_wells_are_found():
    found = values_of(tree(measured("A1"), measured("B2", value=np.float64(-1.5),
                                                    wavelength=600.0),
                           measured("N/A"), measured("C3", value=-0.0)))
    assert [tuple(one) for one in found] == [
        ("P1", "A1", "absorbance 450 nm", "0.5", False),
        ("P1", "B2", "absorbance 600 nm", "-1.5", False),
        ("P1", "C3", "absorbance 450 nm", "", False)]  # -0.0 means no value


def test_errors_become_markers():
    """allotropy writes the value -0.0 with an error."""
    def error(**feature):
        return {"error aggregate document": {"error document": [{"error": "OVRFLW"} | feature]}}

    cells = [one.cell for one in values_of(tree(
        measured("A1", value=-0.0, **error(**{"error feature": "absorbance"})),
        measured("A2", value=-0.0, **error()),
        measured("A3", value=1.0, **error(**{"error feature": "mean"}))))]
    assert cells == ["OVRFLW", "OVRFLW", "1.0"]


def test_measurements_of_a_well_have_different_names():
    analytes = {"analyte aggregate document": {"analyte document": [
        {"analyte name": name, "fluorescence": {"value": value, "unit": "RFU"}}
        for name, value in (("IL-2", 3.0), ("IL-6", 4.0))]}}
    calculated = {"calculated data aggregate document": {"calculated data document": [
        {"calculated data name": "blanked", "calculated result": {"value": 0.4, "unit": "mAU"},
         "data source aggregate document": {"data source document": [
             {"data source identifier": "P1 A1 450.0"}]}},
        {"calculated data name": "mean", "calculated result": {"value": 0.9, "unit": "mAU"},
         "data source aggregate document": {"data source document": [
             {"data source identifier": "P1 A1 450.0"},
             {"data source identifier": "P1 A2 450.0"}]}}]}}
    found = values_of(tree(measured("A1"), measured("A1", value=0.7), measured("A2"),
                           measured("A1", "compartment temperature", 37.0, wavelength=None,
                                    **analytes),
                           **calculated))
    assert [(one.well, one.name, one.cell, one.is_beside) for one in found] == [
        ("A1", "absorbance 450 nm", "0.5", False), ("A1", "absorbance 450 nm (2)", "0.7", False),
        ("A2", "absorbance 450 nm", "0.5", False), ("A1", "compartment temperature", "37.0", True),
        ("A1", "fluorescence IL-2", "3.0", False), ("A1", "fluorescence IL-6", "4.0", False),
        ("A1", "blanked", "0.4", False)]
    assert _allotropy._chosen(found[2:4], None)[0] == "absorbance 450 nm"
    with pytest.raises(UnreadableFileError,
                       match="5 measurements; choose one with --measurement: 'absorbance 450"):
        _allotropy._chosen([one for one in found if one.name[-1] != ")"], None)


def test_tree_without_wells_has_no_numbers():
    deep = {"a": []}
    for _ in range(300):
        deep = {"a": [deep]}
    for odd in ({}, [], None, deep, {"measurement document": 3}, tree({}, {"absorbance": 1}),
                tree({"sample document": "A1", "absorbance": {"value": 1}})):
        assert values_of(odd) == []


class Vendors(list):
    """Replace the formats of allotropy: names, whether they accept a file, and their results."""

    def __init__(self, *formats):
        super().__init__(SimpleNamespace(value=name, supported_extensions=["txt"], knows=knows,
                                         found=found) for name, knows, found in formats)


@pytest.mark.parametrize("formats, expected", [
    ([("A", True, 1.0), ("B", False, 2.0)], ("A", "1.0")),
    ([("A", False, None), ("B", False, 2.0)], ("B", "2.0")),
    ([("A", True, 1.0), ("B", True, 1.0)], ("A", "1.0")),
    ([("A", True, 1.0), ("B", True, 2.0)], "read the file differently: a, b; choose one"),
    ([("A", False, 1.0), ("B", False, 2.0)], "read the file differently: a, b"),
    ([("A", True, None)], "cannot"), ([("A", False, None)], "no format of allotropy reads")])
def test_auto_takes_the_only_format_or_fails(formats, expected, monkeypatch):
    def read(vendor, content, name):
        if vendor.found is None:
            raise UnreadableFileError("cannot")
        return values_of(tree(measured("A1", value=vendor.found)))

    monkeypatch.setattr(_allotropy, "_knows", lambda vendor, content, name: vendor.knows)
    monkeypatch.setattr(_allotropy, "_values_by", read)
    factory = SimpleNamespace(Vendor=Vendors(*formats))
    if isinstance(expected, str):
        with pytest.raises(UnreadableFileError, match=expected):
            _allotropy._detected(factory, b"", "r.txt")
    else:
        vendor, values = _allotropy._detected(factory, b"", "r.txt")
        assert (vendor.value, values[0].cell) == expected


# files of a reader

def gen5(path, reads=("od:450",), plate="Plate 1", cells=None):
    """Write a Gen5 export of a plate with 96 wells: one line per row and read."""
    names = ", ".join(read.split(":")[1] for read in reads)
    lines = ["", "Software Version\t3.12.08", "", "Experiment File Path:\t",
             "Protocol File Path:\tC:\\od.prt", "", f"Plate Number\t{plate}", "Date\t4/11/2026",
             "Time\t5:27:15 PM", "Reader Type:\tSynergy H1", "Reader Serial Number:\tUnknown",
             "Reading Type\tReader", "", "Procedure Details", "", "Plate Type\t96 WELL PLATE",
             "Read\tod", "\tAbsorbance Endpoint", "\tFull Plate", f"\tWavelengths:  {names}",
             "\tRead Speed: Normal,  Delay: 100 msec,  Measurements/Data Point: 8", "", "Results",
             "\t" + "\t".join(map(str, range(1, 13)))]
    for row, letter in enumerate("ABCDEFGH"):
        for at, read in enumerate(reads):
            values = [(cells or {}).get(f"{letter}{column + 1}",
                                        f"{at + (row * 12 + column) / 1000:.3f}")
                      for column in range(12)]
            lines.append("\t".join([letter if at == 0 else "", *values, read]))
    Path(path).write_text("\n".join([*lines, ""]))
    return path


@pytest.fixture
def screen(folder):
    (folder / "genes.csv").write_text("\n".join(["gene", *GENES]))
    policy = pb.policies.RoundRobin(96, 1, batch_size=96, max_batches=3)
    with Screen.create("study.db", policy, GENES, plates=Plates(Layout(8, 12))) as screen:
        screen.ask()


def test_plain_reader_reads_the_same_file(screen, capsys):
    """The grid in such a file can be read without --instrument, too."""
    path = gen5("r.txt", cells={"B2": "OVRFLW"})
    assert ok(capsys, "record", path, "--plate", "0", "--lost") == (
        "plate 0: 95 new, 1 lost; marked: OVRFLW 1\n")
    with pb.Study.open("study.db") as study:
        assert study.batch(0).values[[0, 1, 95]].tolist() == [0.0, 0.001, 0.095]
    two = gen5("two.txt", ("od:450", "od:600"))
    assert "2 measurements of a plate; choose one with --measurement: 'od:450'," in refused(
        capsys, "record", two, "--plate", "0")


def test_file_of_an_instrument_is_recorded(screen, capsys):
    pytest.importorskip("allotropy")
    path = gen5("r.txt", cells={"A1": "0.250", "B2": "OVRFLW", "H12": "MISSED"})
    for options in (["auto"], ["agilent-gen5"]):
        assert "'Plate 1' is not the name of a plate; name the plate" in refused(
            capsys, "record", path, "--instrument", *options)
    assert "'OVRFLW' is not a finite number; --lost or" in refused(
        capsys, "record", path, "--instrument", "auto", "--plate", "0")
    done = as_json(capsys, "record", path, "--instrument", "auto", "--plate", "0", "--lost")
    assert (done["n_new"], done["n_lost"]) == (94, 2)
    assert done["measurement"] == "absorbance 450 nm of agilent_gen5"
    assert done["markers"] == {"OVRFLW": 1, "MISSED": 1}
    with pb.Study.open("study.db") as study:
        assert study.batch(0).values[[0, 1, 94]].tolist() == [0.25, 0.001, 0.094]
        assert readings_of(study)[0].files == ["r.txt"]
    head = digest()
    assert "94 already known" in ok(capsys, "record", path, "--instrument", "AGILENT_GEN5",
                                    "--plate", "0", "--lost")
    assert digest() == head
    done = as_json(capsys, "amend", "--file", gen5("o.txt", cells={
        "A1": "0.300", "B2": "OVRFLW", "H12": "MISSED"}), "--instrument", "auto", "--plate", "0",
        "--lost", "--reason", "read again")
    assert (done["n_readings"], done["n_amended"], done["n_withdrawn"]) == (1, 1, 0)


def test_one_of_several_measurements_is_selected(screen, capsys):
    pytest.importorskip("allotropy")
    path = gen5("r.txt", ("od:450", "od:600"))
    options = ["--instrument", "auto", "--plate", "0"]
    assert "the file has 2 measurements; choose one with --measurement: 'absorbance 450 nm', " \
        "'absorbance 600 nm'" in refused(capsys, "record", path, *options)
    assert "there is no measurement 'od'" in refused(capsys, "record", path, *options,
                                                     "--measurement", "od")
    assert ok(capsys, "record", path, *options, "--measurement", "Absorbance 600 nm").endswith(
        "checked\nmeasurement: absorbance 600 nm of agilent_gen5\n")
    with pb.Study.open("study.db") as study:
        assert study.batch(0).values[[0, 95]].tolist() == [1.0, 1.095]


def test_files_unknown_to_allotropy_are_rejected(screen, capsys):
    pytest.importorskip("allotropy")
    Path("r.txt").write_text("nothing\n")
    said = refused(capsys, "record", "r.txt", "--instrument", "auto", "--plate", "0")
    assert "r.txt: no format of allotropy reads the wells of this file" in said
    said = refused(capsys, "record", "r.txt", "--instrument", "bmg_mars", "--plate", "0")
    assert "r.txt: allotropy cannot read this file in the format bmg_mars: Unsupported file" in said
    said = refused(capsys, "record", "r.txt", "--instrument", "abacus", "--plate", "0")
    assert "--instrument must be auto or one of agilent_gen5, " in said and "got 'abacus'" in said
    assert "cannot be read" in refused(capsys, "record", "none.txt", "--instrument", "auto",
                                       "--plate", "0")


def test_hostile_files_are_rejected_before_they_are_read(folder):
    pytest.importorskip("allotropy")
    os.mkfifo("pipe.txt")
    with pytest.raises(OSError, match="regular file; got a FIFO"):
        read_instrument("pipe.txt", "auto")
    with open("large.txt", "wb") as file:
        file.truncate(_allotropy.MOST_BYTES + 1)
    with pytest.raises(UnreadableFileError, match="must have at most 33,554,432 bytes"):
        read_instrument("large.txt", "auto")
    Path("bomb.xlsx").write_bytes(b"PK\3\4" + bytes(100))
    with pytest.raises(UnreadableFileError, match="workbook or archive"):
        read_instrument("bomb.xlsx", "auto")


def test_missing_allotropy_names_the_extra(screen, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "allotropy", None)
    for name in [name for name in sys.modules if name.startswith("allotropy.")]:
        monkeypatch.delitem(sys.modules, name)
    assert cli.main(["screen", "record", gen5("r.txt"), "--instrument", "auto"]) == 1
    assert "pip install 'pybandit-core[lab]'" in capsys.readouterr().err
