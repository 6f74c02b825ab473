"""Draws from every language: two states, decided at the first look, with trivial functions.

Run with ``make bench``. For plain C, ``make && ./draw`` in examples/embedding/c prints the times.
"""

import ctypes
import importlib
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import pybandit as pb

from native import size

numba = pytest.importorskip("numba")
of_numba = pytest.importorskip("pybandit.numba")
address_of = pytest.importorskip("numba.extending").get_cython_function_address

N, D, DRAWS = 100_000, 2, size(1000, 10)
PRIOR = np.array([0.0, 1e3])
Y = np.random.default_rng(1).normal(size=N) * 1e-9

SETUP = """
from Cython.Build import cythonize
from setuptools import Extension, setup

import pybandit

setup(name="embed_loop", ext_modules=cythonize(
    Extension("embed_loop", ["embed_loop.pyx"], include_dirs=[pybandit.get_include()]),
    language_level=3))
"""

draw = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)(
    address_of("pybandit.embedding", "sampler_draw"))


@of_numba.factor(error_model="numpy")
def log_factor(factors, states, out, y):
    for f in range(factors.size):
        for s in range(states.size):
            out[f, s] = 0.0 if states[s] else y[factors[f]]


@numba.njit
def numba_loop(sampler, bits, n_draws):
    state = np.zeros(1, dtype=np.int64)
    failed = 0
    for _ in range(n_draws):
        failed += draw(sampler, bits, state.ctypes.data) != 0
    return failed


@pytest.fixture(scope="module")
def cython_loop(tmp_path_factory):
    folder = tmp_path_factory.mktemp("loop")
    shutil.copy(Path(__file__).with_name("embed_loop.pyx"), folder)
    (folder / "setup.py").write_text(SETUP)
    subprocess.run([sys.executable, "setup.py", "build_ext", "--inplace"], check=True, cwd=folder)
    sys.path.insert(0, str(folder))
    yield importlib.import_module("embed_loop").loop
    sys.path.remove(str(folder))


def sampler_of(function, rows):
    factors = pb.Factors(function, N, D)
    # "normal", because a "student" race waits for variance, and these functions have none
    return pb.RacingSampler(factors, PRIOR, bound="normal", looks=pb.racing.Looks(first=rows),
                            rng=1)


@pytest.mark.parametrize("rows", [2, 50])
@pytest.mark.parametrize("role", ["numba factor, Cython loop", "numba factor, numba loop",
                                  "numba factor, draw(1000)", "numba factor, draw()",
                                  "Python function, draw(1000)", "Python function, draw()"])
def test_a_draw(timed, cython_loop, rows, role):
    compiled = role.startswith("numba factor")
    sampler = sampler_of(log_factor.bind(Y) if compiled
                         else lambda n, i: np.where(i, 0.0, Y[n, None]), rows)
    bits = np.random.default_rng(2).bit_generator
    address = bits.ctypes.bit_generator.value
    group = f"a draw that reads {rows} factors"
    if role.endswith("loop"):
        loop = cython_loop if "Cython" in role else numba_loop
        assert loop(sampler.address, address, DRAWS) == 0
        assert sampler.draw()[1].n_evaluations == rows * D
        timed(group, role, lambda: loop(sampler.address, address, DRAWS), per=DRAWS,
              is_ours=True)
    elif role.endswith("draw()"):
        timed(group, role, sampler.draw, is_ours=True)
    else:
        timed(group, role, lambda: sampler.draw(DRAWS), per=DRAWS, is_ours=True)
