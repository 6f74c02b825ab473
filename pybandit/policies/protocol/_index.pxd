"""Private to pybandit: policies that pull the arm of the largest index."""

from libc.stdint cimport int64_t

from pybandit.policies._csrc cimport pb_batch, pb_scan_root
from pybandit.policies.protocol.base cimport NativePolicy


cdef class _IndexPolicy(NativePolicy):
    cdef int64_t limit                    # the budget, or INT64_MAX
    cdef int64_t least                    # first pulls per arm
    cdef int64_t chosen                   # the arm to pull; -1: the first batch
    cdef int64_t n_lacking                # arms with fewer rewards than `least`
    cdef bint is_new                      # just reset: `_set_progress` has nothing to restore
    cdef int64_t[::1] all_arms, asked
    cdef double[::1] centres, roots, slopes, scratch

    # Sets `chosen`; called if at least two arms have their first rewards.
    cdef void _choose(self) noexcept nogil
    # Updates roots and slopes of an arm with its first rewards; may change its centre.
    cdef void _widen(self, int64_t arm) noexcept nogil
    # Sets `chosen` to the arm of the largest index, ties to the lowest; `top` is
    # subtracted from every centre.
    cdef void _choose_largest(self, double a, double top) noexcept nogil
    cdef void _refresh(self, int64_t arm) noexcept nogil
    cdef void _plan(self) noexcept nogil
    cdef bint _may_ask(self, int64_t arm) noexcept nogil


cdef inline double bounded(double a) noexcept nogil:
    """Return `a` limited to 1e306, so that squared widths stay finite for rewards up to 1e150."""
    return min(a, 1e306)


cdef inline void choose_by_root(_IndexPolicy self, double a) noexcept nogil:
    """Do as ``self._choose_largest(a, 0)`` if all slopes are 0."""
    self.chosen = pb_scan_root(&self.centres[0], &self.roots[0], bounded(a), self.n_arms)
