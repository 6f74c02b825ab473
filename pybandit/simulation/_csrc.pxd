"""The kernels of csrc/simulation, declared for Cython; contracts in include/pybandit/simulation."""

from libc.stdint cimport int64_t, uint32_t, uint64_t

from pybandit._shared._csrc cimport pb_bitgen


cdef extern from "pybandit/simulation/stream.h" nogil:
    enum:
        PB_STREAM_POOL
    ctypedef struct pb_stream:
        uint64_t state_high
        uint64_t state_low
        uint64_t step_high
        uint64_t step_low
    ctypedef struct pb_stream_seeds:
        uint32_t pool[PB_STREAM_POOL]
        int64_t pool_size
        int64_t n_words

    void pb_stream_begin(const pb_stream_seeds *seeds, const uint32_t *key, int64_t n_key,
                         pb_stream *stream) noexcept
    void pb_stream_seed(const uint32_t *words, int64_t n_words, pb_stream *stream) noexcept
    pb_bitgen pb_stream_bits(pb_stream *stream) noexcept


cdef extern from "pybandit/simulation/score.h" nogil:
    int pb_score_best(const double *means, int64_t n_arms, const int64_t *chosen,
                      int64_t n_chosen, int64_t k, double epsilon, unsigned char *marks) noexcept
    int pb_score_above(const double *means, int64_t n_arms, const int64_t *chosen,
                       int64_t n_chosen, double threshold, double epsilon,
                       unsigned char *marks, double *furthest) noexcept
    int pb_score_set(const unsigned char *right, int64_t n_arms, const int64_t *chosen,
                     int64_t n_chosen, unsigned char *marks, double *n_wrong) noexcept
    double pb_score_gap(const double *means, const int64_t *chosen, int64_t n_chosen,
                        double best) noexcept
    double pb_score_lost(const double *gaps, const int64_t *pulls, int64_t n_arms) noexcept
