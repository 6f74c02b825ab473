#ifndef PYBANDIT_SAMPLER_H
#define PYBANDIT_SAMPLER_H

#include <stdint.h>

#include "pybandit/_shared/bitgen.h"
#include "pybandit/_shared/status.h"
#include "pybandit/racing/factors.h"
#include "pybandit/racing/race.h"
#include "pybandit/racing/subsample.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Draws from p(i) proportional to f_0(i) prod_n f_n(i): one race a draw, on
 * Gumbel noise (Chen & Ghahramani 2016, Eq. 2 and Algorithm 1).
 *
 * In C: fill pb_factors; a pb_schedule (schedule.h); pb_sampler_memory bytes from
 * malloc; pb_sampler_init; then pb_sampler_draw as often as one likes. Between
 * draws race.factors.user_data, what it points at, log_prior and totals may change.
 * A sampler points into itself: do not copy it. It serves one thread at a time.
 */
typedef struct {
    pb_race race;             /* what a draw read stands here; its options may be set after init */
    pb_subsample subsample;
    const double *log_prior;  /* log f_0, one a state, one at least above -inf; NULL: all 0 */
    const double *totals;     /* sums of a control variate, one a state (control.h); NULL: none */
    double *offsets;          /* n_states: the log prior and this draw's noise */
    int (*grow)(pb_race *);   /* provides what the race needs (see PB_GROW) and returns 0;
                                 NULL: the draw returns PB_GROW */
    pb_status status;         /* what the latest draw returned; PB_OK during a draw */
} pb_sampler;

/*
 * Bytes with which no draw needs more: room for every row of the largest partial
 * look. Only what draws have read is ever touched, so where the system gives
 * pages on first use (malloc of large blocks) the rest costs address space only.
 * `kind` is PERMUTATION for many draws, REJECTION for few, KEYED above 2^26 factors.
 */
int64_t pb_sampler_memory(const pb_factors *factors, const pb_schedule *schedule,
                          pb_subsample_kind kind);

/*
 * A sampler in `memory`, aligned for int64_t and double: pairwise, without ranges
 * and betting. The factors and the schedule are copied, their arrays and log_prior
 * are not. O(n_factors) for PERMUTATION, O(n_factors / 32) for REJECTION.
 */
void pb_sampler_init(pb_sampler *sampler, const pb_factors *factors,
                     const pb_schedule *schedule, const double *log_prior,
                     pb_subsample_kind kind, void *memory);

/*
 * One draw: PB_OK and a state, or what pb_race_run returns and -1. A failed draw
 * leaves the sampler ready for the next. After PB_GROW pb_race_run of its race
 * goes on where it stopped.
 */
pb_status pb_sampler_draw(pb_sampler *sampler, pb_bitgen *bitgen, int64_t *state);

#ifdef __cplusplus
}
#endif

#endif
