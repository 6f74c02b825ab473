"""Write the tables of ratios in docs/explanation/numbers.md from the JSON of ``make bench``.

Run as ``python bench/write_tables.py build/bench.json``. A table stands between two comments,
``<!-- make bench: NAME -->`` and ``<!-- end -->``. With ``--check`` nothing is written; the exit
status is 1 if a ratio differs from that in the page by more than a factor of two.
"""

import argparse
import json
import re
import sys
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "explanation" / "numbers.md"
EXACT = "exact, streaming sums in C"
OURS = ("draw", "draw, shuffled layout")
# rows of the table: what is read, and the group of benchmarks
RACING = {
    ".5 % of the rows at every draw": "0.5% read at each draw",
    "5 % of the rows at every draw": "5% read at each draw",
    "540 rows on average, few draws read all (σ = 1e-5)":
        "0.5% read on average (sigma 1e-5, delta .05)",
    "5,150 rows on average (σ = 1e-4)": "5% read on average (sigma 1e-4, delta .05)",
    "all (σ = .1)": "everything read (sigma 0.1, delta .001)",
    ".5 % of the rows, beyond the cache": "0.5% read at each draw, beyond the cache",
    "5 % of the rows, beyond the cache": "5% read at each draw, beyond the cache",
}


def ratio(value):
    """Return 1/49 for .0204, and two digits above 1."""
    return f"{value:.2g}" if value >= 0.95 else f"1/{1 / value:.2g}"


def racing(found, cache):
    """Return the lines of the table of draws; rows that were not measured are left out."""
    size = f"{max(80e6, 4 * cache) / 1e6:,.0f} MB"  # as in bench_beyond_cache.py
    rows = [f"The last cache had {cache >> 20} MiB. The matrix has 8 MB, and {size} in the rows "
            "beyond the cache.", "",
            '| read per draw | time / full pass in C | with `layout="shuffled"` |',
            "| --- | --- | --- |"]
    for name, group in RACING.items():
        cells = [found.get((group, role, EXACT)) for role in OURS]
        if None not in cells:
            rows.append(f"| {name} | {' | '.join(map(ratio, cells))} |")
    return rows


TABLES = {"racing": racing}


def measured(path):
    """Return the ratios of a ``--benchmark-json`` by group, our role and rival, and the cache."""
    found = json.loads(Path(path).read_text())
    return ({(row["benchmark"], row["ours"], row["rival"]): row["ratio"]
             for row in found["ratios"]}, found["machine_info"]["last_cache"])


def numbers(text):
    """Return the ratios in the cells of a table, as numbers."""
    cells = re.findall(r"\| (1/)?([\d.]+) (?=\|)", text)
    return [1 / float(value) if below else float(value) for below, value in cells]


def moved(before, after):
    """Return True if a ratio differs by more than a factor of two, or a row came or went."""
    pairs = numbers(before), numbers(after)
    return len(pairs[0]) != len(pairs[1]) or any(
        not 0.5 <= a / b <= 2.0 for a, b in zip(*pairs, strict=True))


def written(page, found, cache):
    """Return the text of a page with its tables, and the names of those that moved."""
    names = []

    def replaced(match):
        name, before = match.group(1), match.group(2)
        after = "\n".join(TABLES[name](found, cache))
        if moved(before, after):
            names.append(name)
        return f"<!-- make bench: {name} -->\n{after}\n<!-- end -->"

    text = re.sub(r"<!-- make bench: (\w+) -->\n(.*?)\n<!-- end -->", replaced, page, flags=re.S)
    return text, names


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("json")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    text, names = written(PAGE.read_text(), *measured(options.json))
    for name in names:
        print(f"{PAGE.name}: the table {name} moved")
    if not options.check:
        PAGE.write_text(text)
    return 1 if options.check and names else 0


if __name__ == "__main__":
    sys.exit(main())
