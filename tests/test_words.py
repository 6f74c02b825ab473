"""Pages, public docstrings and the command line use the words of the interface."""

import argparse
import inspect
import re

import pytest

from public_classes import CLASSES, FUNCTIONS, methods_of
from pybandit.cli._examples import subcommands
from pybandit.cli._main import make_parser

from compiler import ROOT

# Former words of the interface, as keywords and as attributes.
KEYWORDS = re.compile(
    r"(?<![\w.])(sigma|tolerance|horizon|max_evaluations|max_comparisons|n_models|n_tasks|"
    r"n_estimators|paid|budget_cost|calls_per_minute|population|offsets|per_batch|most_batches|"
    r"setting|constants)=(?!=)")
NAMES = re.compile(
    r"\b(InfeasibleBudget|StudyDamaged|BadFile|MissingPackage|population_monte_carlo|"
    r"squared_exponential|max_evaluations|max_comparisons|budget_cost|n_tasks)\b")
OPTIONS = {"--sigma", "--tolerance", "--max-evaluations", "--horizon", "--force", "--replace"}
# exceptions: words of scikit-learn, and symbols of a model
OTHERS = {"BanditSearchCV", "CIRCaplet"}
PAGES = [page for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
         if page.exists() and page.name not in ("names_that_changed.md", "how_it_is_checked.md")
         and ROOT / "docs" / "gallery" not in page.parents]


def docstrings():
    """Return name and docstring of everything public."""
    found = {name: one.__doc__ for name, one in {**CLASSES, **FUNCTIONS}.items()}
    for name, cls in CLASSES.items():
        found |= {f"{name}.{key}": inspect.getdoc(getattr(cls, key)) for key in methods_of(cls)}
    return {name: text or "" for name, text in found.items()
            if name.partition(".")[0] not in OTHERS}


def old_words(text):
    return sorted({match[0] for match in [*KEYWORDS.finditer(text), *NAMES.finditer(text)]})


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_has_no_old_word(page):
    assert not old_words(page.read_text())


def test_docstrings_have_no_old_word():
    texts = docstrings()
    assert len(texts) > 400
    assert {name: words for name, text in texts.items() if (words := old_words(text))} == {}


def test_commands_have_no_old_option():
    options = set()

    def visit(parser):
        assert isinstance(parser, argparse.ArgumentParser)
        options.update(word for action in parser._actions for word in action.option_strings)
        for below in subcommands(parser).values():
            visit(below)

    visit(make_parser())
    assert len(options) > 60
    assert {"--noise-std", "--epsilon", "--max-pulls", "--overwrite"} <= options
    assert not options & OPTIONS


def test_old_words_are_found():
    assert old_words("pb.simulate(policy, horizon=3)") == ["horizon="]
    assert old_words("raises InfeasibleBudget if") == ["InfeasibleBudget"]
    assert not old_words("x.tolerance == 3, InfeasibleBudgetError, population_size=3")
