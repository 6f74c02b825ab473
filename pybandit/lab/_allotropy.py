"""Read files of instruments with the library allotropy, as rows of plate, well and value.

allotropy turns a file into a tree. The tree holds measurement documents, each of one well, and
these hold numbers such as "absorbance". A number may stand in a document inside the measurement,
such as that of an analyte or of processed data; its name then includes the name of that document.
"""

import io
import math
import warnings
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from pybandit._shared.errors import UnreadableFileError
from pybandit._shared.files import checked_archive, read_regular
from pybandit._shared.optional import require
from pybandit.lab._row_names import well_parts
from pybandit.tables._sheet import short

EXTRA = "lab"
MOST_BYTES = 1 << 25
DEEPEST = 40  # levels of nested documents
WELLS = "well location identifier", "location identifier"
WAVELENGTHS = "excitation wavelength setting", "detector wavelength setting"
# Documents of a measurement in which no number is a result.
PASSED = ("device control aggregate document", "sample document", "error aggregate document",
          "image aggregate document", "data source aggregate document",
          "calculated data aggregate document")
# Additional numbers of a measurement, which are read only if they are named.
BESIDE = "compartment temperature", "assay bead count", "total partition count"


class Value(NamedTuple):
    """A number of a well; `cell` is its text or a marker, `is_beside` True for one of `BESIDE`."""

    plate: str
    well: str
    name: str
    cell: str
    is_beside: bool


class Found(NamedTuple):
    """Format of a file, and name and values of the chosen measurement."""

    instrument: str
    measurement: str
    values: list


def read_instrument(path, instrument, wanted=None):
    """Return the values of one measurement.

    Parameters
    ----------
    path : str or path-like
    instrument : str
        Name of a format, or "auto".
    wanted : str, optional
        Name of the measurement; by default the only one.

    Returns
    -------
    Found

    Raises
    ------
    UnreadableFileError
        If the file cannot be read, or its format or the measurement is ambiguous.
    """
    factory = require("allotropy.parser_factory", EXTRA)
    content = read_regular(path, MOST_BYTES)
    if content[:4] == b"PK\3\4":
        checked_archive(io.BytesIO(content), "workbook or archive")
    name = Path(path).name
    if instrument.casefold() == "auto":
        vendor, values = _detected(factory, content, name)
    else:
        vendor = _vendor_of(factory, instrument)
        values = _values_by(vendor, content, name)
    title, chosen = _chosen(values, wanted)
    return Found(vendor.value, title, chosen)


def _vendor_of(factory, instrument):
    """Return the format of this name."""
    folded = instrument.strip().upper().replace("-", "_").replace(" ", "_")
    for vendor in factory.Vendor:
        if folded == vendor.value:
            return vendor
    names = ", ".join(vendor.value.lower() for vendor in factory.Vendor)
    raise UnreadableFileError(f"--instrument must be auto or one of {names}; got {instrument!r}")


def _detected(factory, content, name):
    """Return the format that recognises a file, and its values; raise if two disagree."""
    suffix = Path(name).suffix.casefold().lstrip(".")
    vendors = [one for one in factory.Vendor if suffix in one.supported_extensions]
    knowing = [one for one in vendors if _knows(one, content, name)]
    found = []
    for vendor in knowing or vendors:
        try:
            values = _values_by(vendor, content, name)
        except UnreadableFileError as error:
            if knowing == [vendor]:
                raise
            last = error
            continue
        if not found or values != found[0][1]:
            found.append((vendor, values))
    if len(found) == 1:
        return found[0]
    if found:
        names = ", ".join(vendor.value.lower() for vendor, _ in found)
        raise UnreadableFileError(f"formats read the file differently: {names}; choose one with "
                                  "--instrument")
    raise UnreadableFileError("no format of allotropy reads the wells of this file" + (
        f"; error of the last one tried: {last}" if len(knowing) > 1 else ""))


def _knows(vendor, content, name):
    """Return True if a format recognises a file."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return bool(type(vendor.get_parser()).sniff(_named(content, name)))
        except Exception:  # a parser of another format may raise anything
            return False


def _named(content, name):
    files = require("allotropy.named_file_contents", EXTRA)
    return files.NamedFileContents(io.BytesIO(content), name)


def _values_by(vendor, content, name):
    """Return the values that a format reads in a file; UnreadableFileError if it reads none."""
    library = require("allotropy.to_allotrope", EXTRA)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            tree = library.allotrope_from_io(io.BytesIO(content), name, vendor)
        except Exception as error:  # raised by allotropy, pandas or an XML parser
            words = " ".join(str(error).split()) or type(error).__name__
            raise UnreadableFileError(f"allotropy cannot read this file in the format "
                                      f"{vendor.value.lower()}: {words:.300}") from None
    values = values_of(tree)
    if not values:
        raise UnreadableFileError(f"allotropy read this file in the format {vendor.value.lower()}, "
                                  "but found no measured value of any well")
    return values


def values_of(tree):
    """Return every number of every well in a tree of allotropy, in order."""
    values, times, places = [], Counter(), {}
    for one in _documents(tree, "measurement document", 0):
        sample = one.get("sample document")
        sample = sample if isinstance(sample, dict) else {}
        well = next((str(sample[key]) for key in WELLS if well_parts(str(sample.get(key, "")))),
                    None)
        if well is None:
            continue  # not a well, such as a ladder or a blank
        plate = str(sample.get("well plate identifier", ""))
        errors = _errors_of(one)
        for key, name, number in _numbers(one, "", 0):
            title = " ".join(filter(None, (name, _wavelength(one) if name == key else "")))
            times[plate, well, title] += 1
            again = times[plate, well, title]
            title += f" ({again})" if again > 1 else ""
            cell = errors.get(key) or errors.get("") or _cell_of(number)
            values.append(Value(plate, well, title, cell, key in BESIDE))
        places[str(one.get("measurement identifier", ""))] = plate, well
    return values + _calculated(tree, places)


def _calculated(tree, places):
    """Return the numbers that are calculated from one well each."""
    values, times = [], Counter()
    for one in _documents(tree, "calculated data document", 0):
        number, name = one.get("calculated result"), one.get("calculated data name")
        sources = set(_texts(one, "data source identifier", 0))
        wells = {places[source] for source in sources if source in places}
        if len(wells) == 1 and isinstance(number, dict) and "value" in number and name:
            place, = wells
            times[place, name] += 1
            again = f" ({times[place, name]})" if times[place, name] > 1 else ""
            values.append(Value(*place, f"{name}{again}", _cell_of(number["value"]), False))
    return values


def _texts(part, wanted, depth):
    """Yield the values of a key anywhere in a document, as text."""
    if isinstance(part, dict) and depth <= DEEPEST:
        for key, value in part.items():
            if key == wanted:
                yield str(value)
            else:
                yield from _texts(value, wanted, depth + 1)
    elif isinstance(part, list) and depth <= DEEPEST:
        for one in part:
            yield from _texts(one, wanted, depth + 1)


def _documents(tree, name, depth):
    """Yield the documents of a name in a tree."""
    if depth > DEEPEST:
        return
    if isinstance(tree, dict):
        for key, part in tree.items():
            if key == name and isinstance(part, list):
                yield from (one for one in part if isinstance(one, dict))
            else:
                yield from _documents(part, name, depth + 1)
    elif isinstance(tree, list):
        for part in tree:
            yield from _documents(part, name, depth + 1)


def _numbers(part, names, depth):
    """Yield key, name and value of each number in a measurement document."""
    if depth > DEEPEST:
        return
    if isinstance(part, list):
        for one in part:
            yield from _numbers(one, names, depth + 1)
        return
    if not isinstance(part, dict):
        return
    own = " ".join([names, *(_words(part) if depth else ())]).strip()
    for key, value in part.items():
        if key in PASSED or key.startswith("custom information") or key.endswith("cube"):
            continue
        if isinstance(value, dict) and "value" in value:
            yield key, " ".join(filter(None, (key, own, *_words(value)))), value["value"]
        else:
            yield from _numbers(value, own, depth + 1)


def _words(part):
    """Return names and roles in a document, which distinguish its numbers."""
    return [text for key, text in part.items()
            if isinstance(text, str) and key.endswith((" name", " role"))]


def _wavelength(one):
    """Return the wavelengths of a measurement in words, "" if it has none."""
    try:
        device = one["device control aggregate document"]["device control document"][0]
    except (KeyError, IndexError, TypeError):
        return ""
    found = [device[key]["value"] for key in WAVELENGTHS
             if isinstance(device.get(key), dict) and "value" in device[key]]
    return "/".join(f"{value:g}" if isinstance(value, float) else str(value)
                    for value in found) + " nm" * bool(found)


def _errors_of(one):
    """Return markers by the name of the number that they replace; "" means all numbers."""
    try:
        errors = one["error aggregate document"]["error document"]
        return {str(error.get("error feature", "")): str(error["error"]) for error in errors}
    except (KeyError, TypeError, AttributeError):
        return {}


def _cell_of(number):
    """Return a value as text; "" for -0.0, which allotropy writes if there is none."""
    if isinstance(number, bool) or not isinstance(number, (int, float)):
        return str(number)
    return "" if number == 0 and math.copysign(1.0, number) < 0 else repr(float(number))


def _chosen(values, wanted):
    """Return the name and the values of one measurement."""
    every = list(dict.fromkeys(one.name for one in values))
    names = list(dict.fromkeys(one.name for one in values if not one.is_beside)) or every
    if wanted is not None:
        names = [name for name in every if name.casefold() == wanted.casefold()]
    if len(names) != 1:
        told = "" if wanted is None else f"there is no measurement {short(wanted)}; "
        raise UnreadableFileError(f"{told}the file has {len(every)} measurements; choose one with "
                                  "--measurement: "
                                  f"{', '.join(map(short, every[:20]))}"
                                  f"{', ...' * (len(every) > 20)}")
    return names[0], [one for one in values if one.name == names[0]]


def rows_of(found):
    """Return the header of a long table of values, and its rows, each with its number."""
    has_plate = any(one.plate for one in found.values)
    header = ["plate", "well", "value"] if has_plate else ["well", "value"]
    rows = ((at, [*[one.plate] * has_plate, one.well, one.cell])
            for at, one in enumerate(found.values, 1))
    return header, rows
