#ifndef PYBANDIT_VARIANCE_H
#define PYBANDIT_VARIANCE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Sample variances of arms from their running sums; `deviations` are sums of
 * squares about the mean. A variance that rounding alone could have made is 0.
 */
double pb_variance(int64_t pulls, double sum, double deviation);

/* The least of the arms' positive variances; 0 where none is positive. */
double pb_variance_least(const int64_t *pulls, const double *sums, const double *deviations,
                         int64_t n_arms);

/* What is known of arms that are to have little variance for their cost; n entries each. */
typedef struct {
    int64_t n_arms;
    const int64_t *pulls;      /* values */
    const double *sums;        /* of them */
    const double *deviations;  /* sums of squares about their mean */
    const double *cost_sums;   /* of all runs, those without a value too */
} pb_spreads;

/* A source of Gamma(shape, 1), shape above 0. */
typedef double (*pb_gamma_source)(void *state, double shape);

/*
 * Arms to run next, ties to the lowest; an arm with fewer than two values has no
 * variance and is left out, -1 where none is left. O(n_arms).
 */

/* argmin log(c s^2) - sqrt(4 log t / N), c = cost / N. */
int64_t pb_spreads_optimistic(const pb_spreads *spreads, double t);

/* argmin c s^2 (N - 1) / chi^2_{N - 1}, a chi-square an arm from `gamma`, in their order. */
int64_t pb_spreads_drawn(const pb_spreads *spreads, pb_gamma_source gamma, void *state);

/*
 * The first arm with fewer than two values that has had no more than its part of
 * `n_decisions`; -1 where there is none. `asked` counts the decisions for each.
 */
int64_t pb_spreads_lacking(const pb_spreads *spreads, const int64_t *asked, int64_t n_decisions);

#ifdef __cplusplus
}
#endif

#endif
