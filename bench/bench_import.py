"""Processor time of importing pybandit in a fresh interpreter, compared with NumPy alone.

Run with ``make bench``. The aim is at most 40 ms over NumPy.
"""

import os
import subprocess
import sys

import pytest

from native import record, size

CODES = {"bare interpreter": "pass", "NumPy alone": "import numpy",
         "pybandit": "import numpy, pybandit",
         "pybandit and best_of": "import pybandit as pb; pb.best_of",
         "pybandit and race": "import pybandit as pb; pb.race"}


def seconds(code):
    """Return the least processor time of some runs."""
    found = []
    for _ in range(size(7, 1)):
        before = os.times()
        subprocess.run([sys.executable, "-c", code], check=True)
        after = os.times()
        found.append(after.children_user + after.children_system
                     - before.children_user - before.children_system)
    return min(found)


@pytest.mark.parametrize("role", CODES)
def test_import(benchmark, role):
    benchmark.group = "import in a fresh interpreter"
    benchmark.pedantic(lambda: None, rounds=1)  # processor time of this process says nothing here
    took = seconds(CODES[role])
    if benchmark.enabled:
        record(benchmark.group, role, took, is_ours=role.startswith("pybandit"))
