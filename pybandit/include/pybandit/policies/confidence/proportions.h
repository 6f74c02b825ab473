#ifndef PYBANDIT_PROPORTIONS_H
#define PYBANDIT_PROPORTIONS_H

#include <stdint.h>

#include "pybandit/policies/stopping/glr.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Computes the optimal shares of pulls (Garivier and Kaufmann 2016, theorem 5): the w >= 0 of
 * sum 1 that maximise the least Z(best, b) over arms b, with N = w. epsilon is ignored. If
 * several means are the largest, these arms get equal shares and the others 0. A share that
 * cannot be distinguished from 0 is 0.
 *
 * Returns 1 / T, the maximised least Z; 0 if two means tie or n_arms is 1.
 * About ten Newton steps, O(n_arms) each. n_arms >= 1; arrays must not overlap.
 */
double pb_proportions(const pb_glr *glr, const double *means, int64_t n_arms, double *shares);

#ifdef __cplusplus
}
#endif

#endif
