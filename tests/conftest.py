"""What several rooms of the tests use: the distributions that are shipped, built once."""

import fcntl
import os
import pathlib
import shutil
import signal
import sys
import tempfile

import pytest

from compiler import ROOT, run


def pytest_configure():
    """A shell lets what it runs in the background ignore Ctrl-C; tests of it would wait."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def distributions(tmp_path_factory):
    """A folder with one sdist and the wheel built from it; `make wheel-test` brings its own."""
    if "PYBANDIT_DIST" in os.environ:
        return pathlib.Path(os.environ["PYBANDIT_DIST"])
    if "PYTEST_XDIST_WORKER" not in os.environ:
        return _built(tmp_path_factory.mktemp("distributions"))
    # all workers of a run share the folder above theirs; the first one there builds
    shared = tmp_path_factory.getbasetemp().parent / "distributions"
    shared.mkdir(exist_ok=True)
    with open(shared / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return shared if any(shared.glob("*.whl")) else _built(shared)


def _built(folder):
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        source, out = pathlib.Path(scratch, "source"), pathlib.Path(scratch, "out")
        left_out = shutil.ignore_patterns(".*", "build", "*.so", "*.a", "*.egg-info", "__pycache__")
        shutil.copytree(ROOT, source, ignore=left_out)
        # -O0: built in half the time, and run by a few small programs only
        run(sys.executable, "-m", "build", "--no-isolation", "--outdir", out, source,
            env={**os.environ, "PYBANDIT_CFLAGS": "-O0"})
        for pattern in ("*.tar.gz", "*.whl"):  # the wheel last: it tells that all is there
            (made,) = out.glob(pattern)
            made.rename(folder / made.name)
    return folder


@pytest.fixture(scope="session")
def installed(distributions, tmp_path_factory):
    """The folder into which the wheel alone was installed; its name has a space, as some have."""
    folder = tmp_path_factory.mktemp("installed") / "site packages"
    (wheel,) = distributions.glob("*.whl")
    run(sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
        "--no-index", "--no-deps", "--target", folder, wheel)
    return folder


def pytest_collection_modifyitems(items):
    """Interrupts at random moments may come inside a callback of the garbage collector.

    Python cannot raise there: it says so in a warning, and the interrupt is lost, as is one
    that comes after the call.
    """
    lost = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
    for item in items:
        if item.path.stem in ("test_signals", "test_interrupts"):
            item.add_marker(lost)
