#ifndef PYBANDIT_GAUSSIAN_ROWS_H
#define PYBANDIT_GAUSSIAN_ROWS_H

#include <stdint.h>

#include "pybandit/policies/correlated/gaussian.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The posterior in covariance form; see gaussian.h. */

/*
 * Returns the number of rows to store, at least 4: about n_arms / 2, where subtracting them from
 * `spread` becomes cheaper than keeping them, and at most 64 once `spread` is in use.
 */
int64_t pb_gaussian_rows_most(int64_t n_arms, int is_folded);

/*
 * Computes the next row, for a reward of an arm. Only an update with a reward of that arm and the
 * same noise may follow, or another call of this function. Returns the least variance that the
 * reward leaves: it is below 0 beyond rounding only if the prior covariance is not positive
 * semi-definite. O(n_rows n_arms).
 */
double pb_gaussian_rows_next(pb_gaussian *gaussian, int64_t arm, double noise_variance);

/* Updates the posterior with a finite reward of an arm; noise_variance > 0. */
void pb_gaussian_rows_update(pb_gaussian *gaussian, int64_t arm, double reward,
                             double noise_variance);

#ifdef __cplusplus
}
#endif

#endif
