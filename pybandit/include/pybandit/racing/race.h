#ifndef PYBANDIT_RACE_H
#define PYBANDIT_RACE_H

#include <stdint.h>

#include "pybandit/_shared/bitgen.h"
#include "pybandit/_shared/status.h"
#include "pybandit/betting/betting.h"
#include "pybandit/racing/factors.h"
#include "pybandit/racing/moments.h"
#include "pybandit/racing/subsample.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * When the race looks and how wide its bound is there: at look t it has read
 * rows[t] factors and a gap must exceed scale[t] * sd + slack[t] * range.
 * Increasing; rows[n_looks - 1] = N, where the answer is exact.
 *
 * With `unit`, the standard error of a mean at each look where sd is 1, the differences'
 * skewness counts: scale / unit is Student's quantile, which is made larger or smaller
 * by it, several times where it is large; and a look waits where nothing but the first
 * difference was seen, or other ones in fewer than five rows.
 */
typedef struct {
    int64_t n_looks;
    const int64_t *rows;
    const double *scale;
    const double *slack;
    const double *unit;       /* NULL: skewness does not count */
} pb_schedule;

/* Rows that a race asks of a factor function in one call, at most. */
enum { PB_RACE_CALL_ROWS = 16384 };

/*
 * Racing over a finite population (Chen & Ghahramani 2016, Algorithm 1):
 * argmax_i offset_i + sum_n log f_n(i), reading factors without replacement
 * until one state is left.
 */
typedef struct {
    /* the problem */
    pb_factors factors;
    pb_schedule schedule;
    pb_subsample *subsample;
    const double *offsets;    /* one a state, on the scale of the total; -inf: impossible */
    int pairwise;             /* sd of differences from the leader, else of each state */
    const double *ranges;     /* the range of each state's rewards; NULL: the bound needs none */
    double difference_range;  /* the range of differences of two states; 0: the sum of theirs */
    pb_betting *betting;      /* NULL, or the race is by betting: its arms are `states`, the
                                 schedule tells only how many rows to ask for at a time */

    /* workspace, the caller's */
    int64_t *states;          /* n_states: the alive ones, increasing */
    int64_t *kept;            /* n_states */
    double *moments_memory;   /* 7 * n_states */
    int64_t *indices;         /* the rows read so far */
    int64_t indices_capacity;
    double *rewards;          /* what a function returned for them; unused for a matrix */
    int64_t rewards_capacity;

    /* progress */
    int64_t n_alive;
    int64_t leader;           /* position of the reference among the alive */
    pb_moments moments;
    double *low, *high, *totals;
    int64_t needed_indices;   /* after PB_GROW: the capacities to provide */
    int64_t needed_rewards;
    int64_t called_at;        /* the rows of `indices` and `rewards` that the */
    int64_t called_rows;      /* function filled last */
    const double *refused;    /* the row in which the betting met a reward out of range */

    /* outcome */
    int64_t winner;
    int64_t n_looks;
    int64_t n_evaluations;    /* distinct (factor, state) pairs read */
    int exact;                /* all factors of the last states were read, or nothing had to be;
                                 states dropped before may have been better */
} pb_race;

/* Begins a race; at least one offset is finite. */
void pb_race_begin(pb_race *race, pb_bitgen *bitgen);

/*
 * Runs to the end: PB_OK and the outcome. PB_GROW: enlarge `indices` and
 * `rewards` to what is needed, keeping their content, and call again.
 * PB_NOT_FINITE, PB_RANGE and PB_CALLBACK end the race without a winner.
 */
pb_status pb_race_run(pb_race *race, pb_bitgen *bitgen);

#ifdef __cplusplus
}
#endif

#endif
