"""Plates in various dialects of numbers. Found by tests/fuzz."""

import pytest

from pybandit.errors import UnreadableFileError
from pybandit.lab._read import read_plates
from pybandit.lab.plates import Layout, Plates
from pybandit.tables._sheet import PLAIN, Dialect

ARMS = ["tea", "milk", "gin", "rum", "mate", "soda"]


def values(tmp_path, text, dialect=PLAIN, layout=(2, 3)):
    path = tmp_path / "plate.csv"
    path.write_text(text)
    plates = Plates(Layout(*layout))
    return read_plates(path, plates, lambda batch: ARMS[:plates.layout.n_wells], 7,
                       dialect).values.tolist()


@pytest.mark.parametrize("decimal, cell", [(".", "-1_234_567.25"), (",", "-1_234_567,25")])
def test_underscores_separate_thousands(tmp_path, decimal, cell):
    """Once, the option was accepted, but every number with an underscore was rejected."""
    text = f"1;2;3\n{cell};2;3\n4;5;6\n"
    assert values(tmp_path, text, Dialect(decimal, "_"))[0] == -1234567.25
    for refused in ("1_2", "1_2345", "12_", "_123"):
        with pytest.raises(UnreadableFileError, match=f"'{refused}' is not a finite number"):
            values(tmp_path, text.replace(cell, refused), Dialect(decimal, "_"))
    with pytest.raises(UnreadableFileError, match="is not a finite number"):
        values(tmp_path, text, Dialect(decimal))


def test_first_row_of_readings_1_2_3_is_not_a_header(tmp_path):
    """In grids with row letters, it was once read as column numbers, and a row was missing."""
    expected = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    for text in ("plate,7\nA,1,2,3\nB,4,5,6\n", "plate,7\nA,1,2,3\nB,4,5,6\n,,,\n",
                 "plate,7\na,1,2,3\nb,4,5,6\n", "plate,7\n,1,2,3\nA,1,2,3\nB,4,5,6\n",
                 "1,2,3\n1,2,3\n4,5,6\n", "plate,7\n1,2,3\n4,5,6\n"):
        assert values(tmp_path, text) == expected, text
    assert values(tmp_path, "plate,7\nA,1\n", layout=(1, 1)) == [1.0]
