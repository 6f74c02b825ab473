"""Compiled functions of every kind: equal races, and lifetime of their objects."""

import copy
import gc
import math
import pickle
import signal
import subprocess
import sys
import threading
import time
import weakref

import numpy as np
import pytest

import pybandit as pb

from racing.compiled_functions import (
    CFUNCTION,
    KINDS,
    MATRIX,
    MEANS,
    D,
    N,
    Y,
    as_ctypes,
    bound,
    factors_of,
)
from racing.reference.problems import parts

OPTIONS = [{}, {"bound": pb.racing.BettingBound(value_range=(MATRIX.min(), MATRIX.max()))},
           {"looks": pb.racing.Looks(variance="marginal", indices="keyed", max_fraction=1.0)}]


def everything(factors):
    """Return results of races and draws of every sort, as one list."""
    results = []
    for options in OPTIONS:
        results += [pb.race(factors, seed * np.arange(D) / 3, rng=seed, **options)
                    for seed in range(4)]
        sampler = pb.RacingSampler(
            factors, rng=5, **({"looks": pb.racing.Looks(max_fraction=1.0)} | options))
        states, info = sampler.draw(40)
        results += [*states, *info.n_evaluations, *info.n_looks]
        results += [sampler.draw() for _ in range(5)]
    return results


def expected():
    return everything(pb.Factors(lambda n, i: MATRIX[np.ix_(n, i)], N, D))


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_equals_the_python_function_bit_for_bit(kind, library):
    factors = factors_of(kind, library)
    assert everything(factors) == expected()
    indices, states = np.array([7, 0, 2999]), np.array([1, 3])
    assert np.array_equal(factors.evaluate(indices, states), MATRIX[np.ix_(indices, states)])
    assert pb.racing.exact_sample(factors, size=5, rng=1).tolist() == pb.racing.exact_sample(
        pb.Factors(lambda n, i: MATRIX[np.ix_(n, i)], N, D), size=5, rng=1).tolist()


def test_one_draw_is_the_first_of_many(library):
    for factors in (MATRIX, factors_of("ctypes", library)):
        one = pb.RacingSampler(factors, rng=3)
        many = pb.RacingSampler(factors, rng=3)
        for _ in range(20):
            state, info = one.draw()
            states, infos = many.draw(1)
            first = pb.racing.DrawInfo(infos.n_evaluations[0], infos.n_looks[0], infos.exact[0],
                                       infos.fraction)
            assert state == states[0] and info == first
            assert [type(part) for part in (state, *parts(info))] == [int, int, int, bool, float]
            assert type(info) is pb.racing.DrawInfo


def test_bound_arguments_are_read_in_place(quadratic):
    y = Y.copy()
    factors = pb.Factors(bound(quadratic, y), N, D)
    def same(n, i):
        d = y[n][:, None] - MEANS[i]
        return -1.0 * (d * d) * 0.5
    python = pb.Factors(same, N, D)
    assert everything(factors) == everything(python)
    sampler = pb.RacingSampler(factors, rng=1)
    before = sampler.draw(20)[0]
    y += 10.0
    assert np.all(sampler.draw(20)[0] == D - 1) and not np.all(before == D - 1)


def test_a_type_is_compiled_once(quadratic):
    first, again = bound(quadratic), bound(quadratic, Y + 1)
    assert first.function is again.function
    other = quadratic.bind(Y.astype(np.float32), np.ones((D, 2)), -1, 1, False)
    assert other.function is not first.function
    got = pb.Factors(other, N, D).evaluate([5], [0])
    d = float(np.float32(Y[5])) - 1.0
    assert got == -(d * d)


def scribble():
    """Overwrite freed memory."""
    gc.collect()
    return [np.full((N, D), np.nan) for _ in range(20)] + [np.full(N, np.nan) for _ in range(20)]


class Owner(np.ndarray):
    """Array that supports weak references."""


def test_a_sampler_keeps_its_data_alive(library):
    data = MATRIX.copy().view(Owner)
    watch = weakref.ref(data)
    factors = pb.Factors(as_ctypes(library), N, D, user_data=data)
    sampler = pb.RacingSampler(factors, rng=1)
    want = pb.RacingSampler(pb.Factors(as_ctypes(library), N, D, user_data=MATRIX), rng=1).draw(30)
    del data, factors
    noise = scribble()
    got = sampler.draw(30)
    assert np.array_equal(want[0], got[0]) and watch() is not None
    del sampler, noise
    gc.collect()
    assert watch() is None


def test_a_sampler_keeps_bound_arrays_and_code_alive(quadratic):
    data = Y.copy().view(Owner)
    watch = weakref.ref(data)
    sampler = pb.RacingSampler(pb.Factors(bound(quadratic, data), N, D), rng=1)
    want = pb.RacingSampler(pb.Factors(bound(quadratic), N, D), rng=1).draw(30)
    del data
    noise = scribble()
    assert np.array_equal(want[0], sampler.draw(30)[0]) and watch() is not None
    del sampler, noise
    gc.collect()
    assert watch() is None


def test_a_sampler_keeps_a_python_function_of_ctypes_alive():
    def function(factors, n_factors, states, n_states, out, user_data):
        for f in range(n_factors):
            for s in range(n_states):
                out[f * n_states + s] = MATRIX[factors[f], states[s]]
        return 0

    watch = weakref.ref(function)
    sampler = pb.RacingSampler(pb.Factors(CFUNCTION(function), N, D), rng=1)
    del function
    noise = scribble()
    want = pb.RacingSampler(pb.Factors(lambda n, i: MATRIX[np.ix_(n, i)], N, D), rng=1).draw(5)
    assert np.array_equal(want[0], sampler.draw(5)[0])
    del sampler, noise
    gc.collect()
    assert watch() is None


def test_a_failing_compiled_function_ends_the_race(library):
    factors = pb.Factors(as_ctypes(library, "fails"), N, D, user_data=MATRIX)
    with pytest.raises(RuntimeError, match="status other than 0"):
        pb.race(factors, rng=1)
    sampler = pb.RacingSampler(factors, rng=1)
    for size in (None, 3):
        with pytest.raises(RuntimeError, match="status other than 0"):
            sampler.draw(size)
    for call in (lambda: factors.evaluate([1], [1]), lambda: pb.racing.exact_sample(factors)):
        with pytest.raises(RuntimeError, match="status 7"):
            call()


@pytest.mark.parametrize("options", OPTIONS[:2])
def test_unwritten_entries_are_detected(library, options):
    factors = pb.Factors(as_ctypes(library, "leaves_out"), N, D, user_data=MATRIX)
    with pytest.raises(ValueError, match=r"nan at factor \d+, state 0; the compiled function"):
        pb.race(factors, rng=1, **options)
    assert np.isnan(factors.evaluate([1, 2], [0, 1])).tolist() == [[False] * 2, [True] * 2]
    with pytest.raises(ValueError, match="sum of nan"):
        pb.racing.exact_sample(factors, rng=1)


def test_the_hint_is_only_for_nan_of_compiled_functions(library):
    for bad, compiled in ((math.inf, True), (math.nan, False)):
        data = np.full((N, D), bad)
        factors = (pb.Factors(as_ctypes(library), N, D, user_data=data) if compiled
                   else pb.Factors(lambda n, i, data=data: data[np.ix_(n, i)], N, D))
        with pytest.raises(ValueError, match=rf"got {bad} at factor \d+, state 0$"):
            pb.race(factors, rng=1)


def test_a_numba_function_that_raises_ends_the_race(quadratic):
    y = Y.copy()
    sampler = pb.RacingSampler(pb.Factors(bound(quadratic, y), N, D), rng=1)
    y[:] = 1e9
    with pytest.raises(RuntimeError, match="status other than 0"):
        sampler.draw()
    y[:] = Y
    assert 0 <= sampler.draw()[0] < D


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_cfunc_that_raises_ends_the_race():
    numba = pytest.importorskip("numba", reason="numba is not installed")
    from pybandit.numba import factor_signature

    @numba.cfunc(factor_signature)
    def raises(factors, n_factors, states, n_states, out, user_data):
        for f in range(n_factors):
            if f == 17:
                raise ValueError
            for s in range(n_states):
                out[f * n_states + s] = s
        return 0

    with pytest.raises(ValueError, match=r"nan at factor .*\(a numba function that raises"):
        pb.RacingSampler(pb.Factors(raises, N, D), rng=1).draw()


@pytest.mark.parametrize("kind", ["ctypes", "numba"])
def test_samplers_in_threads_draw_as_in_sequence(kind, library):
    factors = factors_of(kind, library)

    def draw(seed, out):
        sampler = pb.RacingSampler(factors, rng=seed)
        out[seed] = [sampler.draw(200)[0].tolist(), [sampler.draw() for _ in range(50)]]

    inline, threaded = {}, {}
    for seed in range(4):
        draw(seed, inline)
    threads = [threading.Thread(target=draw, args=(seed, threaded)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert threaded == inline


def test_copies_equality_and_pickles(library):
    function = as_ctypes(library)
    factors = pb.Factors(function, N, D, user_data=MATRIX)
    assert factors == pb.Factors(function, N, D, user_data=MATRIX)
    assert factors != pb.Factors(function, N, D, user_data=MATRIX.copy())
    assert factors != pb.Factors(function, N, D)
    for copied in (copy.copy(factors), copy.deepcopy(factors)):
        assert copied == factors and copied.evaluate([1], [2]) == MATRIX[1, 2]
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(factors)
    assert f"n_factors={N}, n_states={D}" in repr(factors)
    python = pb.Factors(np.add.outer, N, D)
    for copied in (copy.copy(python), copy.deepcopy(python)):
        assert copied == python


@pytest.mark.parametrize("indices, states, kind", [
    ([N], [0], ValueError), ([-1], [0], ValueError), ([0], [D], ValueError),
    ([0.5], [0], TypeError), ([[0]], [0], TypeError), (0, [0], TypeError),
])
def test_evaluate_checks_its_arguments(library, indices, states, kind):
    with pytest.raises(kind, match="indices|states"):
        factors_of("ctypes", library).evaluate(indices, states)
    assert factors_of("ctypes", library).evaluate(np.array([], dtype=int), [0]).shape == (0, 1)


def test_pybandit_numba_without_numba_raises():
    code = ("import sys; sys.modules['numba'] = None\n"
            "import pybandit\n"
            "try:\n    import pybandit.numba\n"
            "except ImportError as error: print(error)")
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True,
                          check=True)
    assert "pip install 'pybandit-core[numba]'" in done.stdout


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers")
@pytest.mark.parametrize("options", [{}, {"control": True}], ids=["plain", "with a control"])
def test_ctrl_c_stops_a_race_of_a_compiled_function(library, options):
    """A race of 10**9 factors without a gap, which would take half a minute, is interrupted."""
    if options:
        options = {"control": pb.racing.ControlVariate(lambda n, i: np.zeros((len(n), len(i))),
                                                       [0.0] * D)}
    slow = pb.Factors(as_ctypes(library, "slow"), 10**9, D, **options)
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        for call in (lambda: pb.race(slow, rng=1), pb.RacingSampler(slow, rng=1).draw):
            start = time.perf_counter()
            signal.setitimer(signal.ITIMER_REAL, 0.05)
            with pytest.raises(KeyboardInterrupt):
                call()
            assert time.perf_counter() - start < 5.0
    finally:
        signal.signal(signal.SIGALRM, before)
