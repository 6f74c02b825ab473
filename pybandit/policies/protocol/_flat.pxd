"""Fast access to plain arrays and short lists of numbers passed by the user."""

cimport cython
cimport numpy as cnp
from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_CheckExact
from cpython.long cimport PyLong_AsLongLongAndOverflow, PyLong_CheckExact
from cpython.object cimport PyTypeObject, Py_TYPE
from libc.math cimport isnan
from libc.stdint cimport int64_t
from libc.string cimport memcpy


cdef extern from "numpy/arrayobject.h":
    PyTypeObject PyDoubleArrType_Type  # np.float64, a subclass of float


cdef inline int64_t length_of(array, int kind) noexcept:
    """Return the length of a flat, contiguous, aligned array of this type; -1 for others."""
    if not cnp.PyArray_CheckExact(array):
        return -1
    if cnp.PyArray_TYPE(<cnp.ndarray>array) != kind or (
            cnp.PyArray_NDIM(<cnp.ndarray>array) != 1
            or not cnp.PyArray_ISCARRAY_RO(<cnp.ndarray>array)):
        return -1
    return cnp.PyArray_SIZE(<cnp.ndarray>array)


cdef inline int64_t length_of_numbers(array) noexcept:
    """Return `length_of` an array of float64, int64 or bool; -1 for others."""
    cdef int64_t n = length_of(array, cnp.NPY_FLOAT64)
    if n < 0:
        n = length_of(array, cnp.NPY_INT64)
    return n if n >= 0 else length_of(array, cnp.NPY_BOOL)


cdef inline int64_t few_integers(values, int64_t *to, int64_t most) noexcept:
    """Copy a plain array or list of at most `most` integers; return their number, -1 for others."""
    cdef int64_t n = length_of(values, cnp.NPY_INT64)
    cdef Py_ssize_t i
    cdef int overflow = 0
    if 0 <= n <= most:
        memcpy(to, cnp.PyArray_DATA(<cnp.ndarray>values), n * sizeof(int64_t))
        return n
    if type(values) is not list:
        return -1
    with cython.critical_section(values):  # the loop reads a list that stays as it is
        if len(<list>values) > most:
            return -1
        for i in range(len(<list>values)):
            if not PyLong_CheckExact((<list>values)[i]):
                return -1
            to[i] = PyLong_AsLongLongAndOverflow((<list>values)[i], &overflow)
            if overflow:
                return -1
        return len(<list>values)


cdef inline int64_t few_numbers(values, double *to, int64_t most) noexcept:
    """Copy at most `most` numbers as float64; return how many, -1 for others.

    A list may hold floats and 64-bit integers.
    """
    cdef int64_t n = length_of_numbers(values)
    cdef Py_ssize_t i
    cdef void *data
    cdef int overflow = 0
    if 0 <= n <= most:
        data = cnp.PyArray_DATA(<cnp.ndarray>values)
        for i in range(n):
            if cnp.PyArray_TYPE(<cnp.ndarray>values) == cnp.NPY_FLOAT64:
                to[i] = (<double *>data)[i]
            elif cnp.PyArray_TYPE(<cnp.ndarray>values) == cnp.NPY_INT64:
                to[i] = <double>(<int64_t *>data)[i]
            else:  # any byte other than 0 is true
                to[i] = (<cnp.npy_bool *>data)[i] != 0
        return n
    if type(values) is not list:
        return -1
    with cython.critical_section(values):
        if len(<list>values) > most:
            return -1
        for i in range(len(<list>values)):
            value = (<list>values)[i]
            if PyFloat_CheckExact(value) or Py_TYPE(value) == &PyDoubleArrType_Type:
                to[i] = PyFloat_AS_DOUBLE(value)
            elif PyLong_CheckExact(value):
                to[i] = <double>PyLong_AsLongLongAndOverflow(value, &overflow)
                if overflow:
                    return -1
            else:
                return -1
        return len(<list>values)


cdef inline bint any_lost(const double *rewards, int64_t n) noexcept nogil:
    """Return True if a reward is NaN."""
    cdef int64_t j
    for j in range(n):
        if isnan(rewards[j]):
            return True
    return False
