"""Eight threads on an object of every public class: right results, or a RuntimeError, no more."""

import os
import threading

import pytest

from public_classes import CHANGING
from thread_work import SOAKS

# Each object is shared for so long; the objects of a group are at it at the same time.
SECONDS = float(os.environ.get("PYBANDIT_SOAK_SECONDS", 5))
GROUP = int(os.environ.get("PYBANDIT_SOAK_GROUP", 8))
NAMES = list(SOAKS)
GROUPS = [NAMES[start:start + GROUP] for start in range(0, len(NAMES), GROUP)]


def test_no_class_is_forgotten():
    in_one_loop = {"RaceStopping"}
    assert set(CHANGING) - in_one_loop <= {name.split(":")[0] for name in SOAKS}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # warnings are not kept apart by thread
@pytest.mark.parametrize("names", GROUPS, ids=[f"{group[0]} to {group[-1]}" for group in GROUPS])
def test_eight_threads_each(names):
    wrong = {}

    def soak(name):
        try:
            SOAKS[name](SECONDS)
        except BaseException as error:
            wrong[name] = error

    threads = [threading.Thread(target=soak, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10 * SECONDS + 600)
        assert not thread.is_alive(), names
    assert not wrong
