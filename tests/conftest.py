"""What several rooms of the tests use, built once: the distributions, and checked kernels."""

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
    """The object files of csrc, as strict C11 with sanitizers."""
    return sorted(made_once("sanitized", lambda folder: compile_kernels(folder, *SANITIZE))
                  .glob("*.o"))


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
        # -O0 and what Cython has made of the tree: built in a third of the time, and run by a
        # few small programs only; `make wheel-test` builds the wheel of the sdist
        run(sys.executable, "-m", "build", "--no-isolation", "--sdist", "--wheel", "--outdir", out,
            source, env={**os.environ, "PYBANDIT_CFLAGS": "-O0"})
        for pattern in ("*.tar.gz", "*.whl"):
            (made,) = out.glob(pattern)
            made.rename(folder / made.name)


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


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    lost_interrupts(items)
    wanted = config.getoption("--sanitized")
    if wanted:
        chosen = sanitized.those_of(items, wanted, ROOT / "tests")
        config.hook.pytest_deselected(items=list(itertools.compress(items, map(not_, chosen))))
        items[:] = itertools.compress(items, chosen)


def lost_interrupts(items):
    """Interrupts at random moments may come inside a callback of the garbage collector.

    Python cannot raise there: it says so in a warning, and the interrupt is lost, as is one
    that comes after the call.
    """
    lost = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
    for item in items:
        if item.path.stem in ("test_signals", "test_interrupts") or "ctrl_c" in item.name:
            item.add_marker(lost)
