"""Private to pybandit."""

from pybandit.montecarlo._weighing cimport WeighedValues


cdef class EstimatorAllocator(WeighedValues):
    pass
