"""Types: what mypy accepts and refuses in a user's file, and that stubs are what is there."""

import importlib
import inspect
import os
import re
import subprocess
import sys
import types
from pathlib import Path

import pytest
from numpy.typing import NDArray

import pybandit as pb

pytest.importorskip("mypy")

HERE = Path(__file__).parent
PACKAGE = Path(pb.__file__).parent


def mypy(*arguments, folder):
    """What it prints; the package is the one that these tests import."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    if "site-packages" not in PACKAGE.parts:
        environment["MYPYPATH"] = str(PACKAGE.parent)
    done = subprocess.run([sys.executable, "-m", *map(str, arguments)], cwd=folder, text=True,
                          env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert done.returncode in (0, 1), done.stdout
    return done.stdout


def test_a_users_file_is_checked(tmp_path):
    """Every error of `refused.py` is at its line, and `accepted.py` has none."""
    files = HERE / "accepted.py", HERE / "refused.py"
    printed = mypy("mypy", "--config-file", HERE / "mypy.ini", "--cache-dir", tmp_path / "cache",
                   *files, folder=tmp_path)
    found = re.findall(r"(\w+\.py):(\d+): error: .*\[([\w-]+)\]$", printed, re.MULTILINE)
    expected = [(file.name, str(number), line.partition("# error: ")[2]) for file in files
                for number, line in enumerate(file.read_text().splitlines(), 1)
                if "# error: " in line]
    assert sorted(found) == sorted(expected) and len(expected) > 10, printed


def functions(value):
    """A function itself, or those that a class defines for its users; not compiled ones."""
    if not inspect.isclass(value):
        return [value]
    found = [member for name, member in vars(value).items()
             if not name.startswith("_") or name == "__init__"]
    return [getattr(member, "fget", None) or getattr(member, "__func__", member)
            for member in found]


@pytest.mark.parametrize("name", ["", ".bounds", ".environments", ".factors", ".kernels",
                                  ".mcmc", ".model_selection", ".tables", ".studies",
                                  ".lab", ".webtests", ".numba"])
def test_everything_public_has_types(name):
    if name == ".numba":
        pytest.importorskip("numba")
    module = importlib.import_module(f"pybandit{name}")
    names = getattr(module, "__all__", [key for key, value in vars(module).items()
                                        if getattr(value, "__module__", "") == module.__name__
                                        and not key.startswith("_")])
    public = [getattr(module, key) for key in names]
    assert public
    for function in [one for value in public for one in functions(value)]:
        # what a dataclass or a named tuple adds is typed by its fields
        if inspect.isfunction(function) and function.__code__.co_filename != "<string>":
            assert "return" in function.__annotations__, function.__qualname__


# what may be anything, since it is the user's
ANYTHING = {"Calls.executor", "Factors.user_data", "Items.prior_scores",
            "Screen.policy", "Study.policy", "WebTest.policy"}
# of races, whose attributes are set where they are made
MADE = {"BettingRace": "n_arms n_items k delta value_range epsilon max_pulls bets costs "
                       "block_size population_size weights",
        "BudgetRace": "n_arms k budget costs delta", "BettingThreshold": "threshold delta"}


def names_of(value):
    """Public attributes, but for those of scikit-learn's that nobody here has written."""
    ours = [one for one in value.__mro__ if one is not object
            and not one.__module__.startswith("sklearn")]
    names = {name for one in ours for name in vars(one) if not name.startswith("_")}
    return sorted(names | set(MADE.get(value.__name__, "").split()))


def test_no_public_name_is_anything_and_no_other_name_is_there(tmp_path):
    """A script that looks at everything: `mypy --strict` as it comes, without our settings."""
    modules = ["", ".betting", ".bounds", ".environments", ".evaluation", ".factors", ".kernels",
               ".mcmc", ".model_selection", ".montecarlo", ".policies", ".racing", ".simulation",
               ".lab", ".stopping", ".studies", ".tables", ".webtests"]
    lines = ["import pybandit, pybandit.evaluation, pybandit.lab, pybandit.model_selection",
             "import pybandit.webtests"]
    classes = 0
    for name in modules:
        module = importlib.import_module(f"pybandit{name}")
        for key in getattr(module, "__all__", []):
            value, path = getattr(module, key), f"pybandit{name}.{key}"
            if inspect.isclass(value) and not issubclass(value, BaseException):
                classes += 1
                lines += [f"def look{len(lines)}(x: {path}) -> None:",
                          f"    x.no_such_name  # {key}"]
                lines += [f"    reveal_type(x.{one})  # {key}.{one}" for one in names_of(value)]
            elif callable(value):
                lines.append(f"reveal_type({path})  # {key}")
    (tmp_path / "script.py").write_text("\n".join(lines) + "\n")
    printed = mypy("mypy", "--strict", "--config-file=", "--cache-dir", tmp_path / "cache",
                   "script.py", folder=tmp_path)
    found = re.findall(r"^script.py:(\d+): (error|note): (.*)$", printed, re.MULTILINE)
    what = [(lines[int(number) - 1].partition("# ")[2], text) for number, _, text in found]
    assert {name for name, text in what if text == 'Revealed type is "Any"'} == ANYTHING
    errors = [(name, text) for (name, text), (_, kind, _) in zip(what, found, strict=True)
              if kind == "error"]
    assert len(errors) == classes > 80, errors
    assert all("no_such_name" in text for _, text in errors), errors


def test_stubs_are_what_is_there(tmp_path):
    aliases = tmp_path / "aliases.txt"  # of NumPy 2.5's NDArray[...] stubtest says that it is none
    aliases.write_text("" if isinstance(NDArray, types.GenericAlias) else
                       r"pybandit\.(_shared\.types|simulation\.result)\.(Floats|Ints)")
    printed = mypy("mypy.stubtest", "pybandit", "--ignore-missing-stub", "--ignore-disjoint-bases",
                   "--concise", "--mypy-config-file", HERE / "mypy.ini", "--allowlist",
                   HERE / "stubtest.txt", "--allowlist", aliases, folder=tmp_path)
    assert not printed, printed
