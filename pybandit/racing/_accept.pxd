"""Workspace of an acceptance test (private to pybandit)."""

from pybandit._shared._csrc cimport pb_bitgen, pb_status
from pybandit.betting._kernels cimport ThresholdRace
from pybandit.racing._csrc cimport pb_accept
from pybandit.racing._source cimport Source
from pybandit.racing._track cimport RacePlan, Subsample


cdef class Workspace:
    cdef pb_accept accept
    cdef RacePlan plan
    cdef Source source
    cdef Subsample subsample
    cdef ThresholdRace betting

    # Writes the outcome to `accept`.
    cdef int test(self, double log_threshold, pb_bitgen *bitgen, lock) except -1
    cdef raise_failure(self, pb_status status)


cdef double as_threshold(log_threshold) except? -1.0
