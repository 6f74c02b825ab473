"""The gallery shows every example, run by the build or with the saved output of a run."""

import re
import sys
from importlib import import_module

import pytest

from compiler import ROOT

EXTENSIONS = ROOT / "docs" / "_ext"
pytestmark = pytest.mark.skipif(not EXTENSIONS.is_dir(), reason="no pages beside the tests")


@pytest.fixture
def gallery(monkeypatch):
    monkeypatch.syspath_prepend(str(EXTENSIONS))
    yield import_module("gallery")
    del sys.modules["gallery"]


def test_every_example_is_run_or_saved(gallery):
    shown = {path.stem: path for path in gallery.EXAMPLES.glob("*/*.py")
             if gallery.is_shown(path)}
    saved = {path.stem for path in gallery.SAVED.glob("*.txt")}
    assert len(shown) > 12 and 4 < len(saved) < len(shown) / 2 and saved < set(shown)
    assert {path.stem for path in gallery.SAVED.glob("*.png")} <= saved
    for name in saved:
        text = (gallery.SAVED / f"{name}.txt").read_text()
        assert re.match(rf"\$ python examples/\w+/{name}\.py", text)
        assert not re.search(r" /\w+/", text), "a path of one machine"
    for name in set(shown) - saved:
        arguments = gallery.arguments_of(shown[name])
        assert {"--quick", "40"} & set(arguments), name
        assert re.search(gallery.SETTINGS["filename_pattern"], str(shown[name]))


def test_examples_of_the_gallery_start_with_a_title(gallery):
    for path in gallery.EXAMPLES.glob("*/*.py"):
        if gallery.is_shown(path):
            title = path.read_text().splitlines()[0]
            assert re.match(r'""".{20,95}[.?]$', title), path


def test_rooms_with_examples_have_a_header(gallery):
    rooms = {path.parent for path in gallery.EXAMPLES.glob("*/*.py") if gallery.is_shown(path)}
    assert all((room / "GALLERY_HEADER.rst").exists() for room in rooms) and len(rooms) > 7


def test_docstring_of_an_example_becomes_a_page(gallery):
    """The title is underlined, and the command is code."""
    body = ("\n\n.. _sphx_glr_gallery_racing_x.py:\n\n\nWhat is it?\n\n"
            "    python x.py [--quick]\n\nAnd more.\n")
    above, title, rest = gallery._parts(body)
    assert title == "What is it?" and rest.startswith("\n    python")
    source = [f"head\n.. rst-class:: sphx-glr-example-title{body}"]
    gallery.read(None, "gallery/racing/which_bound", source)
    assert "What is it?\n===========\n" in source[0]
    assert ".. code-block:: sh\n\n    python x.py" in source[0] and "And more." in source[0]
