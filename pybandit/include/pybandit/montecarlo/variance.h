#ifndef PYBANDIT_VARIANCE_H
#define PYBANDIT_VARIANCE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Returns the sample variance of an arm from its running sums; `deviation` is the sum of squares
 * about the mean. A variance that may be a rounding error is returned as 0.
 */
double pb_variance(int64_t pulls, double sum, double deviation);

/* Returns the smallest positive variance of the arms; 0 if none is positive. */
double pb_variance_least(const int64_t *pulls, const double *sums, const double *deviations,
                         int64_t n_arms);

/* Statistics of arms, to be chosen by variance and cost; n_arms entries each. */
typedef struct {
    int64_t n_arms;
    const int64_t *pulls;      /* number of values */
    const double *sums;        /* sums of values */
    const double *deviations;  /* sums of squares about the mean */
    const double *cost_sums;   /* costs of all runs, including those without a value */
} pb_spreads;

/* Returns a draw from Gamma(shape, 1), shape above 0. */
typedef double (*pb_gamma_source)(void *state, double shape);

/*
 * The next two functions return the arm to run next; the lowest index wins ties. Arms with fewer
 * than two values have no variance and are left out. Both return -1 if no arm is left. O(n_arms).
 */

/* Returns argmin log(c s^2) - sqrt(4 log t / N), c = cost / N. */
int64_t pb_spreads_optimistic(const pb_spreads *spreads, double t);

/* Returns argmin c s^2 (N - 1) / chi^2_{N - 1}; draws one chi-square per arm, in index order. */
int64_t pb_spreads_drawn(const pb_spreads *spreads, pb_gamma_source gamma, void *state);

/*
 * Returns the first arm with fewer than two values that received at most its equal share of
 * `n_decisions` decisions; -1 if there is none. `asked` counts the decisions per arm.
 */
int64_t pb_spreads_lacking(const pb_spreads *spreads, const int64_t *asked, int64_t n_decisions);

#ifdef __cplusplus
}
#endif

#endif
