"""Run code as notebooks, each in a new kernel."""

import os
import re
import sys

import pytest

from blocks import blocks_of
from compiler import ROOT


def run_notebook(sources, folder):
    """Run cells in a new kernel; return the list of outputs of each cell."""
    nbformat = pytest.importorskip("nbformat")
    client = pytest.importorskip("nbclient").NotebookClient
    pytest.importorskip("ipykernel")
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    notebook = nbformat.v4.new_notebook(cells=cells)
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", path)
        patch.delenv("MPLBACKEND", raising=False)  # unset: plots appear in the notebook
        patch.setenv("PATH", os.pathsep.join([os.path.dirname(sys.executable),
                                              os.environ["PATH"]]))
        client(notebook, timeout=300, kernel_name="python3",
               resources={"metadata": {"path": str(folder)}}).execute()
    return [cell.outputs for cell in cells]


def cells_of(page):
    """Return the cells of a tutorial, with %%bash for shell and %%writefile for files."""
    cells = []
    for block in blocks_of(page.read_text()):
        if block.kind == "python":
            named = re.match(r"# (\w+\.\w+)\n", block.body)
            cells.append(f"%%writefile {named[1]}\n{block.body}" if named else block.body)
        elif block.kind == "sh" and not re.search(r"^\s*(make|pip|git|cc)\b", block.body, re.M):
            cells.append(f"%%bash\n{block.body}")
    return cells


def images(outputs):
    """Return the number of PNG images among the outputs of a cell."""
    return sum("image/png" in output.get("data", {}) for output in outputs)
