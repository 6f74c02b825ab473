"""Every group of benchmarks ends as one line of ratios, measured in one run."""

import ctypes
import subprocess
import sysconfig
from pathlib import Path

import numpy as np
import pytest

from native import RESULTS


@pytest.fixture
def timed(benchmark):
    """Time `function` as one `role` of a group; `per` calls of interest in each."""

    def run(group, role, function, per=1, setup=None, rounds=None):
        benchmark.group = group
        if setup is None and rounds is None:
            benchmark(function)
        else:
            benchmark.pedantic(function, setup=setup, rounds=rounds or 50, warmup_rounds=2)
        RESULTS.setdefault(group, {})[role] = benchmark.stats.stats.median / per

    return run


def pytest_terminal_summary(terminalreporter):
    """Print each group: time of each role, and its ratio to the group's first."""
    write = terminalreporter.write_line
    terminalreporter.section("medians and ratios, one run")
    for group, roles in RESULTS.items():
        write(f"{group}")
        baseline = next(iter(roles.values()))
        for role, seconds in roles.items():
            write(f"    {role:<46}{seconds * 1e6:>12.3f} us{seconds / baseline:>10.3f}"
                  f"  (1/{baseline / seconds:.1f})")


@pytest.fixture(scope="session")
def limits(tmp_path_factory):
    """bench/limits.c, compiled as a careful user would."""
    library = tmp_path_factory.mktemp("limits") / "limits.so"
    compiler = (sysconfig.get_config_var("CC") or "cc").split()[0]
    source = Path(__file__).with_name("limits.c")
    subprocess.run([compiler, "-O3", "-shared", "-fPIC", "-o", library, source], check=True)
    return ctypes.CDLL(str(library))


@pytest.fixture(scope="session")
def population():
    """The synthetic population of the paper's Sec. 5.1: unit rewards of ten states."""
    rewards = np.random.default_rng(2016).normal(size=(100_000, 10))
    rewards -= rewards.mean(axis=0)
    return rewards / rewards.std(axis=0)
