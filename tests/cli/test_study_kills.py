"""Commands of `pybandit study` killed at random: some here, many in the slow test."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest


def figures(n, seed):
    """What `study_cli_kills` reports: it checks all, and prints figures."""
    program = Path(__file__).with_name("study_kills.py")
    done = subprocess.run([sys.executable, program, str(n), str(seed)], text=True,
                          capture_output=True,
                          env=os.environ | {"PYTHONPATH": ":".join(sys.path),
                                            "OPENBLAS_NUM_THREADS": "1"})
    assert done.returncode == 0, done.stderr
    print(done.stdout)
    return json.loads(done.stdout)


def test_commands_killed_at_random():
    assert figures(5, 1)["kills"] >= 5


@pytest.mark.slow
def test_five_hundred_killed_commands():
    found = figures(500, 2)
    assert found["kills"] >= 500
    assert all(found["commands"][name] >= least
               for name, least in [("new", 5), ("next", 50), ("record", 50)])
