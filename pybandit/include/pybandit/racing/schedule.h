#ifndef PYBANDIT_SCHEDULE_H
#define PYBANDIT_SCHEDULE_H

#include <stdint.h>

#include "pybandit/_shared/status.h"
#include "pybandit/racing/b_normal.h"
#include "pybandit/racing/race.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Looks of a race over N = n_factors factors. The first is at first_look factors; the number
 * then doubles up to max_fraction of N, and the last look is at N. Requires n_factors >= 1,
 * first_look >= 2 (a standard deviation needs two values) and 0 < max_fraction <= 1. These
 * are not checked.
 */

/* Returns the number of bytes that this schedule's arrays need, at most 1536. */
int64_t pb_schedule_memory(int64_t n_factors, int64_t first_look, double max_fraction);

/*
 * Computes the schedule of the normal bound (Chen & Ghahramani 2016, Eq. 9) for a pairwise
 * race of n_states states with error probability delta, as Python's NormalBound does. `memory` must
 * be aligned for int64_t and double and outlive the schedule; several races may share it.
 * Returns PB_NO_SOLUTION unless 0 < delta / (n_states - 1) < 1/2.
 */
pb_status pb_schedule_normal(double delta, pb_convention convention, int64_t n_factors,
                             int64_t n_states, int64_t first_look, double max_fraction,
                             void *memory, pb_schedule *schedule);

#ifdef __cplusplus
}
#endif

#endif
