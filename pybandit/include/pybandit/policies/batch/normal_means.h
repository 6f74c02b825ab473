#ifndef PYBANDIT_NORMAL_MEANS_H
#define PYBANDIT_NORMAL_MEANS_H

#include <stdint.h>

#include "pybandit/policies/protocol/ranking.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Statistics per arm without lost pulls; deviations are sums of squares about the mean. */
typedef struct {
    const int64_t *pulls;
    const double *sums, *deviations;
} pb_seen;

/*
 * Empirical Bayes estimates of n means: normal about a common centre, or about a line in the
 * prior scores, with normal rewards about each mean.
 */
typedef struct {
    int64_t n;
    const double *prior;        /* n prior scores, about -3 to 3; NULL if there are none */
    double noise;               /* a guess of the standard deviation of a reward; 0 if unknown */

    /* memory owned by the caller */
    double *means, *variances;  /* n each: posterior of each arm's mean */
    double *keys;               /* n: scratch */
    int64_t *line;              /* n: scratch */
    pb_ranked *ranked;          /* 2 n: scratch */
} pb_normal_means;

/* Fills `means` and `variances` and returns the variance of a reward, above 0. O(n). */
double pb_normal_means_fit(pb_normal_means *fit, const pb_seen *seen);

#ifdef __cplusplus
}
#endif

#endif
