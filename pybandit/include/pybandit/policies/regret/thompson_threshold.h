#ifndef PYBANDIT_THOMPSON_THRESHOLD_H
#define PYBANDIT_THOMPSON_THRESHOLD_H

#include "pybandit/policies/regret/thompson.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Places the threshold where a choice draws the fewest thetas; at least one arm must have one.
 * pb_thompson_choose calls this once more thetas were drawn than a new placement costs. At most
 * 50 steps of O(n_arms), and up to 4 evaluations of all posteriors.
 */
void pb_thompson_threshold_refresh(pb_thompson *thompson);

#ifdef __cplusplus
}
#endif

#endif
