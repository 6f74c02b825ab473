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
 * The looks of a race over N factors: first_look of them, twice that, and so on
 * up to max_fraction of N, then N. Assumed, not checked: n_factors >= 1,
 * first_look >= 2 (a deviation is estimated there), 0 < max_fraction <= 1.
 */

/* Bytes that the arrays of this schedule take; at most 1536. */
int64_t pb_schedule_memory(int64_t n_factors, int64_t first_look, double max_fraction);

/*
 * The normal bound of Chen & Ghahramani 2016, Eq. 9, for a pairwise race of
 * n_states that errs with probability delta: the NormalBound of Python. `memory`
 * is aligned for int64_t and double and lives as long as the schedule; several
 * races may share it. PB_NO_SOLUTION unless 0 < delta / (n_states - 1) < 1/2.
 */
pb_status pb_schedule_normal(double delta, pb_convention convention, int64_t n_factors,
                             int64_t n_states, int64_t first_look, double max_fraction,
                             void *memory, pb_schedule *schedule);

#ifdef __cplusplus
}
#endif

#endif
