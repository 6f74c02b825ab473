"""The kernels of csrc/betting, declared for Cython; contracts in include/pybandit/betting."""

from libc.stdint cimport int64_t

from pybandit._shared._csrc cimport pb_status


cdef extern from "pybandit/betting/confidence.h" nogil:
    ctypedef enum pb_confidence_method:
        PB_CONFIDENCE_BETTING
        PB_CONFIDENCE_BERNSTEIN
        PB_CONFIDENCE_HOEFFDING
        PB_CONFIDENCE_ASYMPTOTIC

    enum:
        PB_CONFIDENCE_BETS

    ctypedef struct pb_confidence:
        int64_t n_bets
        int64_t count
        double lower
        double upper
        double sum[2]
        double bound[2]
        double candidate[2]
        double capital[2][64]
        double gain[64]
        double clock[64]
        double cost[64]
        double mean
        double square

    void pb_confidence_init(pb_confidence *confidence, pb_confidence_method method,
                            double population, double alpha, const double *bets, int64_t n_bets,
                            int bounded) noexcept
    void pb_confidence_add(pb_confidence *confidence, const double *values, int64_t n,
                           double *lower, double *upper) noexcept
    int pb_confidence_agrees(const pb_confidence *confidence, const double *values) noexcept


cdef extern from "pybandit/betting/bets.h" nogil:
    ctypedef enum pb_mixture:
        PB_MIX_PRODUCT
        PB_MIX_EBMIX
        PB_MIX_PLUG_IN

    ctypedef struct pb_bets:
        pb_mixture mixture
        int64_t n_bets
        const double *bets
        const double *shares
        const double *psi

    ctypedef struct pb_items:
        int64_t n_items
        double low
        double high
        double range
        const double *left

    int PB_MOST_BETS
    int64_t pb_bets_memory(const pb_bets *bets) noexcept


cdef extern from "pybandit/betting/pairs.h" nogil:
    ctypedef struct pb_pairs:
        pb_bets bets
        pb_items items
        double slack
        double threshold
        int64_t n_slots
        double *memory
        unsigned char *claims


cdef extern from "pybandit/betting/betting.h" nogil:
    ctypedef struct pb_betting:
        pb_bets bets
        pb_items items
        double threshold
        int hybrid
        pb_pairs *near
        int64_t near_slots
        double near_error
        int predicted
        int64_t n_arms
        double *memory
        double *scores
        double *rewards
        int64_t *arms
        int64_t *columns
        int64_t *slots
        unsigned char *gone
        int64_t n_alive
        int64_t leader
        int64_t runner_up
        int64_t n_read
        int64_t n_evaluations
        int near_begun
        int decided
        int64_t bad_row

    int64_t pb_betting_memory(const pb_bets *bets, int64_t n_arms, int hybrid) noexcept
    void pb_betting_begin(pb_betting *betting) noexcept
    pb_status pb_betting_add(pb_betting *betting, const double *const *rows,
                             int64_t n_rows) noexcept

    ctypedef struct pb_predictions:
        const double *const *rows
        const double *totals
        const double *highest
        const double *lowest

    pb_status pb_betting_add_predicted(pb_betting *betting, const double *const *rows,
                                       int64_t n_rows,
                                       const pb_predictions *predictions) noexcept
    void pb_betting_missing(const pb_betting *betting, double *missing) noexcept
    void pb_betting_withdraw(pb_betting *betting, int64_t n_kept, const int64_t *keys,
                             unsigned char *withdrawn) noexcept


cdef extern from "pybandit/betting/rejects.h" nogil:
    ctypedef struct pb_rejects:
        int64_t n_items
        double *weights

    void pb_rejects_begin(pb_rejects *rejects, int64_t n_arms, int64_t k,
                          double strength) noexcept
    int64_t pb_rejects_keep(const pb_rejects *rejects, int64_t n_alive, int64_t places,
                            int64_t n_read, int64_t cells) noexcept
    int64_t pb_rejects_block(const pb_rejects *rejects, int64_t n_alive, int64_t places,
                             int64_t n_read, int64_t cells) noexcept


cdef extern from "pybandit/betting/top_k.h" nogil:
    ctypedef struct pb_top_k:
        int64_t n_arms
        int64_t k
        pb_pairs beats
        pb_pairs near
        int64_t *verdicts
        int64_t *arms
        int64_t *columns
        double *sums
        double *rewards
        unsigned char *inside
        int64_t n_open
        int64_t n_accepted
        int64_t n_rejected
        int64_t n_read
        int64_t n_evaluations
        int decided
        int64_t bad_row

    void pb_top_k_begin(pb_top_k *top) noexcept
    pb_status pb_top_k_add(pb_top_k *top, const double *const *rows, int64_t n_rows) noexcept
    void pb_top_k_withdraw(pb_top_k *top, int64_t n_kept, const int64_t *keys,
                           unsigned char *withdrawn) noexcept
    void pb_top_k_leaders(const pb_top_k *top, unsigned char *flags) noexcept


cdef extern from "pybandit/betting/threshold.h" nogil:
    ctypedef struct pb_threshold:
        pb_bets bets
        pb_items items
        double tau
        double slack
        double threshold
        int64_t n_arms
        double *memory
        int64_t *verdicts
        int64_t *arms
        int64_t *columns
        double *sums
        int64_t n_open
        int64_t n_read
        int64_t n_evaluations
        int decided
        int64_t bad_row

    void pb_threshold_begin(pb_threshold *t) noexcept
    pb_status pb_threshold_add(pb_threshold *t, const double *const *rows,
                               int64_t n_rows) noexcept
