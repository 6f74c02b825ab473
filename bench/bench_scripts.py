"""Run scripts that print their own tables at the smallest size, with ``--benchmark-disable``.

`lab/instruments.py` is left out because it needs a folder with files of instruments.
"""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

import native

SCRIPTS = {"mcmc/bench_chains.py": ["arviz", "numba"], "mcmc/bench_exact.py": ["arviz", "numba"],
           "mcmc/bench_gibbs.py": ["arviz", "numba"], "mcmc/bench_poisson.py": ["arviz", "numba"],
           "mcmc/bench_warmup.py": ["arviz", "numba"],
           "betting/count_days.py": [], "cluster/medoids.py": [], "cluster/memory.py": [],
           "cluster/goals.py": ["sklearn"]}


@pytest.mark.skipif(not native.QUICK, reason="prints its own table: python bench/NAME.py")
@pytest.mark.parametrize("script", SCRIPTS)
def test_script_runs(script):
    for package in SCRIPTS[script]:
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed")
    subprocess.run([sys.executable, Path(__file__).parent / script, "--quick"],
                   check=True)
