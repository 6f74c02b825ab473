#ifndef PYBANDIT_GAUSSIAN_LAZY_H
#define PYBANDIT_GAUSSIAN_LAZY_H

#include <stdint.h>

#include "pybandit/policies/correlated/gaussian.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The posterior in weight form, for policies that only need the arm of the largest
 * mean + factor std. Arms that cannot be the largest are not updated; an arm's mean and variance
 * date from its last refresh.
 *
 * The values of an arm after n rewards do not depend on when it is refreshed: they are computed
 * from weights and spread as of the last multiple of n_features rewards, then updated with each
 * reward since.
 *
 * The caller sets `gaussian` (see gaussian.h), `norms` (squared lengths of the features) and
 * `prior_variance`, and allocates `memory` and `made`. These functions set the other fields.
 */
typedef struct {
    pb_gaussian *gaussian;
    const double *norms;
    double prior_variance;  /* of a weight */
    double *memory;  /* pb_gaussian_lazy_size doubles */
    int64_t *made;   /* n_arms: the number of rewards included in an arm's mean and variance */
    int64_t n_told;  /* rewards so far */
    double drift;    /* upper bound on the shift of any mean, in standard deviations of the arm */
    double longest, heaviest;  /* largest length of features, and of the weight vector so far */
    double blur;     /* the rounding error of a variance is at most blur times the arm's norm */
    double *base, *steps;       /* weights and spread at the last multiple; later rewards */
    double *ceilings, *slopes;  /* ceiling + (factor + drift) slope is an upper bound of a score */
    double *tops, *leans, *levels;  /* per block: largest line at a level; slope; level */
    double *bounds, *row;           /* scratch */
} pb_gaussian_lazy;

/* Returns the number of doubles in `memory`: about 2 n_arms + 2 n_features^2. */
int64_t pb_gaussian_lazy_size(int64_t n_arms, int64_t n_features);

/*
 * Starts after n_told >= 0 rewards with the arms as they are in `gaussian`. If n_told is a
 * multiple of n_features, means and variances are computed from weights and spread. O(K d^2).
 */
void pb_gaussian_lazy_begin(pb_gaussian_lazy *lazy, int64_t n_told);

/* Updates with a finite reward of an arm; noise_variance > 0. O(d^2). */
void pb_gaussian_lazy_update(pb_gaussian_lazy *lazy, int64_t arm, double reward,
                             double noise_variance);

/* Bring mean and variance of an arm, or of all arms, up to date with the last reward. */
void pb_gaussian_lazy_refresh(pb_gaussian_lazy *lazy, int64_t arm);
void pb_gaussian_lazy_refresh_all(pb_gaussian_lazy *lazy);

/*
 * Returns the arm of the largest means[k] + factor sqrt(variances[k]), ties to the lowest index,
 * as if all arms were refreshed. At worst a pass over all features; usually O(K / 64) and a
 * few arms.
 */
int64_t pb_gaussian_lazy_largest(pb_gaussian_lazy *lazy, double factor);

#ifdef __cplusplus
}
#endif

#endif
