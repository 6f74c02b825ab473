#ifndef PYBANDIT_THOMPSON_THRESHOLD_H
#define PYBANDIT_THOMPSON_THRESHOLD_H

#include "pybandit/policies/regret/thompson.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Places the threshold where a choice draws the fewest thetas; at least one arm has one.
 * pb_thompson_choose calls it where more thetas were drawn than a new place costs. O(n_arms)
 * for each of at most 50 steps, and up to 4 evaluations of the posteriors.
 */
void pb_thompson_threshold_refresh(pb_thompson *thompson);

#ifdef __cplusplus
}
#endif

#endif
