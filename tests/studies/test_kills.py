"""Processes killed at random moments, and two at once: few here, many in the slow tests."""

from pathlib import Path

import pytest

from programs import figures

PROGRAM = Path(__file__).with_name("kills.py")


def test_studies_killed_at_random_lose_nothing():
    found = figures(PROGRAM, "kill", 10, 1)
    assert found["kills"] >= 10 and found["acknowledged"] > 0


def test_two_processes_share_a_study():
    found = figures(PROGRAM, "share", 100, 1)
    assert found["recorded"] > 50 and found["events"]["tell"] <= 100


@pytest.mark.slow
def test_five_hundred_kills():
    """The documentation has the figures of one run."""
    found = figures(PROGRAM, "kill", 500, 2)
    assert found["kills"] >= 500
    assert all(found["phases"].get(name, 0) >= least for name, least in [
        ("create", 5), ("open", 5), ("ask", 30), ("tell", 30), ("close", 3), ("abandon", 3),
        ("amend", 5)])


@pytest.mark.slow
def test_two_processes_share_a_study_for_a_thousand_operations():
    found = figures(PROGRAM, "share", 1000, 2)
    assert found["recorded"] > 500 and found["events"]["tell"] <= 1000
