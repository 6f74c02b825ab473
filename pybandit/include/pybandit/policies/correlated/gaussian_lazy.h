#ifndef PYBANDIT_GAUSSIAN_LAZY_H
#define PYBANDIT_GAUSSIAN_LAZY_H

#include <stdint.h>

#include "pybandit/policies/correlated/gaussian.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The posterior in weight form for those who look for the largest mean + factor std: arms
 * that cannot have it are not touched, and an arm's mean and variance are as of the reward
 * after which it was last looked at.
 *
 * What an arm has after n rewards does not depend on when it was looked at: it is computed
 * from the weights and their spread as they were after the last multiple of n_features
 * rewards, and brought along by each reward since.
 *
 * The caller sets `gaussian`, its fields as in gaussian.h, `norms`, the squared lengths of the
 * features, `prior_variance`, and points `memory` and `made`; the rest is the kernel's.
 */
typedef struct {
    pb_gaussian *gaussian;
    const double *norms;
    double prior_variance;  /* of a weight */
    double *memory;  /* pb_gaussian_lazy_size of them */
    int64_t *made;   /* n_arms: the rewards that an arm's mean and variance know */
    int64_t n_told;
    double drift;    /* how far means have moved, in deviations */
    double longest, heaviest;  /* of features, and of weights so far */
    double blur;     /* of a variance, in units of the prior's: what rounding may hide */
    double *base, *steps;       /* weights and spread to begin with, and rewards since */
    double *ceilings, *slopes;  /* ceiling + (factor + drift) slope is not below the score */
    double *tops, *leans, *levels;  /* of blocks of arms */
    double *bounds, *row;           /* scratch */
} pb_gaussian_lazy;

/* Doubles of memory: about 2 n_arms + 2 n_features^2. */
int64_t pb_gaussian_lazy_size(int64_t n_arms, int64_t n_features);

/*
 * Begins after n_told >= 0 rewards with the arms as they are in `gaussian`; where n_told is a
 * multiple of n_features their means and variances are computed. O(K d^2).
 */
void pb_gaussian_lazy_begin(pb_gaussian_lazy *lazy, int64_t n_told);

/* A finite reward of an arm, noise_variance > 0. O(d^2). */
void pb_gaussian_lazy_update(pb_gaussian_lazy *lazy, int64_t arm, double reward,
                             double noise_variance);

/* Makes mean and variance of an arm, or of all, those after the last reward. */
void pb_gaussian_lazy_refresh(pb_gaussian_lazy *lazy, int64_t arm);
void pb_gaussian_lazy_refresh_all(pb_gaussian_lazy *lazy);

/*
 * The arm of the largest means[k] + factor sqrt(variances[k]), ties to the lowest index: of
 * means and variances as if all were refreshed. O(K) at worst as a pass over the features,
 * commonly O(K / 64) and a few arms.
 */
int64_t pb_gaussian_lazy_largest(pb_gaussian_lazy *lazy, double factor);

#ifdef __cplusplus
}
#endif

#endif
