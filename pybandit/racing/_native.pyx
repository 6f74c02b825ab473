# cython: auto_pickle=False
"""Log factors compiled with this package: their data, addresses and sums."""

import numpy as np

from pybandit.racing._callbacks import BoundFunction

cimport numpy as cnp
from cpython.buffer cimport PyBuffer_FillInfo
from cpython.pycapsule cimport PyCapsule_New
from libc.stdint cimport int32_t, int64_t, uintptr_t

from pybandit._shared._csrc cimport pb_read_once
from pybandit.racing._csrc cimport (
    pb_factor_function, pb_pairwise, pb_pairwise_memory, pb_pairwise_read, pb_pairwise_totals,
    pb_quadratic, pb_quadratic_read, pb_quadratic_totals,
)

cnp.import_array()

cdef bytes SIGNATURE = (b"int (const int64_t *, int64_t, const int64_t *, int64_t, double *, "
                        b"void *)")


cdef class Native:
    """Arrays of a compiled function, which reads them again at every call.

    The caller checks shapes and members. Members must not change afterwards; labels may change
    and are checked when they are read.

    ``totals(n_factors)`` returns the sums over all factors, shape (D,); a sum is not finite if
    one of its factors is not. Pass `bound` to `Factors` as its function.
    """


cdef class Pairwise(Native):
    """A pb_pairwise: table (L, D), labels, members or None, weights or None."""

    cdef pb_pairwise data
    cdef const double[:, ::1] table
    cdef const int64_t[::1] labels
    cdef const int32_t[::1] members
    cdef const double[::1] weights

    def __cinit__(self, const double[:, ::1] table, const int64_t[::1] labels, members, weights):
        self.table, self.labels = table, labels
        self.data.n_labels, self.data.n_states = table.shape[0], table.shape[1]
        self.data.table, self.data.labels = &table[0, 0], &labels[0]
        if members is not None:
            self.members = members
            self.data.members = &self.members[0]
        if weights is not None:
            self.weights = weights
            self.data.weights = &self.weights[0]

    @property
    def bound(self):
        """The function of `Factors`, with its data."""
        return _bound(self, pb_pairwise_read, &self.data,
                      f"; labels must be in [0, {self.data.n_labels})")

    def totals(self, int64_t n_factors):
        cdef double[::1] work = np.empty(pb_pairwise_memory(&self.data))
        cdef double[::1] out = np.empty(self.data.n_states)
        with nogil:
            pb_pairwise_totals(&self.data, n_factors, &work[0], &out[0])
        return np.asarray(out)


cdef class Quadratic(Native):
    """A pb_quadratic: constants, slopes and curvatures (D,), values, members or None."""

    cdef pb_quadratic data
    cdef const double[::1] constants, slopes, curvatures, values
    cdef const int32_t[::1] members

    def __cinit__(self, const double[::1] constants, const double[::1] slopes,
                  const double[::1] curvatures, double center, const double[::1] values, members):
        self.constants, self.slopes, self.curvatures = constants, slopes, curvatures
        self.values = values
        self.data.n_states, self.data.center = constants.shape[0], center
        self.data.constants, self.data.slopes = &constants[0], &slopes[0]
        self.data.curvatures, self.data.values = &curvatures[0], &values[0]
        if members is not None:
            self.members = members
            self.data.members = &self.members[0]

    @property
    def bound(self):
        """The function of `Factors`, with its data."""
        return _bound(self, pb_quadratic_read, &self.data, "")

    def totals(self, int64_t n_factors):
        cdef double[::1] out = np.empty(self.data.n_states)
        with nogil:
            pb_quadratic_totals(&self.data, n_factors, &out[0])
        return np.asarray(out)


cdef _bound(Native owner, pb_factor_function function, void *data, str explained):
    capsule = PyCapsule_New(<void *>function, SIGNATURE, NULL)
    return BoundFunction(capsule, <uintptr_t>data, (owner,), explained)


def native_of(factors):
    """Return the `Native` behind `Factors`, or None if there is none."""
    function = factors.function
    if isinstance(function, BoundFunction) and function.arguments:
        owner = function.arguments[0]
        return owner if isinstance(owner, Native) else None
    return None


cdef class _ReadOnly:
    """Read-only buffer over an array that only this object references."""

    cdef cnp.ndarray array

    def __getbuffer__(self, Py_buffer *buffer, int flags):
        PyBuffer_FillInfo(buffer, self, cnp.PyArray_DATA(self.array),
                          cnp.PyArray_NBYTES(self.array), True, flags)


def is_sorted_labels(array):
    """Return True if `array` is a view of a result of `members_of`, which nothing can change."""
    if type(array) is not np.ndarray:
        return False
    while isinstance(array, np.ndarray):
        array = array.base
    return type(array) is _ReadOnly


def members_of(const int64_t[::1] labels, int64_t n_labels):
    """Return the positions of all labels, grouped by label, and where each group begins.

    The positions are one read-only int32 array; group i begins at entry i of the second array.
    Raises ValueError if a label is outside [0, n_labels), or if another thread changed a label
    between the two times it was read.
    """
    cdef int64_t n = labels.shape[0], i, label = 0
    cdef int64_t[::1] begins = np.zeros(n_labels + 1, dtype=np.int64)
    cdef _ReadOnly owner = _ReadOnly()
    owner.array = np.empty(n, dtype=np.int32)
    cdef int32_t *order = <int32_t *>cnp.PyArray_DATA(owner.array)
    with nogil:
        for i in range(n):
            label = pb_read_once(&labels[i])
            if not 0 <= label < n_labels:
                break
            begins[label + 1] += 1
        else:
            i = n
    if i < n:
        raise ValueError(f"labels must be in [0, {n_labels}); got {label} at index {i}")
    ends = np.cumsum(begins)
    cdef int64_t[::1] at = ends.copy()
    cdef const int64_t[::1] end = ends
    with nogil:
        for i in range(n):
            label = pb_read_once(&labels[i])
            if not 0 <= label < n_labels or at[label] == end[label + 1]:
                break
            order[at[label]] = <int32_t>i
            at[label] += 1
        else:
            i = n
    if i < n:
        raise ValueError(f"labels must not change while they are sorted; got a new one at index "
                         f"{i}")
    return np.ndarray(n, np.int32, owner), ends
