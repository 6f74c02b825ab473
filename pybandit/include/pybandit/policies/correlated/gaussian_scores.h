#ifndef PYBANDIT_GAUSSIAN_SCORES_H
#define PYBANDIT_GAUSSIAN_SCORES_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Which arm to pull, of the posterior's means and variances, one an arm, n >= 1 of them.
 * Standard deviations are `scale` times the roots of the variances. Ties to the lowest
 * index. `out` and `memory` are scratch. O(n).
 */

/* The largest means[k] + factor sqrt(variances[k]); out: n. */
int64_t pb_gaussian_scores_upper(const double *means, const double *variances, int64_t n,
                                 double factor, double *out);

/*
 * The largest probability to be above the largest mean by xi >= 0: the largest
 * -(largest mean + xi - means[k]) / std_k, -INFINITY where std_k is 0. out: n.
 */
int64_t pb_gaussian_scores_probable(const double *means, const double *variances, int64_t n,
                                    double xi, double scale, double *out);

/*
 * The largest expected improvement on the largest mean and xi >= 0. Where all are below
 * what a double holds, the most probable one. memory: 2 n.
 */
int64_t pb_gaussian_scores_expected(const double *means, const double *variances, int64_t n,
                                    double xi, double scale, double *memory);

#ifdef __cplusplus
}
#endif

#endif
