"""Servers killed while they record, and many clients at once: more in the slow tests."""

from pathlib import Path

import pytest

from programs import figures

HERE = Path(__file__).parent


def test_servers_killed_at_random_lose_nothing():
    found = figures(HERE / "serve_kills.py", 3, 1)
    assert found["kills"] == 3 and found["acknowledged"] > 0


@pytest.mark.slow
def test_two_hundred_killed_servers():
    """The documentation has the figures of one run."""
    found = figures(HERE / "serve_kills.py", 200, 3)
    assert found["kills"] == 200 and found["acknowledged"] > 2000
    assert found["amended"] > 200 and found["to_the_end"] >= 1


def test_results_of_many_clients_are_kept():
    """All acknowledged results are kept; the slow test measures the rate."""
    assert figures(HERE / "tell_rate.py", 0.5, 64)["tells"] > 64


@pytest.mark.slow
def test_five_hundred_durable_tells_a_second():
    assert figures(HERE / "tell_rate.py", 10, 64)["a_second"] >= 500
