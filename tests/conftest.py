"""Fixtures of several rooms, built once: distributions and kernels with sanitizers."""

import collections
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
    """Restore Ctrl-C, which background jobs of a shell ignore; tests of it would hang."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def lock(file):
    """Wait for the lock of a file, which is released when the file is closed."""
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)
    else:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX)


@pytest.fixture(scope="session")
def made_once(tmp_path_factory):
    """Return made_once(name, make): a folder filled by `make`, once for all workers of a run."""
    def made(name, make):
        # with several workers, use the folder that contains the folders of all workers
        several = "PYTEST_XDIST_WORKER" in os.environ
        base = tmp_path_factory.getbasetemp()
        folder = (base.parent if several else base) / name
        folder.mkdir(exist_ok=True)
        with open(folder / ".made", "a+") as mark:
            lock(mark)
            if mark.seek(0, os.SEEK_END) == 0:
                make(folder)
                mark.write("yes")
        return folder

    return made


@pytest.fixture(scope="session")
def kernels(made_once):
    """Return a library of csrc, compiled as strict C11 with sanitizers."""
    def make(folder):
        compile_kernels(folder, *SANITIZE)
        run("ar", "rcs", folder / "libkernels.a", *sorted(folder.glob("*.o")))

    return made_once("sanitized", make) / "libkernels.a"


@pytest.fixture(scope="session")
def distributions(made_once):
    """Return a folder with one sdist and one wheel; `make wheel-test` provides its own."""
    if "PYBANDIT_DIST" in os.environ:
        return pathlib.Path(os.environ["PYBANDIT_DIST"])
    return made_once("distributions", _built)


def _built(folder):
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        source, out = pathlib.Path(scratch, "source"), pathlib.Path(scratch, "out")
        left_out = shutil.ignore_patterns(".*", "build", "*.so", "*.a", "*.egg-info", "__pycache__")
        shutil.copytree(ROOT, source, ignore=left_out)
        _take_compiled(source)
        # Objects that `make` has not compiled get -O0: few programs use them. `make wheel-test`
        # builds the wheel from the sdist.
        run(sys.executable, "-m", "build", "--no-isolation", "--sdist", "--wheel", "--outdir", out,
            source, env={**os.environ, "PYBANDIT_CFLAGS": "-O0"})
        for pattern in ("*.tar.gz", "*.whl"):
            (made,) = out.glob(pattern)
            made.rename(folder / made.name)


def _take_compiled(source):
    """Copy the objects that `make` compiled from this tree, so that the wheel can use them."""
    for folder in ("lib", "temp"):
        for made in ROOT.glob(f"build/{folder}.*/**/*"):
            place = made.relative_to(ROOT)
            module = pathlib.Path(*place.parts[2:]).with_name(made.name.partition(".")[0])
            if any((source / module).with_suffix(end).exists() for end in (".pyx", ".c")):
                (source / place).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(made, source / place)


@pytest.fixture(scope="session")
def installed(distributions, tmp_path_factory):
    """Return a folder with only the wheel installed; like some real paths, it has a space."""
    folder = tmp_path_factory.mktemp("installed") / "site packages"
    (wheel,) = distributions.glob("*.whl")
    run(sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
        "--no-index", "--no-deps", "--target", folder, wheel)
    return folder


def pytest_addoption(parser):
    parser.addoption("--sanitized", choices=["soon", "later"], metavar="WHEN",
                     help="run only the tests that tests/sanitized.py lists for this run")
    parser.addoption("--part", choices=["first", "rest"],
                     help="run the tests of `make test`, or the remaining ones (tests/parts.py)")


def pytest_ignore_collect(collection_path, config):
    """If only the first part runs, skip the files of the second part without importing them."""
    if config.getoption("--part") == "first" and parts.is_more(below_tests(collection_path)):
        return True
    return None


def below_tests(path):
    """Return the path of a file or a folder below tests/; that of a folder ends in a slash."""
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
    """Mark all but n cases of a test marked `some(n)` as slow."""
    tests = collections.defaultdict(list)
    for item in items:
        mark = item.get_closest_marker("some")
        if mark and not item.get_closest_marker("slow"):
            tests[item.path, item.originalname, *mark.args].append(item)
    for (*_, n), cases in tests.items():
        for item in all_but(n, cases):
            item.add_marker(pytest.mark.slow)


def all_but(n, cases):
    """Return all cases but n; in those n, values of each parameter are about equally frequent."""
    left, seen = list(cases), collections.Counter()
    for _ in range(min(n, len(left))):
        one = min(left, key=lambda case: sum(seen[value] for value in values_of(case)))
        left.remove(one)
        seen.update(values_of(one))
    return left


def values_of(case):
    return [(name, id(value)) for name, value in case.callspec.params.items()]


def lost_interrupts(items):
    """Ignore the warning about an interrupt inside a callback of the garbage collector.

    Interrupts come at random times. Python cannot raise in such a callback: it warns, and the
    interrupt is lost, like one that comes after the call.
    """
    lost = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
    for item in items:
        if item.path.stem in ("test_signals", "test_interrupts") or "ctrl_c" in item.name:
            item.add_marker(lost)


@pytest.fixture(autouse=True)
def close_figures():
    """Close the figures opened by `plot`; pyplot warns if more than twenty are open."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
