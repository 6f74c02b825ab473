"""Compiled functions: accepted and rejected signatures and data."""

import ctypes

import numpy as np
import pytest

import pybandit as pb

from racing.compiled_functions import (
    CFUNCTION,
    MATRIX,
    SIGNATURE,
    D,
    N,
    Y,
    address_of,
    as_capsule,
    as_cffi,
    as_ctypes,
    as_numba,
    as_scipy,
    bound,
    new_capsule,
)


@pytest.mark.parametrize("data, kind", [
    (np.ones((4, 4))[:, ::2], ValueError), (np.ones((4, 4)).T, ValueError),
    (np.ones(3).astype(">f8"), ValueError), (np.array(["a"], dtype=object), TypeError),
    (np.array(1.0), TypeError), ("text", TypeError), (1j, TypeError), (None, TypeError),
])
def test_unsupported_data_cannot_be_bound(quadratic, data, kind):
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
def test_spellings_of_the_signature_are_accepted(library, signature):
    factors = pb.Factors(as_capsule(library, signature=signature), N, D, user_data=MATRIX)
    assert factors.evaluate([3], [2]) == MATRIX[3, 2]


def test_a_cfunc_through_ctypes_and_scipy():
    scipy, function = pytest.importorskip("scipy"), as_numba()
    for given in (function.ctypes, scipy.LowLevelCallable(function.ctypes)):
        factors = pb.Factors(given, N, D, user_data=MATRIX)
        assert factors.evaluate([3], [2]) == MATRIX[3, 2]


@pytest.mark.parametrize("signature", WRONG)
def test_wrong_signatures_are_rejected(library, signature):
    with pytest.raises(TypeError) as caught:
        pb.Factors(as_capsule(library, signature=signature), N, D)
    assert "PyCapsule" in str(caught.value) and signature in str(caught.value)
    assert SIGNATURE in str(caught.value)


def test_wrong_signatures_of_other_kinds_are_rejected(library):
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


def test_wrong_signatures_of_cffi_are_rejected(library):
    for wrong in ("int (int64_t *, int, int64_t *, int64_t, double *, void *)",
                  "int (double)"):
        with pytest.raises(TypeError, match="a cffi pointer of"):
            pb.Factors(as_cffi(library, signature=wrong), N, D)
    cffi = pytest.importorskip("cffi", reason="cffi is not installed")
    with pytest.raises(TypeError, match="double"):
        pb.Factors(cffi.FFI().new("double[3]"), N, D)


def test_wrong_signatures_of_numba_are_rejected():
    numba = pytest.importorskip("numba", reason="numba is not installed")
    with pytest.raises(TypeError, match=r"a numba cfunc of float64 \(float64\)"):
        pb.Factors(numba.cfunc("float64(float64)")(lambda x: x), N, D)


def test_objects_that_are_not_functions_are_rejected(library):
    with pytest.raises(TypeError, match="callable"):
        pb.Factors(address_of(library.fails), N, D)
    with pytest.raises(TypeError, match="user_data must be None unless"):
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
    yield "capsule", new_capsule(MATRIX.ctypes.data, None, None)


@pytest.mark.parametrize("name, data", [
    pytest.param(name, data, id=name) for name, data in user_data_kinds()])
def test_user_data_of_every_kind_is_accepted(library, name, data):
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
def test_wrong_user_data_is_rejected(library, data, kind):
    with pytest.raises(kind, match="user_data"):
        pb.Factors(as_ctypes(library), N, D, user_data=data)


def test_second_user_data_is_rejected(library, quadratic):
    for function in (as_scipy(library), bound(quadratic)):
        with pytest.raises(ValueError, match="has its own data"):
            pb.Factors(function, N, D, user_data=MATRIX)
