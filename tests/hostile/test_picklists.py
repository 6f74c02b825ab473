"""Hostile stock files, from which picklists are made."""

import pytest

from pybandit.lab._picklists import read_picklist, transfers_of
from pybandit.lab.plates import Layout, Plates

from hostile.special import attacked, check_refused
from hostile.test_csv import table

HEADER = b"plate,well,arm\n"


def stocks():
    return table(HEADER, b"s,A1,tea\n") | {
        "well of 100,000 letters": (HEADER + b"s," + b"A" * 100_000 + b"1,tea\n",
                                    "is not a place where arm"),
        "well of 4,000 digits": (HEADER + b"s,A" + b"1" * 4000 + b",tea\n",
                                 "is not a place where arm"),
        "well of other digits": (HEADER + "s,A\u0661,tea\n".encode(), "is not a place where arm"),
        "place of ..": (HEADER + b"s,../../x,tea\n", "is not a place where arm"),
        "no plate": (HEADER + b",A1,tea\n", "no plate"),
        "one place twice": (HEADER + b"s,A1,tea\ns,A01,milk\n", "line 2 already"),
        "a million rows": (HEADER + b"s,A1,\n" * 1_100_000, "at most 1,048,576 lines"),
        "no arms": (HEADER + b"s,A1,\n" * 1000, "no arm below it"),
        "columns missing": (b"plate,well\ns,A1\n", "the column is missing")}


def test_hostile_stocks_are_refused(tmp_path):
    check_refused(attacked(tmp_path, "stock", stocks(), ".csv"), least=25)


@pytest.mark.parametrize("name", ["=cmd|' /C calc'!A0", "a\nb", "..", "a" * 1000, "\u202eabc"])
def test_arm_names_do_not_become_paths(name):
    """Arm names are cells of a picklist; no file is named after one."""
    plates = Plates(Layout(1, 1))
    transfers, _ = transfers_of(plates, 0, [name], {name: [("s", "A1")]})
    assert [one.arm for one in transfers] == [name]
    with pytest.raises(KeyError):
        read_picklist("Source Plate Name,Source Well,Destination Plate Name,Destination Well\n"
                      "x,A1,0,A1\n", "echo", {name: [("s", "A1")]})
