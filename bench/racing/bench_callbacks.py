"""Time of factors from compiled functions: a draw from Python, a draw from C, a bare call.

Run with ``make bench``. N = 1e5 factors and two states. Every race decides at its first
look for any noise, so its cost is that of one look.
"""

import ctypes
import subprocess
import sysconfig
from pathlib import Path

import numpy as np
import pytest

import pybandit as pb

from native import bits_of, pointer, size

numba = pytest.importorskip("numba")
of_numba = pytest.importorskip("pybandit.numba")

N, D, FIRST_LOOK = 100_000, 2, 50
DRAWS, CALLS = size((10_000, 100_000), (100, 100))
PRIOR = np.array([0.0, 1e3])
Y = np.random.default_rng(1).normal(size=N) * 1e-9
i64 = ctypes.c_int64
SIGNATURE = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.POINTER(i64), i64, ctypes.POINTER(i64), i64,
    ctypes.POINTER(ctypes.c_double), ctypes.c_void_p)


@of_numba.factor(error_model="numpy")
def trivial(factors, states, out, y):
    for f in range(factors.size):
        for s in range(states.size):
            out[f, s] = 0.0 if states[s] else y[factors[f]]


@of_numba.factor(error_model="numpy")
def logistic(factors, states, out, y):
    """Compute one log1p(exp(x)) per factor and state."""
    for f in range(factors.size):
        for s in range(states.size):
            out[f, s] = -np.log1p(np.exp(-y[factors[f]] * (states[s] - 0.5)))


def logistic_of_arrays(factors, states):
    return -np.log1p(np.exp(-Y[factors, None] * (states - 0.5)))


@numba.cfunc(of_numba.factor_signature)
def plain(factors, n_factors, states, n_states, out, user_data):
    y = numba.carray(user_data, (N,), np.float64)
    for f in range(n_factors):
        for s in range(n_states):
            out[f * n_states + s] = 0.0 if states[s] else y[factors[f]]
    return 0


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    """Return bench/racing/callbacks.c and the race kernels, compiled with the package's options."""
    library = tmp_path_factory.mktemp("callbacks") / "callbacks.so"
    compiler = (sysconfig.get_config_var("CC") or "cc").split()[0]
    csrc = Path(__file__).parents[2] / "csrc"
    kernels = [file for room in ("_shared", "betting", "racing")
               for file in (csrc / room).rglob("*.c")]
    subprocess.run(
        [compiler, "-std=c11", "-O3", "-fno-math-errno", "-fno-trapping-math",
         "-ffp-contract=off", "-shared", "-fPIC", f"-I{pb.get_include()}", "-o", library,
         Path(__file__).with_name("callbacks.c"), *kernels, "-lm"], check=True)
    return ctypes.CDLL(str(library))


def sources(driver):
    return {
        "matrix": np.ascontiguousarray(np.stack([Y, 0 * Y], 1)),
        "C by ctypes": pb.Factors(SIGNATURE(("trivial", driver)), N, D, user_data=Y),
        "numba, cfunc": pb.Factors(plain, N, D, user_data=Y),
        "numba, bound": pb.Factors(trivial.bind(Y), N, D),
        "numba, bound, logistic": pb.Factors(logistic.bind(Y), N, D),
        "Python": pb.Factors(lambda n, i: np.where(i, 0.0, Y[n, None]), N, D),
        "Python, logistic": pb.Factors(logistic_of_arrays, N, D),
    }


KINDS = ["matrix", "C by ctypes", "numba, cfunc", "numba, bound", "numba, bound, logistic",
         "Python", "Python, logistic"]


@pytest.mark.parametrize("kind", KINDS)
def test_one_draw_from_python(timed, driver, kind):
    sampler = pb.RacingSampler(sources(driver)[kind], PRIOR,
                               looks=pb.racing.Looks(first=FIRST_LOOK, max_fraction=1.0), rng=1)
    assert sampler.draw()[1].n_evaluations == FIRST_LOOK * D
    draw, times = sampler.draw, range(100)

    def draws():
        for _ in times:
            draw()

    timed("sampler.draw(), two states", kind, draws, per=100, is_ours=True)


@pytest.mark.parametrize("kind", KINDS)
def test_many_draws_at_once(timed, driver, kind):
    sampler = pb.RacingSampler(sources(driver)[kind], PRIOR,
                               looks=pb.racing.Looks(first=FIRST_LOOK, max_fraction=1.0), rng=1)
    timed("sampler.draw(1000), two states", kind, lambda: sampler.draw(1000), per=1000,
          is_ours=True)


def arguments_of(factors):
    """Return (function, user_data, matrix) as arguments for C."""
    if isinstance(factors, pb.Factors):
        callback = factors._callback
        return ctypes.c_void_p(callback.function), ctypes.c_void_p(callback.user_data), None
    return None, None, pointer(factors)


@pytest.mark.parametrize("first_look", [2, FIRST_LOOK])
@pytest.mark.parametrize("kind", ["its callback alone", *KINDS[:5]])
def test_a_draw_from_c(timed, driver, kind, first_look):
    """A draw consists of Gumbel noise, indices, one call and one look."""
    group = f"a draw in C, {first_look} factors of two states"
    if kind == "its callback alone":
        factors = sources(driver)["C by ctypes"]
        function, data, _ = arguments_of(factors)
        indices = np.random.default_rng(2).integers(N, size=first_look)
        call_many(timed, driver, group, kind, function, data, indices)
        return
    function, data, matrix = arguments_of(sources(driver)[kind])
    rng = np.random.default_rng(1)
    arguments = (bits_of(rng), function, data, matrix, i64(N), i64(D), i64(first_look),
                 pointer(PRIOR), i64(DRAWS))
    driver.draw_many.restype = i64
    assert driver.draw_many(*arguments) == DRAWS
    timed(group, kind, lambda: driver.draw_many(*arguments), per=DRAWS, rounds=20, is_ours=True)


@pytest.mark.parametrize("kind", ["C by ctypes", "numba, cfunc", "numba, bound"])
def test_a_call_of_nothing(timed, driver, kind):
    """Entering and leaving a factor function, without factors."""
    function, data, _ = arguments_of(sources(driver)[kind])
    call_many(timed, driver, "a call for no factor", kind, function, data,
              np.zeros(0, dtype=np.int64))


def call_many(timed, driver, group, kind, function, data, indices):
    states, out = np.arange(D), np.zeros((max(1, indices.size), D))
    driver.call_many.restype = i64
    arguments = (function, data, pointer(indices), i64(indices.size), pointer(states), i64(D),
                 pointer(out), i64(CALLS))
    assert driver.call_many(*arguments) == 0
    timed(group, kind, lambda: driver.call_many(*arguments), per=CALLS, rounds=20,
          is_ours=kind in KINDS)
