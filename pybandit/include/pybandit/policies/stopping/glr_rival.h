#ifndef PYBANDIT_GLR_RIVAL_H
#define PYBANDIT_GLR_RIVAL_H

#include <stdint.h>

#include "pybandit/policies/stopping/glr.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The strongest rival of an arm, for Gaussian rewards of known variance and Bernoulli rewards. */
typedef struct {
    int64_t n;
    /* n each, owned by the caller */
    const double *means;   /* -INFINITY: the arm is left out */
    const double *counts;  /* numbers of rewards, at least 1 */
    const double *extra;   /* added to the arm's statistic; or NULL */
    double *memory;        /* scratch */
} pb_glr_rivals;

/*
 * Returns the arm b other than `best` of the least pb_glr_statistic(best, b) + extra[b], ties to
 * the lowest index; `best` if all are infinite or left out. O(n): one division or two per arm, and
 * with Bernoulli rewards the statistic of those arms that a lower bound (Pinsker's inequality)
 * does not exclude.
 */
int64_t pb_glr_rival(const pb_glr *glr, const pb_glr_rivals *arms, int64_t best);

#ifdef __cplusplus
}
#endif

#endif
