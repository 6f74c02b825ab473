"""A newcomer's questions: from the first page, the page that answers is at most two clicks away.

Each is asked with what the first page says that one would click on, and with words that the
page at the end must have. Links of Markdown are followed; the site has the same.
"""

import re

import pytest

from compiler import ROOT

FIRST = ROOT / "docs" / "index.md"
pytestmark = pytest.mark.skipif(not FIRST.exists(), reason="no pages beside the tests")

# question: pages that are clicked through, and words of the last one
QUESTIONS = {
    "my judge costs money: which of 12 models?":
        (["tutorials/choose_a_model.md"], ["$480", "best_of(judge", "store="]),
    "and if its calls fail, and are limited to so many a minute?":
        (["tutorials/choose_a_model.md", "costly_evaluations.md"], ["retry=", "per_minute="]),
    "may I peek at my A/B test?":
        (["tutorials/ab_test.md"], ["Why not just look?", "CountRace", "however often you look"]),
    "I have 12 plates of 384 wells and 2,000 genes":
        (["tutorials/plates.md", "../examples/lab/plate_screen.md"],
         ["twelve plates of 384 wells", "--policy batch-screening"]),
    "which policy for those plates?":
        (["tutorials/plates.md", "batches.md"], ["BatchScreening", "2,000"]),
    "my likelihood has a million terms":
        (["tutorials/million_rows.md"], ["ExactMinibatch", "RacingMetropolis"]),
    "how do I call it from C?":
        (["tutorials/embed.md"], ["#include", "pybandit config --cflags --libs"]),
    "what if I have so many pulls, and no more?":
        (["start/which_function.md", "budgets.md"], ["SequentialHalving"]),
    "how often is it wrong?":
        (["explanation/guarantees.md"], ["wrong with probability at most δ", "measured"]),
    "how do I install it?":
        (["start/install.md"], ["pip install .", "another project"]),
}


def targets(page):
    """The pages that a page links to."""
    found = re.findall(r"\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)", page.read_text())
    return {(page.parent / one).resolve() for one in found}


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_answer_is_two_clicks_away(question):
    clicks, words = QUESTIONS[question]
    assert 1 <= len(clicks) <= 2
    page = FIRST
    for click in clicks:
        there = (ROOT / "docs" / click).resolve()
        assert there in targets(page), f"{page.name} has no link to {click}"
        page = there
    text = page.read_text()
    assert not [word for word in words if word not in text]


def test_every_page_is_reached_from_the_first():
    """By links of pages, however many; a page that nobody links to is found by nobody."""
    seen, left = set(), {FIRST.resolve()}
    while left:
        page = left.pop()
        seen.add(page)
        if page.suffix == ".md" and page.is_file():
            left |= {one for one in targets(page) if one.suffix == ".md"} - seen
    # a listing of the toctree is enough for sections that the build makes
    pages = {path.resolve() for path in (ROOT / "docs").rglob("*.md")
             if "reference" not in path.parts and "gallery" not in path.parts}
    sections = {(ROOT / "docs" / one).resolve()
                for one in re.findall(r"^(?:\w+ <)?([\w/]+)>?$", FIRST.read_text(), re.MULTILINE)}
    named = {path.with_suffix(".md") for path in sections}
    for page in named & pages - seen:
        seen |= {page} | targets(page)
    assert not {path.name for path in pages - seen}
