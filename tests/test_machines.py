"""The whole interface without what other systems and other options of Python lack."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pybandit._shared import alive

import unlike_linux

TOUR = Path(__file__).parent / "tour.py"


def tour(*options, arguments=(), **variables):
    """Run the tour in another interpreter."""
    done = subprocess.run(
        [sys.executable, *options, TOUR, *arguments], text=True, capture_output=True,
        encoding="utf-8", env=os.environ | variables | {
            "PYTHONPATH": os.pathsep.join(sys.path), "OPENBLAS_NUM_THREADS": "1"})
    assert (done.returncode, done.stdout) == (0, "all of it works\n"), done.stderr[-4000:]


@pytest.mark.skipif(sys.platform != "linux", reason="Linux is made unlike itself")
def test_interface_works_without_the_calls_that_windows_lacks():
    tour(arguments=["windows"], PYTHONWARNDEFAULTENCODING="1")


@pytest.mark.skipif(sys.platform != "linux", reason="the library of Windows is played by /proc")
def test_windows_tells_whether_a_process_lives():
    library = unlike_linux.Kernel32()

    def started(pid):
        return alive.of_windows(pid, library, lambda: library.error)

    assert started(os.getpid()).isdecimal() and started(os.getpid()) == started(os.getpid())
    assert started(2**22 + 7) is None
    library.OpenProcess = unlike_linux.Function(lambda *arguments: None)
    library.error = 5  # access is denied: the process of another user
    assert started(os.getpid()) == ""
    library = unlike_linux.Kernel32()
    library.WaitForSingleObject = unlike_linux.Function(lambda process, patience: 0)
    assert started(os.getpid()) is None  # it has ended, but a handle of it is open
