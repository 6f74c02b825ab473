"""Compiled functions of every kind: the same races, what is refused, and how long things live."""

import copy
import ctypes
import gc
import math
import pickle
import subprocess
import sys
import threading
import weakref

import numpy as np
import pytest

import pybandit as pb

from compiler import compile_c

N, D = 3000, 4
Y = np.random.default_rng(0).normal(0.4, 1.0, N)
MEANS = np.linspace(-0.6, 0.9, D)
MATRIX = -0.5 * (Y[:, None] - MEANS) ** 2

CFUNCTION = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.POINTER(ctypes.c_int64), ctypes.c_int64,
    ctypes.POINTER(ctypes.c_int64), ctypes.c_int64, ctypes.POINTER(ctypes.c_double),
    ctypes.c_void_p)
SIGNATURE = ("int (const int64_t *factors, int64_t n_factors, const int64_t *states, "
             "int64_t n_states, double *out, void *user_data)")

SOURCE = """
#include "pybandit/racing/factors.h"
#include <math.h>
int of_matrix(const int64_t *, int64_t, const int64_t *, int64_t, double *, void *);
int fails(const int64_t *, int64_t, const int64_t *, int64_t, double *, void *);
int leaves_out(const int64_t *, int64_t, const int64_t *, int64_t, double *, void *);

/* user_data: the matrix of four states */
int of_matrix(const int64_t *factors, int64_t n_factors, const int64_t *states,
              int64_t n_states, double *out, void *user_data)
{
    const double *matrix = (const double *)user_data;
    for (int64_t f = 0; f < n_factors; f++)
        for (int64_t s = 0; s < n_states; s++)
            out[f * n_states + s] = matrix[factors[f] * 4 + states[s]];
    return 0;
}

int fails(const int64_t *factors, int64_t n_factors, const int64_t *states,
          int64_t n_states, double *out, void *user_data)
{
    of_matrix(factors, n_factors, states, n_states, out, user_data);
    return 7;
}

int leaves_out(const int64_t *factors, int64_t n_factors, const int64_t *states,
               int64_t n_states, double *out, void *user_data)
{
    return of_matrix(factors, n_factors - 1, states, n_states, out, user_data);
}
"""

_new_capsule = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p,
                                 ctypes.c_void_p)(("PyCapsule_New", ctypes.pythonapi))

NAMES = []  # a capsule points to its name and does not own it


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """SOURCE, compiled."""
    folder = tmp_path_factory.mktemp("callbacks")
    (folder / "callbacks.c").write_text(SOURCE)
    compile_c("-O2", "-shared", "-fPIC", folder / "callbacks.c", "-o", folder / "callbacks.so")
    return ctypes.CDLL(folder / "callbacks.so")


def address_of(function):
    return ctypes.cast(function, ctypes.c_void_p).value


def as_ctypes(library, name="of_matrix"):
    return CFUNCTION((name, library))


def as_capsule(library, name="of_matrix", signature=SIGNATURE):
    NAMES.append(signature.encode())
    return _new_capsule(address_of(getattr(library, name)), NAMES[-1], None)


def as_cffi(library, name="of_matrix", signature=SIGNATURE):
    cffi = pytest.importorskip("cffi", reason="cffi is not installed")
    return cffi.FFI().cast(signature.replace("int (", "int (*)(", 1),
                           address_of(getattr(library, name)))


def as_scipy(library, name="of_matrix"):
    scipy = pytest.importorskip("scipy")
    return scipy.LowLevelCallable(as_ctypes(library, name),
                                  ctypes.cast(MATRIX.ctypes.data, ctypes.c_void_p))


def as_numba(library=None):
    numba = pytest.importorskip("numba", reason="numba is not installed")
    from pybandit.numba import factor_signature

    @numba.cfunc(factor_signature)
    def of_matrix(factors, n_factors, states, n_states, out, user_data):
        matrix = numba.carray(user_data, (N, D), np.float64)
        for f in range(n_factors):
            for s in range(n_states):
                out[f * n_states + s] = matrix[factors[f], states[s]]
        return 0

    return of_matrix


@pytest.fixture(scope="module")
def quadratic():
    """-(y - mean)^2 / 2 by pybandit.numba, and errors where y is 1e9."""
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


def bound(quadratic, y=Y, means=MEANS):
    return quadratic.bind(y, np.ascontiguousarray(np.stack([0 * means, means], 1)), -1.0, 1, True)


KINDS = {"ctypes": as_ctypes, "capsule": as_capsule, "cffi": as_cffi, "scipy": as_scipy,
         "numba": as_numba}


def factors_of(kind, library, data=MATRIX):
    if kind == "bound":
        pytest.importorskip("numba", reason="numba is not installed")
    return pb.Factors(KINDS[kind](library), N, D, user_data=None if kind == "scipy" else data)


OPTIONS = [{}, {"bound": "betting", "value_range": (MATRIX.min(), MATRIX.max())},
           {"variance": "marginal", "indices": "keyed"}]


def everything(factors):
    """Races and draws of every sort, as one list to compare."""
    results = []
    for options in OPTIONS:
        results += [pb.race(factors, seed * np.arange(D) / 3, rng=seed, **options)
                    for seed in range(4)]
        sampler = pb.RacingSampler(factors, rng=5, max_fraction=1.0, **options)
        states, info = sampler.draw(40)
        results += [*states, *info.n_evaluations, *info.n_looks]
        results += [sampler.draw() for _ in range(5)]
    return results


def expected():
    return everything(pb.Factors(lambda n, i: MATRIX[np.ix_(n, i)], N, D))


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_bit_for_bit_the_python_function(kind, library):
    factors = factors_of(kind, library)
    assert everything(factors) == expected()
    indices, states = np.array([7, 0, 2999]), np.array([1, 3])
    assert np.array_equal(factors.evaluate(indices, states), MATRIX[np.ix_(indices, states)])
    assert pb.exact_sample(factors, size=5, rng=1).tolist() == pb.exact_sample(
        pb.Factors(lambda n, i: MATRIX[np.ix_(n, i)], N, D), size=5, rng=1).tolist()


def test_one_draw_is_the_first_of_many(library):
    for factors in (MATRIX, factors_of("ctypes", library)):
        one = pb.RacingSampler(factors, rng=3)
        many = pb.RacingSampler(factors, rng=3)
        for _ in range(20):
            state, info = one.draw()
            states, infos = many.draw(1)
            assert (state, info) == (states[0], (*(part[0] for part in infos[:3]), infos.fraction))
            assert [type(part) for part in (state, *info)] == [int, int, int, bool, float]
            assert type(info) is pb.DrawInfo


def test_bound_arguments_are_read_where_they_are(quadratic):
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


@pytest.mark.parametrize("data, kind", [
    (np.ones((4, 4))[:, ::2], ValueError), (np.ones((4, 4)).T, ValueError),
    (np.ones(3).astype(">f8"), ValueError), (np.array(["a"], dtype=object), TypeError),
    (np.array(1.0), TypeError), ("text", TypeError), (1j, TypeError), (None, TypeError),
])
def test_what_cannot_be_bound(quadratic, data, kind):
    with pytest.raises(kind, match="argument 1"):
        quadratic.bind(Y, data)


SPELLINGS = [
    SIGNATURE,
    "int (int64_t const *, int64_t, int64_t const *, int64_t, double *, void *)",
    "int(*)(int64_t*,int64_t,int64_t*,int64_t,double*,void*)",
    "int (* function)(const int64_t factors[], int64_t n, const int64_t states[], int64_t k, "
    "double out[], void * data)",
    "signed int f(const int64_t * restrict, int64_t, int64_t *, int64_t, double *, void *)",
    "int32_t (__pyx_t_5numpy_int64_t const *, __pyx_t_5numpy_int64_t, npy_int64 *, "
    "long long int, double *, double *)",
    "int (signed long long *, long long n, const long long *const, long long, double *, void *)",
]
if ctypes.sizeof(ctypes.c_long) == 8:
    SPELLINGS += ["int (long *, long, const long int *, signed long n, double *, void *)"]

WRONG = [
    "", "int", "void (int64_t *, int64_t, int64_t *, int64_t, double *, void *)",
    "int64_t (int64_t *, int64_t, int64_t *, int64_t, double *, void *)",
    "double (double, void *)",
    "int (int64_t *, int64_t, int64_t *, int64_t, double *)",
    "int (int64_t *, int64_t, int64_t *, int64_t, double *, void *, int)",
    "int (int *, int64_t, int64_t *, int64_t, double *, void *)",
    "int (int64_t *, int, int64_t *, int64_t, double *, void *)",
    "int (uint64_t *, int64_t, int64_t *, int64_t, double *, void *)",
    "int (int64_t *, int64_t, int64_t *, unsigned long, double *, void *)",
    "int (int64_t *, int64_t, int64_t *, long unsigned, double *, void *)",
    "int (int64_t *, int64_t, int64_t *, int64_t, long double *, void *)",
    "int (int64_t *, int64_t, int64_t *, int64_t, float *, void *)",
    "int (int64_t *, int64_t, int64_t *, int64_t, double **, void *)",
    "int (int64_t *, int64_t, int64_t *, int64_t, double, void *)",
    "int (int64_t *, int64_t, int64_t *, int64_t, double *, void)",
    "int (int64_t *, int64_t, int64_t *, int64_t, double *, int (*)(int))",
]


@pytest.mark.parametrize("signature", SPELLINGS)
def test_spellings_of_the_signature(library, signature):
    factors = pb.Factors(as_capsule(library, signature=signature), N, D, user_data=MATRIX)
    assert factors.evaluate([3], [2]) == MATRIX[3, 2]


def test_a_cfunc_through_ctypes_and_scipy():
    scipy, function = pytest.importorskip("scipy"), as_numba()
    for given in (function.ctypes, scipy.LowLevelCallable(function.ctypes)):
        factors = pb.Factors(given, N, D, user_data=MATRIX)
        assert factors.evaluate([3], [2]) == MATRIX[3, 2]


@pytest.mark.parametrize("signature", WRONG)
def test_wrong_signatures(library, signature):
    with pytest.raises(TypeError) as caught:
        pb.Factors(as_capsule(library, signature=signature), N, D)
    assert "PyCapsule" in str(caught.value) and signature in str(caught.value)
    assert SIGNATURE in str(caught.value)


def test_wrong_signatures_of_the_other_kinds(library):
    i64, double, void = ctypes.c_int64, ctypes.c_double, ctypes.c_void_p
    at = ctypes.POINTER
    for wrong in [
        ctypes.CFUNCTYPE(ctypes.c_int, at(i64), i64, at(i64), i64, at(double))(("fails", library)),
        ctypes.CFUNCTYPE(None, at(i64), i64, at(i64), i64, at(double), void)(("fails", library)),
        ctypes.CFUNCTYPE(ctypes.c_int, at(i64), i64, at(i64), i64, at(ctypes.c_float), void)(
            ("fails", library)),
        ctypes.PYFUNCTYPE(ctypes.c_int, at(i64), i64, at(i64), i64, at(double), void)(
            ("fails", library)),
        library.fails,
    ]:
        with pytest.raises(TypeError, match="function must have the signature int .*ctypes"):
            pb.Factors(wrong, N, D)
    import scipy

    wrong = ctypes.CFUNCTYPE(double, double)(("fails", library))
    with pytest.raises(TypeError, match="a scipy.LowLevelCallable of double"):
        pb.Factors(scipy.LowLevelCallable(wrong), N, D)
    wrong = ctypes.PYFUNCTYPE(ctypes.c_int, at(i64), i64, at(i64), i64, at(double), void)(
        ("fails", library))
    with pytest.raises(TypeError, match="a scipy.LowLevelCallable of a function that needs"):
        pb.Factors(scipy.LowLevelCallable(wrong), N, D)
    with pytest.raises(ValueError, match="null"):
        pb.Factors(CFUNCTION(), N, D)


def test_wrong_signatures_of_cffi(library):
    for wrong in ("int (int64_t *, int, int64_t *, int64_t, double *, void *)",
                  "int (double)"):
        with pytest.raises(TypeError, match="a cffi pointer of"):
            pb.Factors(as_cffi(library, signature=wrong), N, D)
    cffi = pytest.importorskip("cffi", reason="cffi is not installed")
    with pytest.raises(TypeError, match="double"):
        pb.Factors(cffi.FFI().new("double[3]"), N, D)


def test_wrong_signatures_of_numba():
    numba = pytest.importorskip("numba", reason="numba is not installed")
    with pytest.raises(TypeError, match=r"a numba cfunc of float64 \(float64\)"):
        pb.Factors(numba.cfunc("float64(float64)")(lambda x: x), N, D)


def test_no_function_at_all(library):
    with pytest.raises(TypeError, match="callable"):
        pb.Factors(address_of(library.fails), N, D)
    with pytest.raises(TypeError, match="user_data is for compiled"):
        pb.Factors(lambda n, i: MATRIX, N, D, user_data=MATRIX)


def user_data_kinds():
    pointer = ctypes.POINTER(ctypes.c_double)
    array = (ctypes.c_double * MATRIX.size).from_buffer(MATRIX)
    yield "address", MATRIX.ctypes.data
    yield "NumPy address", np.int64(MATRIX.ctypes.data)
    yield "void pointer", ctypes.c_void_p(MATRIX.ctypes.data)
    yield "pointer", ctypes.cast(MATRIX.ctypes.data, pointer)
    yield "ctypes array", array
    yield "array", MATRIX
    yield "capsule", _new_capsule(MATRIX.ctypes.data, None, None)


@pytest.mark.parametrize("name, data", [
    pytest.param(name, data, id=name) for name, data in user_data_kinds()])
def test_kinds_of_user_data(library, name, data):
    factors = pb.Factors(as_ctypes(library), N, D, user_data=data)
    assert factors.evaluate([11], [3]) == MATRIX[11, 3]
    assert pb.race(factors, rng=1) == pb.race(
        pb.Factors(lambda n, i: MATRIX[np.ix_(n, i)], N, D), rng=1)


def test_user_data_of_cffi(library):
    cffi = pytest.importorskip("cffi", reason="cffi is not installed")
    ffi = cffi.FFI()
    for data in (ffi.from_buffer("double[]", MATRIX), ffi.cast("void *", MATRIX.ctypes.data)):
        factors = pb.Factors(as_ctypes(library), N, D, user_data=data)
        assert factors.evaluate([11], [3]) == MATRIX[11, 3]
    with pytest.raises(TypeError, match="user_data"):
        pb.Factors(as_ctypes(library), N, D, user_data=ffi.cast("int", 3))


@pytest.mark.parametrize("data, kind", [
    (MATRIX[:, ::2], ValueError), (-1, ValueError), (1 << 64, ValueError), (True, TypeError),
    ("text", TypeError), ([1.0], TypeError), (1.5, TypeError),
])
def test_wrong_user_data(library, data, kind):
    with pytest.raises(kind, match="user_data"):
        pb.Factors(as_ctypes(library), N, D, user_data=data)


def test_a_function_brings_its_data_only_once(library, quadratic):
    for function in (as_scipy(library), bound(quadratic)):
        with pytest.raises(ValueError, match="brings its own"):
            pb.Factors(function, N, D, user_data=MATRIX)


def scribble():
    """Reuse what was freed."""
    gc.collect()
    return [np.full((N, D), np.nan) for _ in range(20)] + [np.full(N, np.nan) for _ in range(20)]


class Owner(np.ndarray):
    """An array that can be watched."""


def test_data_lives_as_long_as_the_sampler(library):
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


def test_bound_arrays_and_code_live_as_long_as_the_sampler(quadratic):
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


def test_a_python_function_behind_ctypes_lives_as_long_as_the_sampler():
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


def test_a_race_that_a_compiled_function_ends(library):
    factors = pb.Factors(as_ctypes(library, "fails"), N, D, user_data=MATRIX)
    with pytest.raises(RuntimeError, match="status other than 0"):
        pb.race(factors, rng=1)
    sampler = pb.RacingSampler(factors, rng=1)
    for size in (None, 3):
        with pytest.raises(RuntimeError, match="status other than 0"):
            sampler.draw(size)
    for call in (lambda: factors.evaluate([1], [1]), lambda: pb.exact_sample(factors)):
        with pytest.raises(RuntimeError, match="status 7"):
            call()


@pytest.mark.parametrize("options", OPTIONS[:2])
def test_what_is_left_out_is_found(library, options):
    factors = pb.Factors(as_ctypes(library, "leaves_out"), N, D, user_data=MATRIX)
    with pytest.raises(ValueError, match=r"nan at factor \d+, state 0; the compiled function"):
        pb.race(factors, rng=1, **options)
    assert np.isnan(factors.evaluate([1, 2], [0, 1])).tolist() == [[False] * 2, [True] * 2]
    with pytest.raises(ValueError, match="sum of nan"):
        pb.exact_sample(factors, rng=1)


def test_the_hint_is_for_nan_of_compiled_functions_only(library):
    for bad, compiled in ((math.inf, True), (math.nan, False)):
        data = np.full((N, D), bad)
        factors = (pb.Factors(as_ctypes(library), N, D, user_data=data) if compiled
                   else pb.Factors(lambda n, i, data=data: data[np.ix_(n, i)], N, D))
        with pytest.raises(ValueError, match=rf"got {bad} at factor \d+, state 0$"):
            pb.race(factors, rng=1)


def test_a_numba_function_that_raises(quadratic):
    y = Y.copy()
    sampler = pb.RacingSampler(pb.Factors(bound(quadratic, y), N, D), rng=1)
    y[:] = 1e9
    with pytest.raises(RuntimeError, match="status other than 0"):
        sampler.draw()
    y[:] = Y
    assert 0 <= sampler.draw()[0] < D


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_cfunc_that_raises():
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
def test_samplers_in_threads_draw_as_in_line(kind, library):
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
def test_evaluate_checks_what_it_asks_for(library, indices, states, kind):
    with pytest.raises(kind, match="indices|states"):
        factors_of("ctypes", library).evaluate(indices, states)
    assert factors_of("ctypes", library).evaluate(np.array([], dtype=int), [0]).shape == (0, 1)


def test_without_numba():
    code = ("import sys; sys.modules['numba'] = None\n"
            "import pybandit\n"
            "try:\n    import pybandit.numba\n"
            "except ImportError as error: print(error)")
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True,
                          check=True)
    assert "pip install 'pybandit[numba]'" in done.stdout
