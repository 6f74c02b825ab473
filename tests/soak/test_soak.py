"""The verdict reports growth and ignores noise; a short run of all jobs passes."""

import pathlib
import subprocess
import sys

import numpy as np
import pytest

from soak import verdict

PROGRAM = pathlib.Path(__file__).parent / "run.py"
TIMES = np.arange(60.0)


def rows_of(memory, descriptors=None, cost=None):
    """Return the rows of an hour, with the noise of real runs."""
    rng = np.random.default_rng(1)
    descriptors = np.full(60, 9.0) if descriptors is None else descriptors
    cost = np.ones(60) if cost is None else cost
    return [{"time": t, "main memory": m, "main descriptors": d, "job cost": c}
            for t, m, d, c in zip(TIMES, memory + rng.normal(0.0, 0.3, 60), descriptors,
                                  cost * np.exp(rng.normal(0.0, 0.05, 60)), strict=True)]


def faults(rows):
    return [one.name for one in verdict.trends(rows) if one.faulty]


def test_level_series_passes_after_any_warm_up():
    warm = 200.0 + 90.0 * (TIMES > 3) + 5.0 * (TIMES > 12)
    assert faults(rows_of(warm)) == []


@pytest.mark.parametrize("rows, named", [
    (rows_of(200.0 + 9.0 * TIMES / 60), "main memory"),
    (rows_of(np.full(60, 200.0), descriptors=9 + TIMES // 15), "main descriptors"),
    (rows_of(np.full(60, 200.0), cost=1 + 0.3 * TIMES / 60), "job cost")])
def test_growing_series_is_named(rows, named):
    assert faults(rows) == [named]


def test_trend_is_a_least_squares_line():
    values = 3.0 + 0.5 * TIMES + np.random.default_rng(2).normal(size=60)
    found = verdict.trend("main memory", TIMES, values)
    slope, start = np.polyfit(TIMES[20:], values[20:], 1)
    assert found.growth == pytest.approx(slope * 39) and found.faulty
    assert found.start == pytest.approx(start + 20 * slope)


def soak(*options):
    done = subprocess.run([sys.executable, PROGRAM, "--share", "1", *options],
                          capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.slow
def test_planted_leak_is_found():
    code, said = soak("--seconds", "4", "--looks", "12", "--jobs", "kept,leaking",
                      "--no-servers")
    found = {line.split("  ")[0] for line in said.splitlines() if line.endswith("GROWS")}
    assert code == 1 and {"main memory", "main descriptors", "leaking cost"} <= found, said


@pytest.mark.slow
def test_ten_seconds_of_all_jobs_pass():
    """The run is too short to judge memory and speed, but not descriptors, threads and objects.

    Every round must give the results of the first one, or the program fails.
    """
    code, said = soak("--seconds", "10", "--looks", "10")
    lines = [line for line in said.splitlines() if line.endswith(("ok", "GROWS"))]
    assert code in (0, 1) and len(lines) > 20, said
    assert not [line for line in lines if line.endswith("GROWS")
                and not line.split("  ")[0].endswith((" memory", " cost"))], said
