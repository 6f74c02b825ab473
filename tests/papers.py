"""Loading and running the scripts of the papers in tests."""

import contextlib
import json
import pathlib
import runpy
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[1]
PAPERS = ROOT / "examples" / "papers"
NO_PAPERS = pytest.mark.skipif(not PAPERS.is_dir(), reason="no examples beside the tests")


@contextlib.contextmanager
def imports_of(paper):
    """Import modules from the folder of a paper, as Python does for a script in it.

    All papers have a module `setting`, so modules of the papers are forgotten at both ends.
    """
    before = list(sys.path)
    _forget()
    sys.path.insert(0, str(PAPERS / paper))
    try:
        yield
    finally:
        sys.path[:] = before
        _forget()


def _forget():
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None)).startswith(str(PAPERS)):
            del sys.modules[name]


def load(paper, script):
    """Return the names of a script or module of a paper."""
    with imports_of(paper):
        return runpy.run_path(str(PAPERS / paper / f"{script}.py"))


def claims_of(paper, script, tmp_path, *options):
    """Run a script with ``--quick`` in this process; return its claims by statement."""
    path = tmp_path / "claims.json"
    load(paper, script)["main"](["--quick", "--json", str(path), *options])
    return _by_statement(path)


def run_quick(paper, script, tmp_path, *options):
    """Run a script with ``--quick`` as a command; return its printed text and its claims."""
    claims, plot = tmp_path / "claims.json", tmp_path / "plot.png"
    done = subprocess.run(
        [sys.executable, str(PAPERS / paper / f"{script}.py"), "--quick", "--json", str(claims),
         "--save", str(plot), *options], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert plot.read_bytes().startswith(b"\x89PNG")
    found = _by_statement(claims)
    assert all(statement in done.stdout for statement in found)
    return done.stdout, found


def _by_statement(path):
    claims = json.loads(path.read_text())["claims"]
    found = {claim["statement"]: claim for claim in claims}
    assert claims and len(found) == len(claims)
    return found
