"""Public callables do not crash while others write odd numbers into their arrays."""

import inspect
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from border_calls import ROOMS
from public_classes import CLASSES, methods_of

from hostile_arrays.drivers import DRIVERS, ELSEWHERE

TESTS = Path(__file__).parents[1]
# several rooms per process, because imports take seconds
GROUPS = [["racing", "factors", "bounds", "numba", "tables"],
          ["mcmc", "betting", "evaluation", "searches"],
          ["policies", "simulation", "montecarlo", "cluster"]]


def takes_arrays(method):
    """Return True if the signature or the docstring of a method says that it takes arrays."""
    text = inspect.getdoc(method) or ""
    parameters = re.split(r"\n(?:Returns|Raises)\n", text.partition("Parameters\n")[2])[0]
    hints = {name: hint for name, hint in getattr(method, "__annotations__", {}).items()
             if name != "return"}
    return "array" in parameters or bool(re.search("ArrayLike|Ints|Floats", str(hints)))


def is_driven(cls, name):
    return f"{cls.__name__}.{name}" in ELSEWHERE or any(
        name in DRIVERS.get(one, {}) for one in cls.__mro__)


def test_every_method_is_attacked():
    forgotten = [f"{cls.__name__}.{name}" for cls in CLASSES.values() for name in methods_of(cls)
                 if takes_arrays(getattr(cls, name)) and not is_driven(cls, name)]
    assert not forgotten


def test_every_room_is_attacked():
    # `test_borders` checks that no callable of a room is missing
    assert sorted(room for group in GROUPS for room in group) == sorted(ROOMS)


def attack(rooms, seconds, most):
    """Run rooms in a new process group, which must end by itself with "whole"."""
    command = [sys.executable, "-m", "hostile_arrays.run", str(seconds), *rooms]
    path = os.pathsep.join([str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])])
    with subprocess.Popen(command, cwd=TESTS, env=os.environ | {"PYTHONPATH": path}, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          start_new_session=True) as process:
        try:
            output, _ = process.communicate(timeout=most)
        finally:  # also ends the process that writes
            os.killpg(process.pid, signal.SIGKILL)
    end = "\n".join(output.splitlines()[-60:])
    assert process.returncode == 0 and output.endswith("whole\n"), end


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no processes that share memory")
@pytest.mark.parametrize("rooms", GROUPS, ids="-".join)
def test_written_arrays_do_not_crash(rooms):
    attack(rooms, 0.02, 600)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no processes that share memory")
@pytest.mark.parametrize("room", ROOMS)
def test_arrays_written_for_a_second_do_not_crash(room):
    attack([room], 1.0, 3600)
