#ifndef PYBANDIT_THRESHOLD_H
#define PYBANDIT_THRESHOLD_H

#include <stdint.h>

#include "pybandit/_shared/status.h"
#include "pybandit/betting/bets.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Which arms have a mean above tau: for each arm two processes, against "mean <=
 * tau - slack" and "mean >= tau + slack". Only one of them can be true (both where
 * the mean is tau, and then either answer is right), so with the threshold
 * n_arms / delta the chance of any wrong verdict is at most delta.
 */
typedef struct {
    /* the rules */
    pb_bets bets;
    pb_items items;        /* low and high finite; range unused */
    double tau, slack;
    double threshold;

    /* workspace, the caller's */
    int64_t n_arms;
    double *memory;        /* 2 n_arms pb_bets_memory */
    int64_t *verdicts;     /* n_arms: 1 above, -1 below, 0 open */
    int64_t *arms;         /* n_arms: the open ones, increasing */
    int64_t *columns;      /* n_arms: their entries in a row */
    double *sums;          /* n_arms: by position among the open, of what is above tau */

    /* progress */
    int64_t n_open, n_read, n_evaluations;
    int decided;
    int64_t bad_row;       /* after PB_RANGE: the row of the call that was refused */
} pb_threshold;

/* Begins with all arms open; the caller has set their columns. */
void pb_threshold_begin(pb_threshold *t);

/* Reads rows until they end, all N are read or no arm is open, as pb_betting_add does. */
pb_status pb_threshold_add(pb_threshold *t, const double *const *rows, int64_t n_rows);

#ifdef __cplusplus
}
#endif

#endif
