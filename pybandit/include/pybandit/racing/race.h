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
 * Looks of a race and the bound at each. At look t the race has read rows[t] factors, and
 * a gap is significant if it exceeds scale[t] * sd + slack[t] * range. rows is increasing;
 * rows[n_looks - 1] = N, where the answer is exact.
 *
 * unit[t] is the standard error of a mean at look t per unit of sd. If `unit` is given, the
 * bound is corrected for the skewness of the differences: scale / unit is Student's
 * quantile, which is made larger or smaller, and several times larger if the skewness is
 * large. A state is then not eliminated until its difference from the reference state has, in
 * at least five rows, a value other than in the first row.
 */
typedef struct {
    int64_t n_looks;
    const int64_t *rows;
    const double *scale;
    const double *slack;
    const double *unit;       /* NULL: no correction for skewness */
} pb_schedule;

enum {
    PB_RACE_CALL_ROWS = 16384,  /* maximum number of rows requested in one call of a function */
    PB_RACE_TILE_ROWS = 64      /* rows of a matrix converted to doubles at a time */
};

/*
 * Race over a finite population (Chen & Ghahramani 2016, Algorithm 1). Finds
 * argmax_i offset_i + sum_n log f_n(i) by reading factors without replacement
 * until one state is left.
 */
typedef struct {
    /* the problem */
    pb_factors factors;
    pb_schedule schedule;
    pb_subsample *subsample;
    const double *offsets;    /* per state, added to the total; -inf if it is impossible */
    int pairwise;             /* 1: sd of differences from the leader; 0: of each state */
    const double *ranges;     /* range of each state's rewards; NULL if the bound needs none */
    double difference_range;  /* range of the difference of two states; 0: sum of their ranges */
    pb_betting *betting;      /* NULL, or a betting race that decides instead: its arms are
                                 `states`, and the schedule only sets how many rows to request
                                 at a time */

    /* workspace, owned by the caller */
    int64_t *states;          /* n_states: the surviving states, increasing */
    int64_t *kept;            /* n_states */
    double *moments_memory;   /* 7 * n_states */
    int64_t *indices;         /* rows read so far */
    int64_t indices_capacity;
    double *tile;             /* PB_RACE_TILE_ROWS * n_states; NULL for a matrix of doubles and
                                 for a function */
    double *rewards;          /* rewards of these rows from a function; unused for a matrix */
    int64_t rewards_capacity;

    /* progress */
    int64_t n_alive;
    int64_t leader;           /* position of the reference in `states` */
    pb_moments moments;
    double *low, *high, *totals;
    int64_t needed_indices;   /* after PB_GROW: the capacities to provide */
    int64_t needed_rewards;
    int64_t called_at;        /* first row of `indices` and `rewards` in the last call */
    int64_t called_rows;      /* number of rows in the last call */
    const double *refused;    /* row with a reward out of the range of the betting, or NULL */
    int64_t refused_factor;   /* its factor, if the row is of a matrix */

    /* outcome */
    int64_t winner;
    int64_t n_looks;
    int64_t n_evaluations;    /* distinct (factor, state) pairs read */
    int exact;                /* 1 if all factors of the last states were read, or none was
                                 needed; a state eliminated earlier may have been better */
} pb_race;

/* Starts a race. At least one offset must be finite. */
void pb_race_begin(pb_race *race, pb_bitgen *bitgen);

/*
 * Runs the race to the end. Returns PB_OK and sets the outcome. On PB_GROW, enlarge
 * `indices` and `rewards` to the needed capacities, keep their contents, and call again.
 * PB_NOT_FINITE, PB_RANGE and PB_CALLBACK end the race without a winner.
 */
pb_status pb_race_run(pb_race *race, pb_bitgen *bitgen);

#ifdef __cplusplus
}
#endif

#endif
