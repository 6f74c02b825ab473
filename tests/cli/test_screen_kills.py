"""Commands of `pybandit screen` are killed at random times and lose nothing."""

from pathlib import Path

import pytest

from programs import figures

PROGRAM = Path(__file__).with_name("screen_kills.py")


def test_commands_killed_at_random_lose_nothing():
    assert figures(PROGRAM, 5, 1)["kills"] >= 5


@pytest.mark.slow
def test_five_hundred_killed_commands_lose_nothing():
    found = figures(PROGRAM, 500, 2)
    assert found["kills"] >= 500
    assert all(found["commands"][name] >= least
               for name, least in [("new", 5), ("next", 50), ("record", 50), ("amend", 20)])
