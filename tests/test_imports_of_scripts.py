"""Scripts of benchmarks, examples and tools import only what the package has."""

import ast
import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = ("bench", "examples", "tools", "docs", "tests")
MODULES_OF_EXTRAS = ("pybandit.integrations", "pybandit.serving", "pybandit.numba")


def imported(path):
    """Return (module, name) of each `from pybandit... import name` in a file."""
    tree = ast.parse(path.read_text("utf-8"), str(path))
    return {(node.module, alias.name) for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and not node.level and node.module
            and node.module.split(".")[0] == "pybandit"
            and not node.module.startswith(MODULES_OF_EXTRAS) for alias in node.names}


def exists(module, name):
    """Return True if `from module import name` works."""
    found = importlib.import_module(module)
    if hasattr(found, name):
        return True
    try:
        importlib.import_module(f"{module}.{name}")
    except ModuleNotFoundError:
        return False
    return True


@pytest.mark.parametrize("folder", FOLDERS)
def test_scripts_import_what_the_package_has(folder):
    scripts = sorted((ROOT / folder).rglob("*.py"))
    assert scripts
    missing = [f"{path.relative_to(ROOT)}: from {module} import {name}"
               for path in scripts for module, name in sorted(imported(path))
               if not exists(module, name)]
    assert not missing
