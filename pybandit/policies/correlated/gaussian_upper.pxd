"""Private to pybandit: policies that pull the arm of the largest upper bound."""

from libc.stdint cimport int64_t

from pybandit.policies._csrc cimport pb_gaussian_lazy
from pybandit.policies.correlated._gaussian cimport _GaussianPolicy


cdef class _UpperPolicy(_GaussianPolicy):
    cdef bint is_lazy                     # True in weight form
    cdef pb_gaussian_lazy lazy
    cdef double[::1] lines                # memory of `lazy`
    cdef int64_t[::1] made

    # Returns the arm of the largest mean plus `factor` standard deviations.
    cdef int64_t _largest(self, double factor) noexcept nogil
