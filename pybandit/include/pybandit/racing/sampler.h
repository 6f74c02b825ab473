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
 * Sampler of p(i) proportional to f_0(i) prod_n f_n(i). Each draw is a race with Gumbel
 * noise in the offsets (Chen & Ghahramani 2016, Eq. 2 and Algorithm 1).
 *
 * In C: fill a pb_factors; make a pb_schedule (schedule.h); allocate pb_sampler_memory
 * bytes; call pb_sampler_init once and pb_sampler_draw for each draw. Between draws you
 * may change race.factors.user_data, the data it points to, log_prior and totals. Do not
 * copy a sampler: it contains pointers into itself. Use it in one thread at a time.
 */
typedef struct {
    pb_race race;             /* results of the latest draw; options may be set after init */
    pb_subsample subsample;
    const double *log_prior;  /* log f_0 per state, not all -inf; NULL: all 0 */
    const double *totals;     /* per state, sum of a control variate (control.h); NULL: none */
    double *offsets;          /* n_states: log prior, totals and the noise of this draw */
    int (*grow)(pb_race *);   /* enlarges the memory of the race (see PB_GROW) and returns 0;
                                 NULL: the draw returns PB_GROW */
    pb_status status;         /* status of the latest draw; PB_OK during a draw */
} pb_sampler;

/*
 * Returns the bytes that suffice for every draw: room for each row of the largest look
 * that does not read all factors. Draws touch only the rows that they read, so if the
 * system commits pages on first use, as malloc does for large blocks, the rest costs only
 * address space. Use PERMUTATION for many draws, REJECTION for few, and KEYED above
 * 2^26 factors.
 */
int64_t pb_sampler_memory(const pb_factors *factors, const pb_schedule *schedule,
                          pb_subsample_kind kind);

/*
 * Sets up a sampler in `memory`, which must be aligned for int64_t and double. Its race is
 * pairwise, without ranges and betting. The factors and the schedule are copied, but not
 * their arrays or log_prior. O(n_factors) for PERMUTATION, O(n_factors / 32) for REJECTION.
 */
void pb_sampler_init(pb_sampler *sampler, const pb_factors *factors,
                     const pb_schedule *schedule, const double *log_prior,
                     pb_subsample_kind kind, void *memory);

/*
 * Draws a state. Returns PB_OK; on failure, returns the status of pb_race_run and writes
 * -1. A failed draw leaves the sampler ready for the next one. After PB_GROW, pb_race_run
 * on its race continues the draw.
 */
pb_status pb_sampler_draw(pb_sampler *sampler, pb_bitgen *bitgen, int64_t *state);

#ifdef __cplusplus
}
#endif

#endif
