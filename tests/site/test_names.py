"""Every public name has a docstring, an example and a page of the reference."""

import importlib
import inspect
import re

import pytest

from compiler import ROOT

REFERENCE = ROOT / "docs" / "reference"
MODULES = ("", ".betting", ".bounds", ".cluster", ".environments", ".evaluation", ".factors",
           ".kernels", ".mcmc", ".model_selection", ".montecarlo", ".policies",
           ".racing", ".simulation", ".stopping", ".studies", ".tables", ".lab", ".webtests")
pytestmark = pytest.mark.skipif(not REFERENCE.is_dir(), reason="no pages beside the tests")


def public():
    """Return every public object except modules, with one of its names."""
    found = {}
    for module in MODULES:
        one = importlib.import_module(f"pybandit{module}")
        for name in one.__all__:
            value = getattr(one, name)
            if not inspect.ismodule(value):
                found.setdefault(id(value), (f"pybandit{module}.{name}", value))
    return list(found.values())


NAMES = public()


def documented():
    """Return the full names listed by the pages of the reference."""
    names = [f"pybandit.{name}" for page in REFERENCE.glob("*.rst")
             for block in re.findall(r"\.\. autosummary::\n(?: +:.*\n)*\n((?: {3}\S+\n)+)",
                                     page.read_text())
             for name in block.split()]
    assert len(names) == len(set(names)), "listed twice"
    return names


def found(name):
    """Return the object of a full name."""
    module, _, last = name.rpartition(".")
    return getattr(importlib.import_module(module), last)


def test_all_public_names_are_found():
    names = {name for name, _ in NAMES}
    assert {"pybandit.best_of", "pybandit.Study", "pybandit.bounds.kl_ucb",
            "pybandit.mcmc.RacingGibbs", "pybandit.model_selection.BanditSearchCV"} <= names
    assert len(names) > 140


def test_every_name_has_a_page():
    pytest.importorskip("numba")
    pages = {id(found(name)) for name in documented()}
    assert not [name for name, value in NAMES if id(value) not in pages]


@pytest.mark.parametrize("name, value", NAMES, ids=[name for name, _ in NAMES])
def test_a_name_has_a_docstring_and_an_example(name, value):
    text = inspect.getdoc(value) or ""
    assert len(text.split()) > 3
    assert ">>> " in text


def test_every_list_of_names_is_on_the_first_page_of_the_reference():
    index = (REFERENCE / "index.md").read_text().splitlines()
    assert {page.stem for page in REFERENCE.glob("*.rst")} <= set(index)


def test_every_header_is_read():
    """Each room of C has a page, on which every function has its comment."""
    import sys

    sys.path.insert(0, str(ROOT / "docs" / "_ext"))
    try:
        headers = importlib.import_module("headers")
    finally:
        sys.path.pop(0)
    functions = 0
    for header in headers.HEADERS.rglob("*.h"):
        text = header.read_text()
        page = headers.page(headers.HEADERS / header.relative_to(headers.HEADERS).parts[0])
        for name in re.findall(r"^(?:static inline )?[\w ]+[ *]+(pb_\w+)\(", text, re.MULTILINE):
            assert re.search(rf"\.\. c:function::.*\b{name}\(", page), name
            functions += 1
    assert functions > 200
