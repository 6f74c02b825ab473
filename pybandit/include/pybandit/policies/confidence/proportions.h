#ifndef PYBANDIT_PROPORTIONS_H
#define PYBANDIT_PROPORTIONS_H

#include <stdint.h>

#include "pybandit/policies/stopping/glr.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The shares of pulls that tell the best arm from the others soonest: the w, at least 0 and of
 * sum 1, of the largest least Z(best, b) with N = w (Garivier and Kaufmann 2016, theorem 5).
 * Where several means are the largest, equal shares of these; where a share cannot be told
 * from 0, it is 0. epsilon counts nothing.
 *
 * Returns 1 / T, the largest least Z; 0 where two means tie, or n_arms is 1.
 * O(n_arms) a step of Newton's, some ten of them. n_arms >= 1; no two arrays overlap.
 */
double pb_proportions(const pb_glr *glr, const double *means, int64_t n_arms, double *shares);

#ifdef __cplusplus
}
#endif

#endif
