"""Private to pybandit: index policies with a budget."""

from pybandit.policies.protocol._index cimport _IndexPolicy


cdef class _BudgetPolicy(_IndexPolicy):
    cdef readonly object complexity       # None: estimated before each pull
    cdef double known_complexity
