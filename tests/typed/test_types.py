"""Types: mypy accepts and rejects user code correctly, and stubs agree with the modules."""

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
CONFIG = HERE.parents[1] / "pyproject.toml"
PACKAGE = Path(pb.__file__).parent


def mypy(*arguments, folder):
    """Run mypy on the package under test; return the output."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    if "site-packages" not in PACKAGE.parts:
        environment["MYPYPATH"] = str(PACKAGE.parent)
    done = subprocess.run([sys.executable, "-m", *map(str, arguments)], cwd=folder, text=True,
                          env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert done.returncode in (0, 1), done.stdout
    return done.stdout


def test_a_users_file_is_checked(tmp_path):
    """`refused.py` has exactly the errors in its comments, and `accepted.py` has none."""
    files = HERE / "accepted.py", HERE / "refused.py"
    printed = mypy("mypy", "--config-file", CONFIG, "--cache-dir", tmp_path / "cache",
                   *files, folder=tmp_path)
    found = re.findall(r"(\w+\.py):(\d+): error: .*\[([\w-]+)\]$", printed, re.MULTILINE)
    expected = [(file.name, str(number), line.partition("# error: ")[2]) for file in files
                for number, line in enumerate(file.read_text().splitlines(), 1)
                if "# error: " in line]
    assert sorted(found) == sorted(expected) and len(expected) > 10, printed


def functions(value):
    """Return a function, or the public methods that a class defines in Python."""
    if not inspect.isclass(value):
        return [value]
    found = [member for name, member in vars(value).items()
             if not name.startswith("_") or name == "__init__"]
    return [getattr(member, "fget", None) or getattr(member, "__func__", member)
            for member in found]


@pytest.mark.parametrize("name", ["", ".bounds", ".environments", ".factors", ".kernels",
                                  ".cluster", ".mcmc", ".model_selection", ".tables", ".studies",
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
        # methods added by dataclasses and named tuples are typed by the fields
        if inspect.isfunction(function) and function.__code__.co_filename != "<string>":
            assert "return" in function.__annotations__, function.__qualname__


# user-defined objects, which may have any type
ANYTHING = {"Calls.executor", "Factors.user_data", "Items.prior_scores",
            "Screen.policy", "Study.policy", "WebTest.policy"}
# attributes that races set during construction
MADE = {"BettingRace": "n_arms n_items k delta value_range epsilon max_pulls bets costs "
                       "block_size population_size weights",
        "BudgetRace": "n_arms k budget costs delta", "BettingThreshold": "threshold delta"}


def names_of(value):
    """Return the public attributes of a class, except those inherited from scikit-learn."""
    ours = [one for one in value.__mro__ if one is not object
            and not one.__module__.startswith("sklearn")]
    names = {name for one in ours for name in vars(one) if not name.startswith("_")}
    return sorted(names | set(MADE.get(value.__name__, "").split()))


def test_public_names_have_types_and_other_names_are_errors(tmp_path):
    """A script uses every name, under `mypy --strict` without other settings."""
    modules = ["", ".betting", ".bounds", ".cluster", ".environments", ".evaluation", ".factors",
               ".kernels", ".mcmc", ".model_selection", ".montecarlo", ".policies", ".racing",
               ".simulation", ".lab", ".stopping", ".studies", ".tables", ".webtests"]
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


def test_stubs_agree_with_modules(tmp_path):
    aliases = tmp_path / "aliases.txt"  # stubtest rejects NDArray[...] of NumPy 2.5 as an alias
    aliases.write_text("" if isinstance(NDArray, types.GenericAlias) else
                       r"pybandit\.(_shared\.types|simulation\.result)\.(Floats|Ints)")
    printed = mypy("mypy.stubtest", "pybandit", "--ignore-missing-stub", "--ignore-disjoint-bases",
                   "--concise", "--mypy-config-file", CONFIG, "--allowlist",
                   HERE / "stubtest.txt", "--allowlist", aliases, folder=tmp_path)
    assert not printed, printed
