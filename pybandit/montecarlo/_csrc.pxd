"""The kernels of csrc/montecarlo, declared for Cython; contracts in include/pybandit/montecarlo."""

from libc.stdint cimport int64_t

from pybandit._shared._csrc cimport pb_bitgen


cdef extern from "pybandit/montecarlo/variance.h" nogil:
    double pb_variance(int64_t pulls, double sum, double deviation) noexcept
    double pb_variance_least(const int64_t *pulls, const double *sums, const double *deviations,
                             int64_t n_arms) noexcept

    ctypedef struct pb_spreads:
        int64_t n_arms
        const int64_t *pulls
        const double *sums
        const double *deviations
        const double *cost_sums

    ctypedef double (*pb_gamma_source)(void *state, double shape) noexcept nogil

    int64_t pb_spreads_optimistic(const pb_spreads *spreads, double t) noexcept
    int64_t pb_spreads_drawn(const pb_spreads *spreads, pb_gamma_source gamma,
                             void *state) noexcept
    int64_t pb_spreads_lacking(const pb_spreads *spreads, const int64_t *asked,
                               int64_t n_decisions) noexcept


cdef extern from "pybandit/montecarlo/stakes.h" nogil:
    ctypedef struct pb_stake:
        double value
        double weight
        int64_t estimator
        int64_t begins

    ctypedef struct pb_stakes:
        const pb_stake *stakes
        int64_t n_stakes
        const double *lows
        const double *highs
        const double *bets
        int64_t n_bets

    double pb_stakes_capital(const pb_stakes *stakes, double m, int side, double limit,
                             double *capital) noexcept
    double pb_stakes_bound(const pb_stakes *stakes, double low, double high, double limit,
                           double start, double step, int side, double *capital) noexcept


cdef extern from "pybandit/montecarlo/cir.h" nogil:
    ctypedef struct pb_cir:
        double eta
        double kappa
        double sigma
        double initial
        double step
        int64_t n_steps
        double strike
        double notional

    ctypedef double (*pb_normal_source)(void *state) noexcept nogil

    double pb_cir_path(const pb_cir *cir, double drift, pb_normal_source normal, void *state,
                       double *brownian) noexcept
    double pb_cir_weighted(const pb_cir *cir, double drift, pb_normal_source normal,
                           void *state) noexcept


cdef extern from "pybandit/montecarlo/annealing.h" nogil:
    ctypedef struct pb_annealing:
        int64_t n_rows
        int64_t n_features
        const double *columns
        double prior_variance
        double width

    double pb_annealing_log_likelihood(const double *margins, const double *column, double step,
                                       int64_t n) noexcept
    void pb_annealing_margins(const pb_annealing *annealing, int64_t n_data, const double *theta,
                              double *margins) noexcept
    double pb_annealing_run(const pb_annealing *annealing, int64_t n, double *theta,
                            double *margins, pb_bitgen *bitgen, int64_t *n_evaluations) noexcept
