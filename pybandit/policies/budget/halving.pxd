"""Private to pybandit: the base class of sequential halving."""

from pybandit.policies.budget._staged cimport _StagedPolicy


cdef class _Halving(_StagedPolicy):
    cdef readonly bint reuse, spend_all
