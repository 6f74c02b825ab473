"""Estimators of the Monte Carlo policies, on one core: a CIR path, a row of a likelihood.

Run with ``make bench``. The lower limit of a path of 100 steps is drawing its 100 normals with
`Generator.standard_normal`; it is compared with NumPy over 10,000 paths at a time and a numba
loop. The lower limit of a row is reading it in C; it is compared with NumPy's `logaddexp`. The
time per row of pybandit is the time of whole annealing runs divided by the rows evaluated.
"""

import ctypes
import math

import numpy as np
import pytest

from pybandit.environments import CIRCaplet, LogisticEvidence

from native import pointer

numba = pytest.importorskip("numba")

N_PATHS, N_STEPS, THETA, STRIKE = 10_000, 100, 0.5, 0.07
ETA, KAPPA, SIGMA, R0 = 0.016, 0.2, 0.02, 0.08


def numpy_paths(rng):
    """Simulate all paths together, step by step."""
    h = 1 / N_STEPS
    shocks = rng.standard_normal((N_STEPS, N_PATHS)) + THETA * math.sqrt(h)
    r, integral = np.full(N_PATHS, R0), np.full(N_PATHS, R0 / 2)
    for shock in shocks:
        r = r + (ETA - KAPPA * r) * h + SIGMA * np.sqrt(r * h) * shock
        integral += r
    brownian = math.sqrt(h) * shocks.sum(axis=0)
    return 1000 * np.maximum(r - STRIKE, 0) * np.exp(
        -h * (integral - r / 2) - THETA * brownian + THETA**2 / 2)


@numba.njit
def numba_paths(rng, out):
    h = 1 / N_STEPS
    shift, rise, fall, noise = THETA * math.sqrt(h), ETA * h, KAPPA * h, SIGMA * math.sqrt(h)
    for i in range(out.size):
        r, integral, total = R0, R0 / 2, 0.0
        for _ in range(N_STEPS):
            shock = rng.standard_normal() + shift
            r = r + (rise - fall * r) + noise * math.sqrt(max(r, 0.0)) * shock
            integral += r
            total += shock
        out[i] = 1000 * max(r - STRIKE, 0.0) * math.exp(
            -h * (integral - r / 2) - THETA * math.sqrt(h) * total + THETA**2 / 2)


@pytest.mark.parametrize("role", ["100 normals alone", "CIRCaplet", "NumPy, 10,000 at a time",
                                  "numba, one by one"])
def test_path(timed, role):
    rng, out = np.random.default_rng(1), np.empty(N_PATHS)
    if role == "100 normals alone":
        normals = np.empty(N_STEPS * N_PATHS)

        def run():
            rng.standard_normal(out=normals)
    elif role == "CIRCaplet":
        caplet, arms = CIRCaplet(STRIKE), np.full(N_PATHS, 5)

        def run():
            caplet.pull(arms, rng)
    elif role.startswith("NumPy"):
        def run():
            numpy_paths(rng)
    else:
        def run():
            numba_paths(rng, out)
    timed("a CIR path of 100 steps", role, run, per=N_PATHS, rounds=20)


@pytest.mark.parametrize("n_rows", [569, 5000])
@pytest.mark.parametrize("role", ["rows read alone", "LogisticEvidence", "NumPy"])
def test_likelihood(timed, limits, role, n_rows):
    rng = np.random.default_rng(1)
    features, labels = rng.normal(size=(n_rows, 3)), rng.integers(0, 2, n_rows)
    column, margins = features[:, 0].copy(), features @ np.ones(3)
    repeats = 1000
    if role == "rows read alone":
        sizes = ctypes.c_int64(n_rows), ctypes.c_int64(repeats)

        def run():
            limits.limit_margins(pointer(margins), pointer(column), *sizes)
    elif role == "LogisticEvidence":
        evidence = LogisticEvidence(features, labels=labels, n_anneals=[50])
        repeats = evidence.pull_with_costs([0], 1)[1][0]

        def run():
            evidence.pull([0], 1)
    else:
        def run():
            for _ in range(repeats):
                -np.logaddexp(0.0, -(margins + 0.5 * column)).sum()
    timed(f"1,000 rows of a log likelihood, N = {n_rows:,}", role, run, per=repeats * n_rows / 1000,
          rounds=20)
