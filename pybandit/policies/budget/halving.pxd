"""Private to pybandit: stages that keep the better half."""

from pybandit.policies.budget._staged cimport _StagedPolicy


cdef class _Halving(_StagedPolicy):
    cdef readonly bint reuse, spend_all
