"""Fixtures with the compiled functions of `racing.compiled_functions`, one per test file."""

import ctypes

import pytest

from compiler import compile_c
from racing.compiled_functions import SOURCE


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """Return SOURCE compiled as a library."""
    folder = tmp_path_factory.mktemp("callbacks")
    (folder / "callbacks.c").write_text(SOURCE)
    compile_c("-O2", "-shared", "-fPIC", folder / "callbacks.c", "-o", folder / "callbacks.so")
    return ctypes.CDLL(folder / "callbacks.so")


@pytest.fixture(scope="module")
def quadratic():
    """Return -(y - mean)^2 / 2 as a function of pybandit.numba that raises if y is 1e9."""
    pytest.importorskip("numba", reason="numba is not installed")
    import pybandit.numba

    @pybandit.numba.factor
    def log_factor(factors, states, out, y, means, scale, base, halve):
        for f in range(factors.size):
            if y[factors[f]] == 1e9:
                raise ValueError("too large")
            for s in range(states.size):
                d = y[factors[f]] - means[states[s], base]
                out[f, s] = scale * (d * d) * (0.5 if halve else 1.0)

    return log_factor
