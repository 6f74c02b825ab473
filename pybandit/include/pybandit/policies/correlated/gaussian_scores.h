#ifndef PYBANDIT_GAUSSIAN_SCORES_H
#define PYBANDIT_GAUSSIAN_SCORES_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Arm choices from posterior means and variances of n >= 1 arms. Standard deviations are `scale`
 * times the square roots of the variances. Ties go to the lowest index. `out` and `memory` are
 * scratch. O(n).
 */

/* Returns the arm of the largest means[k] + factor sqrt(variances[k]). out: n. */
int64_t pb_gaussian_scores_upper(const double *means, const double *variances, int64_t n,
                                 double factor, double *out);

/*
 * Returns the arm most likely to exceed the largest mean by xi >= 0, that of the largest
 * -(largest mean + xi - means[k]) / std_k, with -INFINITY if std_k is 0. out: n.
 */
int64_t pb_gaussian_scores_probable(const double *means, const double *variances, int64_t n,
                                    double xi, double scale, double *out);

/*
 * Returns the arm of the largest expected improvement over the largest mean plus xi >= 0. If all
 * these underflow to 0, returns the arm of the most probable improvement. memory: 2 n.
 */
int64_t pb_gaussian_scores_expected(const double *means, const double *variances, int64_t n,
                                    double xi, double scale, double *memory);

#ifdef __cplusplus
}
#endif

#endif
