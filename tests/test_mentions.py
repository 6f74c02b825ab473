"""Names, calls, commands and options that pages mention in their prose exist."""

import argparse
import ast
import functools
import importlib
import inspect
import re

import pytest

import pybandit as pb
from pybandit.cli._main import make_parser

from compiler import ROOT
from sources import of_sources

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")),
         *sorted((ROOT / "examples").rglob("*.md"))]
# all pages except the log of past runs, the list of old names, and copies for the site
PAGES = [page for page in PAGES if page.exists()
         and page.name not in ("how_it_is_checked.md", "names_that_changed.md")
         and ROOT / "docs" / "gallery" not in page.parents]
pytestmark = pytest.mark.skipif(not PAGES, reason="no pages beside the tests")


def spans(text):
    """Return the code spans outside blocks of code."""
    text = re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
    return re.findall(r"`([^`\n]+)`", text)


def named(name):
    """Return the object of a dotted name that starts with pb or pybandit."""
    found, parts = pb, name.split(".")[1:]
    for i, part in enumerate(parts):
        if not hasattr(found, part):
            importlib.import_module(".".join(["pybandit", *parts[:i + 1]]))
        found = getattr(found, part)
    return found


def wrong_call(call):
    """Return the reason why a call of a public name fails, or None."""
    signature = inspect.signature(named(ast.unparse(call.func)))
    keywords = {word.arg: None for word in call.keywords if word.arg}
    given = [*call.args]
    # a call with keywords only, such as pb.BettingRace(epsilon=.01), just names an option
    if given and not any(isinstance(value, ast.Constant) and value.value is ...
                         for value in given):
        bind = signature.bind
    else:
        bind, given = signature.bind_partial, []
    try:
        bind(*given, **keywords)
    except TypeError as error:
        return str(error)
    return None


def wrong(span):
    """Return the error in the names, the call or the options of a span, or None."""
    names = re.findall(r"(?<![\w./-])(?:pb|pybandit)(?:\.[A-Za-z_]\w*)+", span)
    for name in names:
        if name.removeprefix("pybandit.") not in EXPORTED_TO_CYTHON:
            try:
                named(name)
            except (AttributeError, ImportError) as error:
                return str(error)
    try:
        call = ast.parse(span, mode="eval").body
    except SyntaxError:
        call = None
    if isinstance(call, ast.Call) and names and ast.unparse(call.func) == names[0]:
        try:
            return wrong_call(call)
        except ValueError:  # compiled classes have no signature
            return None
    return wrong_command(span.split()) if span.startswith("pybandit ") else None


def commands(parser=None):
    """Return the options of each command and action, by the tuple of its words."""
    parser = parser or make_parser()
    found = {(): {option for action in parser._actions for option in action.option_strings}}
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, below in action.choices.items():
                found |= {(name, *words): found[()] | options
                          for words, options in commands(below).items()}
    return found


@functools.cache
def all_commands():
    return commands()


def wrong_command(words):
    """Return the error at the first unknown command or option, or None."""
    known, path = all_commands(), ()
    for word in words[1:]:
        if word.startswith("--"):
            if word.partition("=")[0] not in known[path]:
                return f"{' '.join(words[:1] + list(path))} has no option {word}"
        elif (*path, word) in known:
            path = (*path, word)
        elif not path or path in (("study",), ("screen",), ("webtest",)):
            return f"{word} is not a command"
    return None


def exported_to_cython():
    """Return the names available by `cimport pybandit`."""
    path = ROOT / "pybandit" / "__init__.pxd"
    return set(re.findall(r"\w+", path.read_text())) if path.exists() else set()


EXPORTED_TO_CYTHON = exported_to_cython()


@of_sources
@pytest.mark.parametrize("page", [pytest.param(page, id=page.name) for page in PAGES])
def test_mentions_in_a_page_exist(page):
    found = {span: reason for span in spans(page.read_text()) if (reason := wrong(span))}
    assert not found


@pytest.mark.parametrize("span", [
    "pb.best_off", "pb.best_of(scores, tolerance=1)", "pb.best_of(scores, value_rang=(0, 1))",
    "pb.best_of(..., value_rang=(0, 1))", "pb.stopping.GLR2", "pybandit best-off scores.csv",
    "pybandit study planned", "pybandit screen plan --plates 3"])
def test_wrong_mentions_are_found(span):
    assert wrong(span)


@pytest.mark.parametrize("span", [
    "pb.best_of(scores, value_range=(0, 1))", "pb.best_of(..., delta=0.1)",
    "pb.BettingRace(epsilon=0.01)", "pybandit screen plan --n 2000 --k 20",
    "pybandit study status screen.db", "pybandit --version", "best_of(scores)"])
def test_right_mentions_pass(span):
    assert wrong(span) is None
