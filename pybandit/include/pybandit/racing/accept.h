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
 * Sequential test of whether the sum of N log ratios d_n exceeds a threshold, as used by
 * Metropolis-Hastings and slice sampling (Chen & Ghahramani 2016, Sec. 4). It reads
 * the d_n without replacement and stops at the first look that decides. Equivalent to a
 * race of two states, one of which has only rewards 0; the gap is the mean of d.
 */
typedef struct {
    /* the problem */
    pb_factors factors;      /* n_states = 1 */
    pb_schedule schedule;
    pb_subsample *subsample;
    double range;            /* largest minus smallest d; 0 if the bound does not use it */
    const double *total;     /* sum of the control variate (control.h) that was subtracted from
                                the d; NULL if there is none */
    pb_threshold *betting;   /* NULL, or a betting test that decides instead: one arm, N items,
                                its memory set; the schedule then only sets how many d to
                                request at a time */

    /* workspace, owned by the caller */
    int64_t block;           /* length of indices and of ratios, at least 1 */
    int64_t *indices;
    double *ratios;

    /* outcome */
    pb_status status;        /* status of the latest run; PB_OK (0) before the first */
    int accepted;
    int exact;               /* 1 if all d were read or none was needed */
    int64_t n_looks;
    int64_t n_evaluations;

    pb_column column;        /* statistics of the d read so far */
    int64_t bad_factor;      /* after PB_NOT_FINITE, or PB_RANGE with betting: index of the
                                invalid d; -1 if all d are finite and only a square is not */
    double bad_ratio;        /* its value */
} pb_accept;

/* Returns the bytes that pb_accept_init needs: the order and one block of log ratios. */
int64_t pb_accept_memory(const pb_factors *factors, pb_subsample_kind kind);

/*
 * Sets up a test in `memory`, which must be aligned for int64_t and double. range, total and
 * betting are 0 or NULL and may be set afterwards. `factors` has one state; `schedule` is one
 * for two states with the two-sided convention. Both are copied, but not their arrays.
 * Choose `kind` as for pb_sampler_init.
 */
void pb_accept_init(pb_accept *accept, const pb_factors *factors, const pb_schedule *schedule,
                    pb_subsample_kind kind, void *memory);

/*
 * Tests whether sum_n d_n + total > log_threshold; a tie is rejected. log_threshold must not
 * be NaN. Returns PB_OK and sets the outcome, or returns PB_NOT_FINITE, PB_RANGE or
 * PB_CALLBACK. O(T) for T ratios read; allocates no memory.
 */
pb_status pb_accept_run(pb_accept *accept, double log_threshold, pb_bitgen *bitgen);

/*
 * Like pb_accept_run, for callers that cannot access the struct's fields. Writes whether the test
 * accepted (1 or 0) and how many d it read. After a failure, accepted is 0.
 */
pb_status pb_accept_decide(pb_accept *accept, double log_threshold, pb_bitgen *bitgen,
                           int64_t *accepted, int64_t *n_evaluations);

#ifdef __cplusplus
}
#endif

#endif
