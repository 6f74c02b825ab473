"""Workspace of an acceptance test, and its errors as Python exceptions."""

from pybandit._shared.checks import is_masked, shown
from pybandit.betting._kernels import Bets
from pybandit.racing._log_ratios import range_of, two_state_bound
from pybandit.racing._track import hashable, index_kind, make_plan
from pybandit.racing.bounds import BettingBound

from cpython.mem cimport PyMem_RawFree, PyMem_RawMalloc
from libc.stdint cimport int64_t

from pybandit._shared._csrc cimport PB_CALLBACK, PB_OK, PB_RANGE, pb_bitgen, pb_status
from pybandit.betting._kernels cimport ThresholdRace
from pybandit.racing._csrc cimport pb_accept_run
from pybandit.racing._source cimport Source
from pybandit.racing._track cimport Subsample

# Numbers of log ratios requested from a function per call, and gathered from an array at a time.
CALL_RATIOS = 16384
ARRAY_RATIOS = 1024


cdef class Workspace:
    """A pb_accept and its memory for one problem; raises its failures as exceptions."""

    def __cinit__(self, factors, bound, delta, looks, str kind):
        self.source = Source(factors)
        self.accept.factors, self.accept.total = self.source.factors, self.source.totals
        n = self.accept.factors.n_factors
        bound = two_state_bound(bound, hashable("delta", delta))
        self.plan = make_plan(bound, None, looks, n, 2,
                              8 if self.accept.factors.matrix else None)
        self.plan.fill(&self.accept.schedule)
        self.accept.range = range_of(bound)
        self.subsample = Subsample(index_kind(factors, looks.indices, kind), n)
        self.accept.subsample = &self.subsample.stream
        self.accept.block = min(n, ARRAY_RATIOS if self.accept.factors.matrix else CALL_RATIOS)
        self.accept.indices = <int64_t *>PyMem_RawMalloc(self.accept.block * sizeof(int64_t))
        self.accept.ratios = <double *>PyMem_RawMalloc(self.accept.block * sizeof(double))
        if not self.accept.indices or not self.accept.ratios:
            raise MemoryError(f"cannot allocate {self.accept.block} log ratios")
        if isinstance(bound, BettingBound):
            self.betting = ThresholdRace(1, n, 0.0, Bets(bound.bets.mixture, bound.n_bets),
                                         self.plan.limits, bound.delta)
            self.accept.betting = &self.betting.race

    def __dealloc__(self):
        PyMem_RawFree(self.accept.indices)
        PyMem_RawFree(self.accept.ratios)

    cdef int test(self, double log_threshold, pb_bitgen *bitgen, lock) except -1:
        cdef pb_status status
        self.source.hold(lock)
        with lock, nogil:
            status = pb_accept_run(&self.accept, log_threshold, bitgen)
        self.source.hold(None)  # callers that use `address` hold another lock, or none
        if status != PB_OK:
            self.raise_failure(status)
        return 0

    cdef raise_failure(self, pb_status status):
        if status == PB_CALLBACK:
            self.source.raise_error()
        bad, where = self.accept.bad_ratio, f"at factor {self.accept.bad_factor}"
        if status == PB_RANGE and self.betting is not None:
            low, high = self.betting.race.items.low, self.betting.race.items.high
            raise ValueError(f"log_ratios must lie in value_range = {(low, high)}; got {bad} "
                             f"{where}")
        if status == PB_RANGE:
            spread = self.accept.column.high - self.accept.column.low
            raise ValueError(f"value_range must be at least the spread of the log ratios; got "
                             f"{self.accept.range!r}, but they spread over {spread!r}")
        if self.accept.bad_factor < 0:
            raise ValueError("log_ratios must be small enough to square; they spread over more "
                             "than 1e154")
        raise ValueError(f"log_ratios must be finite; got {bad} {where}")


cdef double as_threshold(log_threshold) except? -1.0:
    cdef double threshold
    if not isinstance(log_threshold, float) and is_masked(log_threshold):
        raise TypeError("log_threshold must be a number; got a masked value")
    try:
        threshold = log_threshold
    except Exception:  # its __float__ may raise anything
        raise TypeError(f"log_threshold must be a number; got {shown(log_threshold)}") from None
    if threshold != threshold:
        raise ValueError("log_threshold must not be NaN; got nan")
    return threshold
