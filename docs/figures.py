"""Rerun the commands next to tables of figures, and report the figures that changed.

    python docs/figures.py [WORD ...] [--quick] [--list] [--again] [--data FOLDER]

A table of figures belongs to commands in code spans, `python examples/NAME.py` or `pytest NAME`:
those of the nearest paragraph before it in its section, or else of the next paragraph after it,
or else of the tables of the section. Only `python` commands are run, because `make` and `pytest`
have their own targets and limits.

The output of a command is saved in build/figures. A row of a table is aligned with the printed
lines that contain the words of its first cell, or with all lines if none does, so that the fewest
numbers differ. A number has changed if it differs by more than

- rounding to its last digit on the page (for 1,660 this is the second 6);
- the half-width after its ±, if it has one;
- a factor of 2, in columns and rows of times.

WORDs select pages and commands that contain one of them. Commands that name a data file need
the option --data with its folder; otherwise they are reported as not run.
"""

import argparse
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
PRINTED = ROOT / "build" / "figures"
TIME_FACTOR = 2.0
UNITS = re.compile(r"\b(ns|µs|us|ms|s|seconds?|minutes?|MB|ESS|time)\b")
LOGS = {"how_it_is_checked.md"}  # results of long runs, each made once
COMMAND = re.compile(r"`((?:python [\w/]+\.py|pytest|make)\b[^`\n]*)`")
TABLE = re.compile(r"(?:^\|.*\n)+", re.MULTILINE)
NUMBER = re.compile(r"(?P<half>± ?)?(?<![\w.])(?P<text>[-−]?(?:\d[\d,]*\.?\d*|\.\d+))"
                    r"(?:e(?P<e>[-+]?\d+)| ?· ?10(?P<power>[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+))?")
SUPERSCRIPTS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
DATA = {".csv", ".gz", ".tsv", ".npz"}


class Number(NamedTuple):
    """A number in a text; `digit` is the unit of its last digit."""

    text: str
    value: float
    digit: float
    tolerance: float = 0.0
    is_time: bool = False
    is_percent: bool = False


class Table(NamedTuple):
    """A table of figures: its place, its cells by row (the header first), and its commands."""

    page: Path
    line: int
    rows: list
    commands: tuple


class Moved(NamedTuple):
    """A number of a page, and the printed number aligned with it, or None."""

    row: str
    old: str
    new: str | None


def pages():
    """Return README, the pages and those of examples, without copies by the site's build."""
    found = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")),
             *sorted((ROOT / "examples").rglob("*.md"))]
    return [page for page in found if page.name not in LOGS
            and ROOT / "docs" / "gallery" not in page.parents]


def numbers_of(text, label=""):
    """Return the numbers of a text in order, each with the half-width that follows it."""
    found, is_time = [], bool(UNITS.search(f"{label} {text}"))
    for match in NUMBER.finditer(text):
        digits = match["text"].replace("−", "-").rstrip(",")
        exponent = int(match["e"] or (match["power"] or "0").translate(SUPERSCRIPTS))
        value = float(digits.replace(",", "")) * 10.0**exponent
        places = len(digits.partition(".")[2])
        plain = digits.replace(",", "")
        zeros = len(plain) - len(plain.rstrip("0")) if "," in digits and not places else 0
        digit = 10.0 ** (exponent - places + min(3, zeros))
        if match["half"] and found:
            found[-1] = found[-1]._replace(tolerance=abs(value))
            found.append(Number(digits, value, digit, abs(value) / 3))
        else:
            found.append(Number(digits, value, digit, 0.0, is_time, "%" in f"{label} {text}"))
    return found


def is_of_figures(rows):
    """Return True if a third of the cells after the first column, at least 3, start with digits."""
    cells = [cell for row in rows[1:] for cell in row[1:] if cell]
    found = [cell for cell in cells if re.match(r"[*<$\[]*[-−+±×]?\.?\d", cell)]
    return len(found) >= max(3, len(cells) / 3)


def tables_of(page, text=None):
    """Yield the tables of figures of a page, with their commands."""
    text = page.read_text() if text is None else text
    text = re.sub(r"^```.*?^```$", lambda block: re.sub(r"[^\n]", " ", block[0]), text,
                  flags=re.DOTALL | re.MULTILINE)
    edges = [0, *(head.start() for head in re.finditer(r"^#+ ", text, re.MULTILINE)), len(text)]
    for start, end in zip(edges, edges[1:], strict=False):
        section = text[start:end]
        prose = TABLE.sub(lambda table: re.sub(r"[^\n]", " ", table[0]), section)
        for match in TABLE.finditer(section):
            rows = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
                    for line in match[0].splitlines()]
            del rows[1]
            if is_of_figures(rows):
                before = [found for part in prose[:match.start()].split("\n\n")
                          if (found := COMMAND.findall(part))]
                after = [found for part in prose[match.end():].split("\n\n")
                         if (found := COMMAND.findall(part))]
                commands = (before[-1:] or after[:1] or [COMMAND.findall(section)])[0]
                yield Table(page, text.count("\n", 0, start + match.start()) + 1, rows,
                            tuple(dict.fromkeys(commands)))


def agrees(old, value):
    """Return True if a printed value is a number of the page, up to its tolerance."""
    if old.is_time and old.value > 0 < value:
        return 1 / TIME_FACTOR <= value / old.value <= TIME_FACTOR
    return abs(value - old.value) <= max(old.tolerance, 0.5 * old.digit) + 1e-9 * abs(old.value)


def distance(old, new):
    """Return 0 if two numbers agree, else from .1 to 1.1 by their relative difference."""
    values = [new.value * scale for scale in ((1.0, 100.0, 0.01) if old.is_percent else (1.0,))]
    if any(agrees(old, value) for value in values):
        return 0.0
    return 0.1 + min(min(1.0, abs(old.value - value) / max(abs(old.value), abs(value)))
                     for value in values)


def align(row, printed):
    """Return pairs (number of the page, printed number or None), in order, with the least cost.

    Extra printed numbers cost nothing before and after a row, and .02 within it; a number that is
    not printed costs 1.
    """
    n = len(printed)
    best, steps = [0.0] * (n + 1), []
    for old in row:
        above, step = best, []
        best = [above[0] + 1.0]
        step.append("lost")
        for j, new in enumerate(printed):
            ways = {"pair": above[j] + distance(old, new), "lost": above[j + 1] + 1.0,
                    "skip": best[j] + 0.02}
            way = min(ways, key=ways.get)
            best.append(ways[way])
            step.append(way)
        steps.append(step)
    j = best.index(min(best))
    pairs, i = [], len(row)
    while i:
        way = steps[i - 1][j]
        if way != "skip":
            i -= 1
            pairs.append((row[i], printed[j - 1] if way == "pair" else None))
        j -= way != "lost"
    return pairs[::-1]


def words(text):
    """Return the words of a label in lower case."""
    return set(re.findall(r"[a-zé][\wé'-]*", text.lower()))


def labelled(label, printed):
    """Return the printed lines with the words of a label, and no other words if possible.

    For a label without words, return the lines that start with its numbers.
    """
    if wanted := words(label):
        return ([line for line in printed if line[0] == wanted]
                or [line for line in printed if line[0] >= wanted])
    values = [number.value for number in numbers_of(label)]
    return [line for line in printed
            if values and [number.value for number in line[1][:len(values)]] == values]


def numbers_of_row(row, header):
    """Return the numbers in the cells of a row."""
    return [number for name, cell in zip(header, row, strict=False)
            for number in numbers_of(cell, f"{name} {row[0]}")]


def moved_rows(rows, header, printed):
    """Return the numbers of rows that changed; `printed` has (words, numbers) of each line.

    Columns may be in another order: a number that is aligned with a line without other numbers
    of its row has not changed if a line with such numbers contains it.
    """
    found = []
    for row in rows:
        lines = [line[1] for line in labelled(row[0], printed) or printed]
        pairs = align(numbers_of_row(row, header), [new for line in lines for new in line])
        same = {id(new) for old, new in pairs if new and not distance(old, new)}
        near = [new for line in lines if same & {id(new) for new in line} for new in line]
        inside = {id(new) for new in near}
        found += [Moved(row[0], old.text, new and new.text) for old, new in pairs
                  if (distance(old, new) if id(new) in inside
                      else all(distance(old, one) for one in near))]
    return found


def compare(table, text):
    """Return the numbers of a table that changed in a printed text.

    Rows are compared, or columns if the labels of all columns are printed but not those of all
    rows.
    """
    printed = [(words(line), numbers_of(line)) for line in text.splitlines()]
    printed = [line for line in printed if line[1]]
    ways = [table.rows, [list(column) for column in zip(*table.rows, strict=False)]]
    known = [[bool(labelled(row[0], printed)) for row in way[1:]] for way in ways]
    header, *rows = ways[all(known[1]) and not all(known[0])]
    return moved_rows(rows, header, printed)


def argv_of(command, data, quick=False):
    """Return the arguments to run a `python` command, or the name of a missing data file."""
    _, program, *arguments = shlex.split(command)
    for i, argument in enumerate(arguments):
        if Path(argument).suffix in DATA:
            if data is None or not (data / argument).is_file():
                return argument
            arguments[i] = str((data / argument).resolve())
    return [sys.executable, str(ROOT / program), *arguments, *["--quick"] * quick]


def run(argv, saved):
    """Run a command in the folder of `saved`, save its output there, and return its status."""
    saved.parent.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(argv, cwd=saved.parent, capture_output=True, text=True)
    if done.returncode:
        print(done.stderr[-2000:], file=sys.stderr)
    else:
        saved.write_text(done.stdout)
    return done.returncode


def name_of(command, quick=False):
    """Return the file for the output of a command."""
    words = command.removeprefix("python ").replace(".py", "")
    return PRINTED / f"{re.sub(r'[^a-zA-Z0-9]+', '_', words)}{'_quick' * quick}.txt"


def report(table, text):
    """Print the changed numbers of a table; return True if there are any."""
    found = compare(table, text)
    total = sum(len(numbers_of(cell)) for row in table.rows[1:] for cell in row)
    where = f"{table.page.relative_to(ROOT)}, line {table.line}"
    print(f"{where}: {total - len(found)} of {total} numbers as printed by "
          f"{', '.join(table.commands)}")
    for row, old, new in found:
        print(f"    {row or '(no label)'}: {old} -> {new or 'not printed'}")
    return bool(found)


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("words", nargs="*", help="select pages and commands (default: all)")
    parser.add_argument("--quick", action="store_true",
                        help="only run the commands at their smallest size")
    parser.add_argument("--list", action="store_true", help="only list tables and commands")
    parser.add_argument("--again", action="store_true",
                        help="compare saved outputs; run only commands without one")
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="folder of data files")
    options = parser.parse_args(argv)
    tables = [table for page in pages() for table in tables_of(page)]
    if options.words:
        tables = [table for table in tables
                  if any(word in f"{table.page} {' '.join(table.commands)}"
                         for word in options.words)]
    if options.list:
        for table in tables:
            print(f"{table.page.relative_to(ROOT)}, line {table.line}: "
                  f"{', '.join(table.commands) or 'no command'}")
        return 0
    return 1 if carried_out(tables, options) else 0


def carried_out(tables, options):
    """Run the commands of tables, and compare; return the number of failures and changed tables."""
    failed, commands = 0, [c for table in tables for c in table.commands]
    for command in dict.fromkeys(commands):
        saved = name_of(command, options.quick)
        if not command.startswith("python "):
            print(f"not run: {command}")
        elif options.again and saved.exists():
            continue
        elif isinstance(argv := argv_of(command, options.data, options.quick), str):
            print(f"not run, as there is no {argv}: {command}")
        else:
            start = time.perf_counter()
            status = run(argv, saved)
            failed += status != 0
            print(f"{'failed' if status else 'ran'}, {time.perf_counter() - start:.0f} s: "
                  f"{command}", flush=True)
    if not options.quick:
        for table in tables:
            files = [name_of(command) for command in table.commands
                     if command.startswith("python ")]
            if files and all(file.exists() for file in files):
                failed += report(table, "\n".join(file.read_text() for file in files))
    return failed


if __name__ == "__main__":
    sys.exit(main())
