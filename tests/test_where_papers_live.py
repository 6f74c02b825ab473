"""The page "Where each paper lives" names files, functions and tests that exist."""

import functools
import pathlib
import re

import pytest

import pybandit as pb
from papers import PAPERS, ROOT

PAGE = ROOT / "docs" / "explanation" / "where_papers_live.md"
pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="no pages beside the tests")
# rows per section at least: algorithms, equations, estimators, baselines and environments
SECTIONS = {"Chen": 15, "Jun": 8, "Lalitha": 10, "Neufeld": 12, "Hoffman": 9}


def sections():
    """Return a dict: first author -> rows of the table, each a list of cells."""
    found = {}
    for part in PAGE.read_text().split("\n## ")[1:]:
        rows = [[cell.strip() for cell in line.strip("|").split("|")]
                for line in part.splitlines() if line.startswith("|")]
        found[part.split()[0].strip(",:")] = rows[2:]
    return found


@functools.cache
def test_names():
    return set(re.findall(r"^ *def (test_\w+)", "".join(
        path.read_text() for path in (ROOT / "tests").rglob("test_*.py")), re.MULTILINE))


def resolves(name):
    """Return True if a dotted name such as ``pybandit.policies.SHVar`` exists."""
    if not re.fullmatch(r"(pybandit|pb)(\.\w+)+(\(.*\))?", name):
        return False
    place = pb
    for part in name.split("(")[0].split(".")[1:]:
        if not hasattr(place, part):
            return False
        place = getattr(place, part)
    return True


def exists(word):
    """Return True if a word in backquotes is a file, a name, a test or a C function."""
    if "/" in word:
        path, _, inside = word.partition("::")
        place = ROOT / path.split(" ")[0]
        return place.exists() and (not inside or inside in place.read_text())
    if word.startswith("test_"):
        return word in test_names()
    if word.startswith("pb_"):
        return any(re.search(rf"\b{word}\b", path.read_text())
                   for path in (ROOT / "pybandit" / "include").rglob("*.h"))
    return resolves(word)


def test_every_paper_has_a_complete_table():
    found = sections()
    assert list(found) == list(SECTIONS)
    for author, rows in found.items():
        assert len(rows) >= SECTIONS[author], author
        assert all(len(row) == 5 for row in rows)


def test_every_place_exists():
    missing = [word for rows in sections().values() for row in rows for cell in row[1:]
               for word in re.findall(r"`([^`]+)`", cell) if not exists(word)]
    assert not missing


def test_a_missing_place_is_found():
    assert exists("pybandit.race") and exists("csrc/racing/race.c")
    for word in ("pybandit.rase", "csrc/racing/rase.c", "test_that_is_not_there", "pb_not_there"):
        assert not exists(word)


def test_every_script_of_the_papers_is_on_the_page_of_figures():
    page = (ROOT / "docs" / "explanation" / "figures.md").read_text()
    scripts = [path.relative_to(ROOT).as_posix() for kind in ("figure", "table", "section")
               for path in PAPERS.glob(f"*/{kind}_*.py")]
    assert scripts and not [script for script in scripts if script not in page]


def test_pages_have_the_kept_results():
    """Each row of the table on the page is that of examples/papers/results.json."""
    import json
    import sys
    sys.path.insert(0, str(PAPERS))
    try:
        import run
    finally:
        sys.path.remove(str(PAPERS))
    kept = json.loads((PAPERS / "results.json").read_text())
    page = (pathlib.Path(ROOT) / "docs" / "explanation" / "figures.md").read_text()
    for line in run.table(kept, True).splitlines()[2:]:
        assert line in page
