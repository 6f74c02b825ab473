"""Count wells that `screen record --instrument` reads correctly, by format; prints Markdown.

    python bench/lab/instruments.py FOLDER [FORMAT ...]

FOLDER has a folder for each format, such as tests/parsers of allotropy's repository, in which
instrument files are next to the JSON expected for them, under the same name. A well is
right if the numbers of its measurements are exactly those of the JSON, each equally often. The JSON
is read by a few lines of this script, not by pybandit.
"""

import json
import math
import sys
from collections import Counter
from pathlib import Path

from pybandit.errors import UnreadableFileError
from pybandit.lab import _allotropy

HEAD = "| format | files read | wells right | remarks |\n| --- | ---: | ---: | --- |"
SETTINGS = ("device control aggregate document", "sample document", "error aggregate document",
            "image aggregate document")
WELL = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def documents(tree):
    """Yield every measurement document of a tree."""
    if isinstance(tree, dict):
        yield from tree.get("measurement document", [])
        tree = [part for key, part in tree.items() if key != "measurement document"]
    if isinstance(tree, list):
        for part in tree:
            yield from documents(part)


def numbers(part):
    """Yield key and number of each value in a measurement document, except settings."""
    for key, value in part.items() if isinstance(part, dict) else ():
        if key in SETTINGS or key.startswith("custom information") or key.endswith("cube"):
            continue
        if isinstance(value, dict) and "value" in value:
            yield key, value["value"]
        else:
            for one in value if isinstance(value, list) else [value]:
                yield from numbers(one)


def expected(path):
    """Return the numbers of each (plate, well) of a JSON file: a Counter of (key, number)."""
    wells = {}
    for one in documents(json.loads(path.read_text("utf-8"))):
        sample = one.get("sample document", {})
        names = [sample.get("well location identifier"), sample.get("location identifier")]
        well = next((name for name in names if name and name[0].upper() in WELL
                     and name.lstrip(WELL + WELL.lower()).strip().isdecimal()), None)
        if well is None:
            continue
        errors = one.get("error aggregate document", {}).get("error document", [])
        marked = {error.get("error feature", "") for error in errors}
        found = wells.setdefault((sample.get("well plate identifier", ""), well), Counter())
        for key, number in numbers(one):
            is_lost = key in marked or "" in marked or not isinstance(number, (int, float)) or (
                number != number or number == 0 and math.copysign(1, number) < 0)
            found[key, None if is_lost else number] += 1
    return {place: found for place, found in wells.items() if found}


def read(path, instrument):
    """Return the numbers that pybandit reads in a file, as `expected`, and the detected format."""
    content = path.read_bytes()
    factory = _allotropy.require("allotropy.parser_factory", "lab")
    vendor, values = _allotropy._detected(factory, content, path.name)
    wells = {}
    for one in values:
        key = next((key for key in KEYS if one.name.startswith(key)), None)
        if key is None:
            continue
        try:
            number = float(one.cell)
        except ValueError:
            number = math.nan
        number = None if number != number else number
        wells.setdefault((one.plate, one.well), Counter())[key, number] += 1
    return wells, vendor.value.casefold()


KEYS = []


def compared(path, answer, instrument):
    """Return the numbers of right and of expected wells, and a remark."""
    wanted = expected(answer)
    KEYS[:] = sorted({key for found in wanted.values() for key, _ in found}, key=len, reverse=True)
    if not wanted:
        return 0, 0, "no number of a well is expected"
    try:
        found, said = read(path, instrument)
    except UnreadableFileError as error:
        return 0, len(wanted), str(error)
    n_right = sum(found.get(place) == counts for place, counts in wanted.items())
    return n_right, len(wanted), "" if said == instrument else f"taken for {said}"


def tried(folder):
    """Return a row of the table for a folder of a format; None if it has no files."""
    n_files = n_read = n_right = n_wells = 0
    remarks = Counter()
    for answer in sorted(folder.rglob("*.json")):
        beside = [path for path in answer.parent.iterdir()
                  if path.stem == answer.stem and path.suffix != ".json" and path.is_file()]
        if not beside:
            continue
        right, wells, remark = compared(beside[0], answer, folder.name)
        if remark == "no number of a well is expected":
            remarks[remark] += 1
            continue
        n_files, n_read = n_files + 1, n_read + (right > 0)
        n_right, n_wells = n_right + right, n_wells + wells
        remarks[remark[:110].replace("|", "/")] += bool(remark)
    words = "; ".join(f"{remark} ({n})" for remark, n in remarks.most_common(3) if n)
    if not n_files and not words:
        return None
    return f"| {folder.name} | {n_read} of {n_files} | {n_right:,} of {n_wells:,} | {words} |"


def main(folder, *names):
    print(HEAD, flush=True)
    for part in sorted(Path(folder).iterdir()):
        if part.is_dir() and (not names or part.name in names):
            row = tried(part)
            if row is not None:
                print(row, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
