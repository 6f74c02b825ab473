# cython: boundscheck=False, wraparound=False
"""Metropolis-Hastings without the GIL: a logistic regression, its control variate in C.

The test is an AcceptanceTest created in Python and called by its address; the factors are a
function of this module. RacingMetropolis takes its steps in the same way without a module; this
example shows how to write a custom step.
"""

cimport pybandit
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.math cimport exp, log, log1p
from libc.stdint cimport int64_t, uintptr_t
from numpy.random cimport bitgen_t
from numpy.random.c_distributions cimport random_standard_normal

import numpy as np


cdef struct Rows:
    int64_t d
    const double *x
    const double *y
    const double *points


# api: pybandit.Factors finds it in this module's __pyx_capi__
cdef api int log_ratios(const int64_t *factors, int64_t n_factors, const int64_t *states,
                        int64_t n_states, double *out, void *user_data) noexcept nogil:
    cdef Rows *rows = <Rows *>user_data
    cdef double now, new
    cdef const double *x
    cdef int64_t f, j
    for f in range(n_factors):
        x, now, new = rows.x + factors[f] * rows.d, 0.0, 0.0
        for j in range(rows.d):
            now += x[j] * rows.points[j]
            new += x[j] * rows.points[rows.d + j]
        out[f] = rows.y[factors[f]] * (new - now) - log1p(exp(new)) + log1p(exp(now))
    return 0


cdef class Data:
    """The data that `log_ratios` reads; its address is the user_data of Factors."""

    cdef Rows rows
    cdef const double[:, ::1] x, points
    cdef const double[::1] y

    def __cinit__(self, const double[:, ::1] x, const double[::1] y,
                  const double[:, ::1] points):
        self.x, self.y, self.points = x, y, points
        self.rows = Rows(x.shape[1], &x[0, 0], &y[0], &points[0, 0])

    @property
    def address(self):
        return <uintptr_t>&self.rows


def walk(test, control, double[:, ::1] points, const double[:, ::1] factor, rng,
         double[:, ::1] draws):
    """Fill `draws` with a chain that starts at points[0]; return the rows read per step.

    A step is proposed as factor @ N(0, 1).
    """
    cdef pybandit.pb_accept *accept = <pybandit.pb_accept *><uintptr_t>test.address
    cdef pybandit.pb_bitgen *bitgen = <pybandit.pb_bitgen *>PyCapsule_GetPointer(
        rng.bit_generator.capsule, "BitGenerator")
    cdef const double[::1] gradient = control.gradient, center = control.center
    cdef const double[:, ::1] hessian = control.hessian
    cdef int64_t d = points.shape[1], n_read = 0, step, i, j
    cdef double[::1] noise = np.empty(d)
    cdef pybandit.pb_status status = pybandit.PB_OK
    cdef double change
    with rng.bit_generator.lock, nogil:
        for step in range(draws.shape[0]):
            for i in range(d):
                noise[i] = random_standard_normal(<bitgen_t *>bitgen)
            for i in range(d):
                points[1, i] = points[0, i]
                for j in range(i + 1):
                    points[1, i] += factor[i, j] * noise[j]
            change = pybandit.control_quadratic_change(d, &gradient[0], &hessian[0, 0], &center[0],
                                                       &points[0, 0])
            status = pybandit.accept_run(
                accept, log(pybandit.pb_bitgen_open(bitgen)) - change, bitgen)
            if status != pybandit.PB_OK:
                break
            n_read += accept.n_evaluations
            for i in range(d):
                if accept.accepted:
                    points[0, i] = points[1, i]
                draws[step, i] = points[0, i]
    test.raise_status(status)
    return n_read / <double>draws.shape[0]
