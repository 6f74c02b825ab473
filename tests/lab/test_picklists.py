"""Picklists for robots: written and read back."""

import csv
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pybandit.errors import UnreadableFileError
from pybandit.lab._picklists import (
    HEADERS,
    deck_of,
    picklist,
    read_picklist,
    read_stock,
    transfers_of,
)
from pybandit.lab.plates import Layout, Plates, controls_of

PLATE = Layout(8, 12)
STOCK = "plate,well,gene\nS1,A01,tp53\nS1,A2,myc\nS2,H12,egfr\nS2,B1,control\nS2,B2,control\n"


def stock_of(tmp_path, text=STOCK):
    path = tmp_path / "stock.csv"
    path.write_text(text)
    return read_stock(path)


def test_stock_is_read(tmp_path):
    assert stock_of(tmp_path) == {"tp53": [("S1", "A1")], "myc": [("S1", "A2")],
                                  "egfr": [("S2", "H12")],
                                  "control": [("S2", "B1"), ("S2", "B2")]}
    titled = "Library 7\n\n" + STOCK.replace(",", ";")
    assert stock_of(tmp_path, titled) == stock_of(tmp_path)


@pytest.mark.parametrize("text, message", [
    (STOCK.replace("gene", "colour"), "line 1, column 'arm': the column is missing"),
    (STOCK.replace("A2", "A1"), "line 3, column 'well': well A1 of plate S1 is on line 2 already"),
    (STOCK.replace("H12", "Z99"), "line 4, column 'well': 'Z99' is not a place where arm 'egfr'"),
    (STOCK.replace("S2,H12", ",H12"), "line 4, column 'plate': no plate is not a place"),
    (STOCK + "S2,C1\n", "line 7, column 3: the row has 2 cells, the header 3"),
    ("plate,well,arm\n", "line 1, column 1: there is a header but no arm"),
])
def test_invalid_stock_is_rejected(tmp_path, text, message):
    with pytest.raises(UnreadableFileError, match=f"stock.csv: {message}"):
        stock_of(tmp_path, text)


def test_formats_match_robot_documentation(tmp_path):
    """The formats are those in the documentation of the robots."""
    plates = Plates(PLATE, controls_of("H11,H12,G12", PLATE))
    names, stock = ["myc", "tp53", "myc"], stock_of(tmp_path)
    transfers, by_hand = transfers_of(plates, 3, names, stock)
    assert by_hand == {}
    assert picklist(transfers, "echo", 2.5, PLATE).splitlines()[:2] == [
        "Source Plate Name,Source Well,Sample Name,Destination Plate Name,Destination Well,"
        "Transfer Volume", "S1,A2,myc,3,A1,2.5"]
    ot2 = picklist(transfers, "opentrons", 20, PLATE).splitlines()
    assert ot2[0] == ("Source Labware,Source Slot,Source Well,Source Aspiration Height Above "
                      "Bottom (in mm),Dest Labware,Dest Slot,Dest Well,Volume (in ul)")
    assert ot2[1] == ("corning_96_wellplate_360ul_flat,2,A2,1,corning_96_wellplate_360ul_flat,1,"
                      "A1,20")
    assert picklist(transfers, "hamilton", 20, PLATE).splitlines()[:2] == [
        "SourceLabwareID,SourcePositionID,TargetLabwareID,TargetPositionID,Volume",
        "S1,A2,3,A1,20"]
    # wells of the control are filled from its stock wells in turn
    assert [one.source_well for one in transfers[3:]] == ["B1", "B2", "B1"]
    assert transfers_of(Plates(PLATE, (0,), "water"), 3, names, stock)[1] == {"water": 1}


@pytest.mark.parametrize("form, volume, layout, message", [
    ("echo", 4.0, PLATE, "multiple of 2.5 nl for an Echo; got 4"),
    ("hamilton", -1.0, PLATE, "--volume must be positive; got -1"),
    ("hamilton", float("nan"), PLATE, "--volume must be positive; got nan"),
    ("opentrons", 5.0, Layout(2, 5), "no labware of an OT-2 is known for plates of 2x5 wells"),
    ("opentrons", 5.0, Layout(2, 3), "--stock must use plates of 2x3 wells.*well H12 of S2"),
])
def test_impossible_transfers_are_rejected(tmp_path, form, volume, layout, message):
    transfers, _ = transfers_of(Plates(layout), 0, ["egfr"], stock_of(tmp_path))
    with pytest.raises(ValueError, match=message):
        picklist(transfers, form, volume, layout)


def test_missing_stock_is_rejected(tmp_path):
    stock = stock_of(tmp_path)
    with pytest.raises(ValueError, match="'kras' is not in it .2 missing"):
        transfers_of(Plates(PLATE), 0, ["myc", "kras", "nras"], stock)
    many = {f"g{i}": [(f"S{i}", "A1")] for i in range(12)}
    transfers, _ = transfers_of(Plates(PLATE), 0, list(many), many)
    with pytest.raises(ValueError, match="10 free slots.*need 1 for plates and 12 for stock"):
        deck_of(transfers)


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(sorted(HEADERS)), st.integers(1, 250), st.integers(0, 9), st.data())
def test_picklists_round_trip(form, n, seed, data):
    """Reading a picklist returns the arm of each well, for any request and any order."""
    names = [f'gene "{data.draw(st.integers(0, 60))}", x' for _ in range(n)]
    stock = {f'gene "{i}", x': [(f"S{i // 40}", PLATE.wells[i % 40]),
                                (f"S{i // 40}", PLATE.wells[i % 40 + 50])] for i in range(61)}
    fill = data.draw(st.sampled_from(["rows", "apart"]))
    plates = Plates(PLATE, (5, 17), fill=fill, fill_seed=seed)
    transfers, by_hand = transfers_of(plates, 4, names, stock)
    assert by_hand == {"control": 2 * plates.n_plates(n)}
    text = picklist(transfers, form, 25, PLATE)
    deck = deck_of(transfers) if form == "opentrons" else None
    labels, parts = plates.labels(4, names), plates.names(4, n)
    expected = {(parts[i // 96], PLATE.wells[i % 96]): label for i, label in enumerate(labels)
                if label not in ("", "control")}
    assert read_picklist(text, form, stock, deck) == expected
    assert len(list(csv.reader(io.StringIO(text)))) == n + 1
