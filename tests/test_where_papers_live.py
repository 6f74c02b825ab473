"""The page "Where each paper lives" names files, functions and tests that exist."""

import functools
import json
import re

import pytest

import pybandit as pb
from papers import PAPERS, ROOT, imports_of

PAGE = ROOT / "docs" / "explanation" / "where_papers_live.md"
pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="no pages beside the tests")
# rows per section, and what their first cells name: algorithms, statements, figures and tables
SECTIONS = {"Chen": 27, "Jun": 13, "Lalitha": 23, "Neufeld": 25, "Hoffman": 17}
REQUIRED = {
    "Chen": ["Algorithm 1", *(f"Proposition {n}" for n in (1, 2, 3, 7)), "Corollary 4",
             "Eq. 2 and 3", *(f"Eq. {n}" for n in (5, 6, 7, 8, 9, 10, 11, 12, 25)),
             "Eq. 26 and 27", "Table 1", "Figures 1, 5, 6, 7",
             *(f"Figure {n}" for n in (2, 3, 4))],
    "Jun": [*(f"Algorithm {n}" for n in (1, 2, 3, 4)), "Lemma 1", "Lemma 2", "Theorem 1",
            "Theorem 2", "Eq. 7", "Eq. 9", "Eq. 10", "Table 1", "Figure 1", "Figure 2"],
    "Lalitha": [*(f"Algorithm {n}" for n in (1, 2, 3, 4)), "Lemma 1", "Lemma 2", "Lemma 6",
                "Lemmas 7 and 8", *(f"Theorem {n}" for n in (3, 4, 5)), "Eq. 1 and 2",
                "Eq. 4 and 6", "Eq. 7", *(f"Figure {n}" for n in (1, 2, 3, 4)), "Figures 5 and 6"],
    "Neufeld": ["Algorithm 1", "Algorithm 2", *(f"Theorem {n}" for n in (1, 2, 3, 4, 5)),
                "Lemmas 3 and 4", "Lemma 5", "Lemma 6", "Corollary 1", "Eq. 3", "Eq. 4, 5 and 7",
                "Eq. 6", *(f"Figure {n}" for n in (1, 2, 3)), "Appendix B", "Appendix E"],
    "Hoffman": ["Algorithm 1", "Theorem 1", "Theorem 2", "Lemma B4", "Eqs. 2 to 5",
                "Eqs. 6 to 8", "Eq. 9", "Figure 1", "Figure 2", "Figures 3 and 4"],
}


def sections():
    """Return a dict: first author -> rows of the table, each a list of cells."""
    found = {}
    for part in PAGE.read_text().split("\n## ")[1:]:
        rows = [[cell.strip() for cell in line.strip("|").split("|")]
                for line in part.splitlines() if line.startswith("|")]
        found[part.split()[0].strip(",:")] = rows[2:]
    return found


@functools.cache
def names_of_tests():
    """Return the names of all tests and benchmarks."""
    files = [*(ROOT / "tests").rglob("test_*.py"), *(ROOT / "bench").rglob("bench_*.py")]
    return set(re.findall(r"^ *def (test_\w+)", "".join(path.read_text() for path in files),
                          re.MULTILINE))


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
        return word in names_of_tests()
    if word.startswith("pb_"):
        return any(re.search(rf"\b{word}\b", path.read_text())
                   for path in (ROOT / "pybandit" / "include").rglob("*.h"))
    return resolves(word) or bool(re.fullmatch(r"\w+=?(\"?[\w-]+\"?)?", word)
                                  and word.split("=")[0] in words_of_interface())


@functools.cache
def words_of_interface():
    """Return the words of all stubs and modules: names of options and attributes."""
    return set(re.findall(r"\w+", "".join(
        path.read_text() for ending in ("pyi", "py")
        for path in (ROOT / "pybandit").rglob(f"*.{ending}"))))


def test_every_paper_has_a_complete_table():
    found = sections()
    assert list(found) == list(SECTIONS)
    for author, rows in found.items():
        assert len(rows) == SECTIONS[author], author
        assert all(len(row) == 5 for row in rows)
        first = "\n".join(row[0] for row in rows)
        missing = [name for name in REQUIRED[author]
                   if not re.search(rf"\b{re.escape(name)}\b", first)]
        assert not missing, author


def test_every_row_with_evidence_names_a_test():
    bare = [row[0] for rows in sections().values() for row in rows
            if row[3] and not re.search(r"`test_\w+`", row[3])]
    assert not bare


def test_every_place_exists():
    missing = [word for rows in sections().values() for row in rows for cell in row[1:]
               for word in re.findall(r"`([^`]+)`", cell) if not exists(word)]
    assert not missing


def test_a_missing_place_is_found():
    assert exists("pybandit.race") and exists("csrc/racing/race.c")
    for word in ("pybandit.rase", "csrc/racing/rase.c", "test_that_is_not_there", "pb_not_there"):
        assert not exists(word)


def test_evidence_of_the_errata_exists():
    """Every test and file that "The papers, corrected" names is there."""
    text = (PAGE.parent / "papers.md").read_text()
    words = set(re.findall(r"`(test_\w+|(?:tests|examples)/[\w/.]+)`", text))
    assert len(words) > 60 and not [word for word in words if not exists(word)]


def test_page_of_figures_is_made_from_the_kept_results():
    """``python examples/papers/run.py --page`` writes the page."""
    with imports_of("."):
        import run
    kept, quick = (json.loads((PAPERS / name).read_text())
                   for name in ("results.json", "quick.json"))
    assert (ROOT / "docs" / "explanation" / "figures.md").read_text() == run.page(kept, quick)
