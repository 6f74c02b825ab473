"""What several rooms of the tests use, built once: the distributions, and checked kernels."""

import collections
import fcntl
import itertools
import os
import pathlib
import shutil
import signal
import sys
import tempfile
from operator import not_

import pytest

import parts

import sanitized
from compiler import ROOT, SANITIZE, compile_kernels, run


def pytest_configure():
    """A shell lets what it runs in the background ignore Ctrl-C; tests of it would wait."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def made_once(tmp_path_factory):
    """made_once(name, make): a folder that `make` has filled, once for all workers of a run."""
    def made(name, make):
        # the folder above theirs, where there are several
        several = "PYTEST_XDIST_WORKER" in os.environ
        base = tmp_path_factory.getbasetemp()
        folder = (base.parent if several else base) / name
        folder.mkdir(exist_ok=True)
        with open(folder / ".made", "a+") as mark:
            fcntl.flock(mark, fcntl.LOCK_EX)
            if mark.seek(0, os.SEEK_END) == 0:
                make(folder)
                mark.write("yes")
        return folder

    return made


@pytest.fixture(scope="session")
def kernels(made_once):
    """A library of csrc, as strict C11 with sanitizers."""
    def make(folder):
        compile_kernels(folder, *SANITIZE)
        run("ar", "rcs", folder / "libkernels.a", *sorted(folder.glob("*.o")))

    return made_once("sanitized", make) / "libkernels.a"


@pytest.fixture(scope="session")
def distributions(made_once):
    """A folder with one sdist and one wheel; `make wheel-test` brings its own."""
    if "PYBANDIT_DIST" in os.environ:
        return pathlib.Path(os.environ["PYBANDIT_DIST"])
    return made_once("distributions", _built)


def _built(folder):
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        source, out = pathlib.Path(scratch, "source"), pathlib.Path(scratch, "out")
        left_out = shutil.ignore_patterns(".*", "build", "*.so", "*.a", "*.egg-info", "__pycache__")
        shutil.copytree(ROOT, source, ignore=left_out)
        _take_compiled(source)
        # What is not there yet is compiled at -O0: few small programs run it. `make wheel-test`
        # builds the wheel of the sdist.
        run(sys.executable, "-m", "build", "--no-isolation", "--sdist", "--wheel", "--outdir", out,
            source, env={**os.environ, "PYBANDIT_CFLAGS": "-O0"})
        for pattern in ("*.tar.gz", "*.whl"):
            (made,) = out.glob(pattern)
            made.rename(folder / made.name)


def _take_compiled(source):
    """What `make` compiled of this tree, so that the wheel need not compile it again."""
    for folder in ("lib", "temp"):
        for made in ROOT.glob(f"build/{folder}.*/**/*"):
            place = made.relative_to(ROOT)
            module = pathlib.Path(*place.parts[2:]).with_name(made.name.partition(".")[0])
            if any((source / module).with_suffix(end).exists() for end in (".pyx", ".c")):
                (source / place).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(made, source / place)


@pytest.fixture(scope="session")
def installed(distributions, tmp_path_factory):
    """The folder into which the wheel alone was installed; its name has a space, as some have."""
    folder = tmp_path_factory.mktemp("installed") / "site packages"
    (wheel,) = distributions.glob("*.whl")
    run(sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
        "--no-index", "--no-deps", "--target", folder, wheel)
    return folder


def pytest_addoption(parser):
    parser.addoption("--sanitized", choices=["soon", "later"], metavar="WHEN",
                     help="those tests alone that tests/sanitized.py has run soon, or later")
    parser.addoption("--part", choices=["first", "rest"],
                     help="the tests of `make test`, or those that it leaves (tests/parts.py)")


def pytest_ignore_collect(collection_path, config):
    """The first part does not even read the files that it leaves."""
    if config.getoption("--part") == "first" and parts.is_more(below_tests(collection_path)):
        return True
    return None


def below_tests(path):
    """The name of a file or a folder below tests/; a folder ends in a slash."""
    name = os.path.relpath(path, ROOT / "tests")
    return name + "/" if path.is_dir() else name


def of_part(items, part):
    """Yield, for each test, True if it belongs to the part: "first" or "rest"."""
    for item in items:
        is_more = parts.is_more(below_tests(item.path)) or item.get_closest_marker("more")
        yield bool(is_more) == (part == "rest")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    lost_interrupts(items)
    leave_some(items)
    if config.getoption("--sanitized"):
        keep(config, items,
             sanitized.those_of(items, config.getoption("--sanitized"), ROOT / "tests"))
    if config.getoption("--part"):
        keep(config, items, list(of_part(items, config.getoption("--part"))))


def keep(config, items, chosen):
    """Deselect all tests but the chosen ones."""
    config.hook.pytest_deselected(items=list(itertools.compress(items, map(not_, chosen))))
    items[:] = itertools.compress(items, chosen)


def leave_some(items):
    """Of the cases of a test marked `some(n)`, n run and all others are slow."""
    tests = collections.defaultdict(list)
    for item in items:
        mark = item.get_closest_marker("some")
        if mark and not item.get_closest_marker("slow"):
            tests[item.path, item.originalname, *mark.args].append(item)
    for (*_, n), cases in tests.items():
        for item in all_but(n, cases):
            item.add_marker(pytest.mark.slow)


def all_but(n, cases):
    """Leaves out n cases in which the values of each parameter come about as often."""
    left, seen = list(cases), collections.Counter()
    for _ in range(min(n, len(left))):
        one = min(left, key=lambda case: sum(seen[value] for value in values_of(case)))
        left.remove(one)
        seen.update(values_of(one))
    return left


def values_of(case):
    return [(name, id(value)) for name, value in case.callspec.params.items()]


def lost_interrupts(items):
    """Interrupts at random moments may come inside a callback of the garbage collector.

    Python cannot raise there: it says so in a warning, and the interrupt is lost, as is one
    that comes after the call.
    """
    lost = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
    for item in items:
        if item.path.stem in ("test_signals", "test_interrupts") or "ctrl_c" in item.name:
            item.add_marker(lost)


@pytest.fixture(autouse=True)
def close_figures():
    """Close the figures that `plot` opened in pyplot, which warns of more than twenty."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
