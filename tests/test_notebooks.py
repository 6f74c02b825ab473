"""Tutorials run as notebooks, which show plots, tables and progress."""

import asyncio

import numpy as np
import pytest

import pybandit as pb
from notebooks import cells_of, images, run_notebook

from compiler import ROOT

TUTORIALS = [page for page in sorted((ROOT / "docs" / "tutorials").glob("*.md"))
             if page.name != "index.md"]
pytestmark = pytest.mark.skipif(not TUTORIALS, reason="no pages beside the tests")
# the others take a minute, or compile
QUICK = ("ab_test.md", "choose_a_model.md")

FIRST = """
import warnings
warnings.simplefilter("error")
import numpy as np, pybandit as pb
scores = np.random.default_rng(0).random((2000, 12)) < np.linspace(0.3, 0.9, 12)
result = pb.best_of(scores, value_range=(0, 1), rng=1)
"""


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """Return the outputs of cells that show a plot in three ways, a result, and progress."""
    pytest.importorskip("matplotlib")
    return run_notebook([
        FIRST, "result.plot()", "ax = result.plot()",
        "import matplotlib.pyplot as plt\nresult.plot()\nplt.show()", "result",
        "pb.best_of(scores, value_range=(0, 1), rng=1).best"], tmp_path_factory.mktemp("shown"))


@pytest.mark.parametrize("cell", [1, 2, 3])
def test_plot_is_shown_once(shown, cell):
    assert images(shown[cell]) == 1


def test_result_is_shown_as_a_table(shown):
    assert "<table" in shown[4][0]["data"]["text/html"]


def test_progress_is_shown_by_default(shown):
    pytest.importorskip("tqdm")
    for outputs in shown[0], shown[5]:
        assert any("best_of" in output.get("text", "") for output in outputs)


@pytest.mark.parametrize("page", [
    pytest.param(page, id=page.name, marks=[pytest.mark.slow] * (page.name not in QUICK))
    for page in TUTORIALS])
def test_a_tutorial_runs_as_a_notebook(page, tmp_path):
    assert "```csv" not in page.read_text()  # a file that a cell would have to write first
    assert any(run_notebook(cells_of(page), tmp_path))


def test_best_of_in_a_running_loop_names_the_coroutine():
    async def judge(model, items):
        return np.zeros(len(items))

    async def call():
        pb.best_of(judge, 3, 100, value_range=(0, 1))

    with pytest.raises(RuntimeError, match=r"await (pb\.)?best_of_async"):
        asyncio.run(call())
