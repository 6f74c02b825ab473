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


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """Return an environment in which bytecode is kept: without it every run compiles all sources.

    Installations have bytecode; a variable of the caller, or a folder that is not writable, would
    forbid it here.
    """
    given = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return given | {"PYTHONPYCACHEPREFIX": str(tmp_path_factory.mktemp("bytecode"))}


def seconds(code, environment):
    """Return the least processor time of some runs, by the clock of the new process.

    Times of ended processes are multiples of 10 ms.
    """
    ends = f"{code}\nimport time\nprint(time.process_time())"

    def run():
        return float(subprocess.run([sys.executable, "-c", ends], check=True, text=True,
                                    stdout=subprocess.PIPE, env=environment).stdout)

    run()  # writes the bytecode
    return min(run() for _ in range(size(15, 1)))


@pytest.mark.parametrize("role", CODES)
def test_import(benchmark, environment, role):
    benchmark.group = "import in a fresh interpreter"
    benchmark.pedantic(lambda: None, rounds=1)  # processor time of this process says nothing here
    took = seconds(CODES[role], environment)
    if benchmark.enabled:
        record(benchmark.group, role, took, is_ours=role.startswith("pybandit"))
