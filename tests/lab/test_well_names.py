"""Names of wells: one form is written, several are read; the whole file decides which."""

import random

import pytest

from pybandit.errors import UnreadableFileError
from pybandit.lab._picklists import read_stock
from pybandit.lab._read import read_plates
from pybandit.lab.plates import Layout, Plates, controls_of, letters
from pybandit.tables._sheet import PLAIN

LARGE = Layout(32, 48)
LATE = "abcdef"


def name_of(form, row):
    """Return a row's name as an instrument writes it."""
    name = letters(row)
    return {"AA": name, "Aa": name.capitalize(), "aa": name.lower(),
            "a": name if row < 26 else LATE[row - 26] if row < 32 else name}[form]


def read(tmp_path, wells, layout=LARGE, arms=None, header="well,value"):
    """Read wells whose values are their positions; (name, position) each."""
    path = tmp_path / "plate.csv"
    rows = [f"{name},{value}" + (f",{arms[value]}" if arms else "") for name, value in wells]
    path.write_text("\n".join([header + ",arm" * bool(arms), *rows]))
    names = [f"g{i}" for i in range(layout.n_wells)]
    return read_plates(path, Plates(layout), lambda batch: names, 0, PLAIN)


def wells_of(form, rows=range(32), columns=range(48)):
    return [(f"{name_of(form, row)}{column + 1}", row * 48 + column)
            for row in rows for column in columns]


def right(reading):
    """Return the number of values that equal their position; all others must be NaN."""
    known = [(at, value) for at, value in enumerate(reading.values) if value == value]
    assert all(at == value for at, value in known)
    return len(known)


@pytest.mark.parametrize("form", ["AA", "Aa", "aa", "a"])
def test_rows_after_z_are_read_in_every_form(tmp_path, form):
    """Once, a1 was read as A1, and 288 readings went to the wrong wells."""
    wells = wells_of(form)
    assert right(read(tmp_path, wells)) == 1536
    random.Random(1).shuffle(wells)
    assert right(read(tmp_path, [(name.replace("1", "01", 1) if name[1:] == "1" else name, value)
                                 for name, value in wells])) == 1536
    assert right(read(tmp_path, wells_of(form, range(16, 32)))) == 16 * 48
    some = wells_of(form, range(0, 32, 3), range(0, 48, 5))
    if form == "a":
        with pytest.raises(UnreadableFileError,
                           match="may be row .* the file does not decide"):
            read(tmp_path, [(name, value) for name, value in some if name[0] not in "GJMPSVY"])
    else:
        assert right(read(tmp_path, some)) == len(some)


@pytest.mark.parametrize("wells", [
    wells_of("a", range(26, 32)), [("a1", 0)], [("f48", 0), ("b2", 1)], [("A1", 0), ("b2", 1)],
    [*wells_of("AA", range(20))[1:], ("a1", 0)]])
def test_ambiguous_lower_case_rows_are_rejected(tmp_path, wells):
    with pytest.raises(UnreadableFileError,
                       match=r"line \d+, column 'well': .*may be row [A-F] or in row A"
                                      r"|may be row [A-F] or row A[A-F]"):
        read(tmp_path, wells)


def test_file_in_lower_case_is_read(tmp_path):
    wells = [(name.lower(), value) for name, value in wells_of("AA")]
    assert right(read(tmp_path, wells)) == 1536
    assert right(read(tmp_path, wells[:26 * 48])) == 26 * 48
    assert right(read(tmp_path, [(name, value) for name, value in wells
                                 if name[0] in "abg"])) > 96


def test_arms_resolve_ambiguous_rows(tmp_path):
    late, early = wells_of("a", range(26, 32)), [(name.lower(), value) for name, value in
                                                 wells_of("AA", range(6))]
    arms = [f"g{i}" for i in range(1536)]
    assert right(read(tmp_path, late, arms=arms)) == 288
    assert right(read(tmp_path, early, arms=arms)) == 288
    with pytest.raises(UnreadableFileError, match="may be row A|holds 'g0', not"):
        read(tmp_path, late, arms=["other"] * 1536)


def test_repeated_well_is_rejected(tmp_path):
    with pytest.raises(UnreadableFileError,
                       match="line 3, column 'well': well a1 of plate 0 is on line 2"):
        read(tmp_path, [("a1", 0), ("a1", 0)])
    with pytest.raises(UnreadableFileError, match="well AA1 of plate 0 is on line 2 already"):
        read(tmp_path, [("AA1", 0), ("A1", 5), ("aa1", 0)])
    with pytest.raises(UnreadableFileError, match="'AG1' is not a well"):
        read(tmp_path, [("AG1", 0)])


@pytest.mark.parametrize("size", [6, 12, 24, 48, 96, 384])
@pytest.mark.parametrize("form", [str, str.lower, lambda name: f"{name[0]}0{name[1:]}",
                                  lambda name: f"{name[0]}-{name[1:]}",
                                  lambda name: f" {name[0]} {name[1:]} "])
def test_wells_of_smaller_plates_are_read(tmp_path, size, form):
    layout = Layout.parse(str(size))
    wells = [(form(name), at) for at, name in enumerate(layout.wells)]
    assert right(read(tmp_path, wells, layout)) == size
    mixed = [(name if at % 2 else form(name), at) for at, name in enumerate(layout.wells)]
    assert right(read(tmp_path, mixed, layout)) == size


def test_grids_of_1536_wells_are_read(tmp_path):
    for form in ("AA", "Aa", "aa", "a"):
        rows = [",".join(["", *map(str, range(1, 49))])]
        rows += [",".join([name_of(form, row), *(str(row * 48 + i) for i in range(48))])
                 for row in range(32)]
        path = tmp_path / "grid.csv"
        path.write_text("\n".join(rows))
        assert right(read_plates(path, Plates(LARGE), lambda batch: ["g"] * 1536, 0)) == 1536


def test_ambiguous_typed_wells_are_rejected():
    for text in ("a1", "row:a", "f48"):
        with pytest.raises(ValueError, match=f"row (A or AA|F or AF); got '{text}'"):
            controls_of(text, LARGE)
    assert controls_of("A1,aa1,Af48,row:AA", LARGE)[0] == 0
    assert controls_of("a1,row:b", Layout(8, 12))[:2] == (0, 12)
    assert LARGE.find("a1") == 0 and LARGE.find_typed("g1") == 6 * 48


def test_stock_in_lower_case_is_read(tmp_path):
    def stock(*wells):
        path = tmp_path / "stock.csv"
        path.write_text("plate,well,arm\n" + "".join(f"s,{well},{i}\n" for i, well in
                                                     enumerate(wells)))
        return [place[1] for places in read_stock(path).values() for place in places]

    assert stock("a1", "b2", "A3") == ["A1", "B2", "A3"]
    assert stock("A1", "a1", "f24") == ["A1", "AA1", "AF24"]
    assert stock("G48", "a1") == ["G48", "AA1"]
    with pytest.raises(UnreadableFileError, match="'well': a1 may be row A or row AA"):
        stock("a1", "b48")
