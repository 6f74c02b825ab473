"""One function of factors, compiled in every form that `Factors` accepts, and as an array."""

import ctypes

import numpy as np
import pytest

import pybandit as pb

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
int slow(const int64_t *, int64_t, const int64_t *, int64_t, double *, void *);
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

/* pseudorandom bits: no state is ever far ahead */
int slow(const int64_t *factors, int64_t n_factors, const int64_t *states,
         int64_t n_states, double *out, void *user_data)
{
    (void)user_data;
    for (int64_t f = 0; f < n_factors; f++)
        for (int64_t s = 0; s < n_states; s++)
            out[f * n_states + s] = (double)((factors[f] * 2654435761 >> states[s]) & 1);
    return 0;
}

int leaves_out(const int64_t *factors, int64_t n_factors, const int64_t *states,
               int64_t n_states, double *out, void *user_data)
{
    return of_matrix(factors, n_factors - 1, states, n_states, out, user_data);
}
"""

new_capsule = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p,
                                 ctypes.c_void_p)(("PyCapsule_New", ctypes.pythonapi))

NAMES = []  # names of capsules, kept alive because a capsule only points to its name


def address_of(function):
    return ctypes.cast(function, ctypes.c_void_p).value


def as_ctypes(library, name="of_matrix"):
    return CFUNCTION((name, library))


def as_capsule(library, name="of_matrix", signature=SIGNATURE):
    NAMES.append(signature.encode())
    return new_capsule(address_of(getattr(library, name)), NAMES[-1], None)


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


def bound(quadratic, y=Y, means=MEANS):
    return quadratic.bind(y, np.ascontiguousarray(np.stack([0 * means, means], 1)), -1.0, 1, True)


KINDS = {"ctypes": as_ctypes, "capsule": as_capsule, "cffi": as_cffi, "scipy": as_scipy,
         "numba": as_numba}


def factors_of(kind, library, data=MATRIX):
    if kind == "bound":
        pytest.importorskip("numba", reason="numba is not installed")
    return pb.Factors(KINDS[kind](library), N, D, user_data=None if kind == "scipy" else data)
