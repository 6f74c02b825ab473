"""Print ratios of the time of pybandit to that of a rival or a limit, measured in one run.

With ``--benchmark-disable`` every benchmark runs once, at small sizes (`native.size`).
"""

import ctypes
import subprocess
import sysconfig
from pathlib import Path

import numpy as np
import pytest

import native

collect_ignore_glob = ["mcmc/bench_*.py"]  # scripts that print a table: bench_scripts.py


def pytest_configure(config):
    native.QUICK = config.getoption("benchmark_disable", False)


@pytest.fixture
def timed(benchmark):
    """Time `function` as one `role` of a group; each call makes `per` calls of interest.

    `is_ours` is needed only if a role does not follow the rule of `native.record`.
    """

    def run(group, role, function, per=1, setup=None, rounds=None, is_ours=None):
        benchmark.group = group
        if setup is None and rounds is None:
            benchmark(function)
        else:
            benchmark.pedantic(function, setup=setup, rounds=rounds or 50, warmup_rounds=2)
        if benchmark.enabled:
            native.record(group, role, benchmark.stats.stats.median / per, is_ours)

    return run


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter):
    """Print the table of ratios."""
    rows = native.ratios(native.RESULTS)
    if not rows:
        return
    write, group = terminalreporter.write_line, None
    terminalreporter.section("ratios of medians, one run")
    write(f"{'benchmark: ours':<52}{'us':>14}  {'rival or limit':<34}{'us':>14}{'ratio':>12}")
    for row in rows:
        if row["benchmark"] != group:
            group = row["benchmark"]
            write(group)
        write(f"    {row['ours']:<48}{row['ours_seconds'] * 1e6:>14,.3f}  {row['rival']:<34}"
              f"{row['rival_seconds'] * 1e6:>14,.3f}{row['ratio']:>12,.3f}")


def pytest_benchmark_update_json(output_json):
    """Add the table of ratios to the file of ``--benchmark-json``; drop the time of each round."""
    output_json["ratios"] = native.ratios(native.RESULTS)
    for one in output_json["benchmarks"]:
        one["stats"].pop("data", None)


def pytest_benchmark_update_machine_info(machine_info):
    """Add the size of the last cache: loops that read memory depend on it."""
    machine_info["last_cache"] = native.last_cache()


@pytest.fixture(scope="session")
def limits(tmp_path_factory):
    """Return bench/limits.c, compiled with -O3."""
    library = tmp_path_factory.mktemp("limits") / "limits.so"
    compiler = (sysconfig.get_config_var("CC") or "cc").split()[0]
    source = Path(__file__).with_name("limits.c")
    subprocess.run([compiler, "-O3", "-shared", "-fPIC", "-o", library, source, "-lm"],
                   check=True)
    return ctypes.CDLL(str(library))


@pytest.fixture(scope="session")
def population():
    """Return the synthetic population of Sec. 5.1 of the paper: unit rewards of ten states."""
    rewards = np.random.default_rng(2016).normal(size=(100_000, 10))
    rewards -= rewards.mean(axis=0)
    return rewards / rewards.std(axis=0)
