"""Loading and running the scripts of the papers in tests."""

import json
import pathlib
import runpy
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[1]
PAPERS = ROOT / "examples" / "papers"
NO_PAPERS = pytest.mark.skipif(not PAPERS.is_dir(), reason="no examples beside the tests")


def load(paper, script):
    """Return the names of a script, imported as ``python examples/papers/...`` would."""
    folder = PAPERS / paper
    before = {name: sys.modules.pop(name, None) for name in ("setting", "figures")}
    sys.path.insert(0, str(folder))
    try:
        return runpy.run_path(str(folder / f"{script}.py"))
    finally:
        sys.path[:] = [path for path in sys.path if path not in (str(folder), str(PAPERS))]
        for name, module in before.items():
            sys.modules.pop(name, None)
            if module is not None:
                sys.modules[name] = module


def run_quick(paper, script, tmp_path, *options):
    """Run a script with ``--quick``; return its printed text and its claims."""
    claims, plot = tmp_path / "claims.json", tmp_path / "plot.png"
    done = subprocess.run(
        [sys.executable, str(PAPERS / paper / f"{script}.py"), "--quick", "--json", str(claims),
         "--save", str(plot), *options], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert not plot.exists() or plot.read_bytes().startswith(b"\x89PNG")
    found = json.loads(claims.read_text())["claims"]
    assert found and all(claim["statement"] in done.stdout for claim in found)
    return done.stdout, found
