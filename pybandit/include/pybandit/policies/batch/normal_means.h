#ifndef PYBANDIT_NORMAL_MEANS_H
#define PYBANDIT_NORMAL_MEANS_H

#include <stdint.h>

#include "pybandit/policies/protocol/ranking.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What was seen of each arm, lost pulls left out; deviations are squares about the mean. */
typedef struct {
    const int64_t *pulls;
    const double *sums, *deviations;
} pb_seen;

/*
 * Means of n arms by empirical Bayes: normal about a centre, or about a line through what
 * was thought of them before, with normal rewards about them.
 */
typedef struct {
    int64_t n;
    const double *prior;        /* n: about -3 to 3; NULL: nothing was thought */
    double noise;               /* a guess of the deviation of a reward; 0: none */

    /* the caller's memory */
    double *means, *variances;  /* n: of what is believed of each arm */
    double *keys;               /* n: scratch */
    int64_t *line;              /* n: scratch */
    pb_ranked *ranked;          /* 2 n: scratch */
} pb_normal_means;

/* Fills means and variances, and returns the variance of a reward, above 0. O(n). */
double pb_normal_means_fit(pb_normal_means *fit, const pb_seen *seen);

#ifdef __cplusplus
}
#endif

#endif
