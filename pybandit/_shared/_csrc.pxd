"""The kernels of csrc/_shared, declared for Cython; contracts in include/pybandit/_shared."""

from libc.stdint cimport int64_t, uint32_t, uint64_t


cdef extern from "pybandit/_shared/status.h" nogil:
    ctypedef enum pb_status:
        PB_OK
        PB_GROW
        PB_NOT_FINITE
        PB_RANGE
        PB_CALLBACK
        PB_NO_SOLUTION


cdef extern from "pybandit/_shared/bitgen.h" nogil:
    ctypedef struct pb_bitgen:
        void *state
        uint64_t (*next_uint64)(void *state) noexcept nogil
        uint32_t (*next_uint32)(void *state) noexcept nogil
        double (*next_double)(void *state) noexcept nogil
        uint64_t (*next_raw)(void *state) noexcept nogil

    uint32_t pb_bitgen_below(pb_bitgen *bitgen, uint32_t bound) noexcept
    double pb_bitgen_open(pb_bitgen *bitgen) noexcept
    void pb_bitgen_gumbel_many(pb_bitgen *bitgen, int64_t n, double *out) noexcept


cdef extern from "pybandit/_shared/read_once.h" nogil:
    int64_t pb_read_once(const int64_t *at) noexcept


cdef extern from "pybandit/_shared/bounds.h" nogil:
    double pb_bounds_normal(double n, double population, double std, double boundary) noexcept
    void pb_bounds_bernstein_serfling_terms(double n, double population, double delta,
                                            double *scale, double *slack) noexcept
    double pb_bounds_bernstein_serfling(double n, double population, double std,
                                        double value_range, double delta) noexcept
    double pb_bounds_normal_tail(double z) noexcept
    double pb_bounds_normal_tail_inverse(double p) noexcept


cdef extern from "pybandit/_shared/heap.h" nogil:
    ctypedef struct pb_heap:
        double *keys
        int64_t *arms
        int64_t n

    void pb_heap_build(pb_heap *heap) noexcept
    void pb_heap_replace_root(pb_heap *heap, double key) noexcept
