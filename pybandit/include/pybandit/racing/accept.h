#ifndef PYBANDIT_ACCEPT_H
#define PYBANDIT_ACCEPT_H

#include <stdint.h>

#include "pybandit/_shared/bitgen.h"
#include "pybandit/_shared/status.h"
#include "pybandit/betting/threshold.h"
#include "pybandit/racing/column.h"
#include "pybandit/racing/factors.h"
#include "pybandit/racing/race.h"
#include "pybandit/racing/subsample.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Whether N log ratios d_n sum to more than a threshold, read without replacement
 * in looks until it is clear (Chen & Ghahramani 2016, Sec. 3.3): the
 * Metropolis-Hastings test, and the slice test. A race of two states of which one
 * has rewards 0; its gap is the mean of d.
 */
typedef struct {
    /* the problem */
    pb_factors factors;      /* n_states = 1 */
    pb_schedule schedule;
    pb_subsample *subsample;
    double range;            /* the largest d minus the smallest; 0: the bound needs none */
    const double *total;     /* the sum of a control variate (control.h), which the d lack; NULL:
                                there is none */
    pb_threshold *betting;   /* NULL, or bets decide: one arm of N items, its memory set;
                                the schedule tells only how many d to ask for at a time */

    /* workspace, the caller's */
    int64_t block;           /* entries of the next two, at least 1 */
    int64_t *indices;
    double *ratios;

    /* outcome */
    pb_status status;        /* what the latest run returned; PB_OK, 0, before the first */
    int accepted;
    int exact;               /* everything was read, or nothing had to be */
    int64_t n_looks;
    int64_t n_evaluations;

    pb_column column;        /* what was read */
    int64_t bad_factor;      /* after PB_NOT_FINITE, or PB_RANGE of bets: which d and what */
    double bad_ratio;        /* it was; -1 where only its square is not finite */
} pb_accept;

/* Bytes of memory of a test without bets: for one call of a function, or a gathered block. */
int64_t pb_accept_memory(const pb_factors *factors, pb_subsample_kind kind);

/*
 * A test in `memory`, aligned for int64_t and double: without a range, a total and bets, which
 * may be set afterwards. The factors, of one state, and the schedule, of two states and the
 * two-sided convention, are copied, their arrays are not. `kind` as of pb_sampler_init.
 */
void pb_accept_init(pb_accept *accept, const pb_factors *factors, const pb_schedule *schedule,
                    pb_subsample_kind kind, void *memory);

/*
 * Tests sum_n d_n + total > log_threshold, which is not NaN; a tie is rejected. PB_OK and the
 * outcome, or PB_NOT_FINITE, PB_RANGE, PB_CALLBACK. O(T) for T ratios read, no memory.
 */
pb_status pb_accept_run(pb_accept *accept, double log_threshold, pb_bitgen *bitgen);

/*
 * The same for those who do not see into the struct: whether it accepted, 1 or 0, and how many
 * d it read; both are written where it fails too, as 0 and what was read.
 */
pb_status pb_accept_decide(pb_accept *accept, double log_threshold, pb_bitgen *bitgen,
                           int64_t *accepted, int64_t *n_evaluations);

#ifdef __cplusplus
}
#endif

#endif
