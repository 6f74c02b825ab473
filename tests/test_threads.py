"""Eight threads use one object of each public class: correct results, or a RuntimeError."""

import os
import threading

import pytest

from interrupted_calls import HAS_NUMBA
from thread_work import SOAKS

# Seconds that each object is shared, and the number of objects tested at the same time.
SECONDS = float(os.environ.get("PYBANDIT_SOAK_SECONDS", 5))
GROUP = int(os.environ.get("PYBANDIT_SOAK_GROUP", 8))
NAMES = list(SOAKS)
GROUPS = [NAMES[start:start + GROUP] for start in range(0, len(NAMES), GROUP)]


@pytest.mark.skipif(not HAS_NUMBA, reason="numba is not installed")
def test_every_class_is_shared():
    from public_classes import CHANGING  # imports all modules, also those that need numba

    in_one_loop = {"RaceStopping"}
    assert set(CHANGING) - in_one_loop <= {name.split(":")[0] for name in SOAKS}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # warnings of different threads mix
@pytest.mark.parametrize("names", GROUPS, ids=[f"{group[0]} to {group[-1]}" for group in GROUPS])
def test_eight_threads_get_correct_results(names):
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
