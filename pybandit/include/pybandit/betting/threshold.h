#ifndef PYBANDIT_THRESHOLD_H
#define PYBANDIT_THRESHOLD_H

#include <stdint.h>

#include "pybandit/_shared/status.h"
#include "pybandit/betting/bets.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Finds the arms whose mean is above tau. Each arm has two processes of bets, against "mean <=
 * tau - slack" and "mean >= tau + slack". At most one of these is true, except for a mean equal
 * to tau with slack 0, for which either verdict is right. With the threshold n_arms / delta the
 * probability of any wrong verdict is at most delta.
 */
typedef struct {
    /* the rules */
    pb_bets bets;
    pb_items items;        /* low and high finite; range unused */
    double tau, slack;
    double threshold;

    /* workspace, owned by the caller */
    int64_t n_arms;
    double *memory;        /* 2 n_arms pb_bets_memory() */
    int64_t *verdicts;     /* n_arms: 1 above, -1 below, 0 undecided */
    int64_t *arms;         /* n_arms: the undecided ones, increasing */
    int64_t *columns;      /* n_arms: their entries in a row */
    double *sums;          /* n_arms: sums of reward - tau, by position among the undecided */

    /* progress */
    int64_t n_open, n_read, n_evaluations;
    int decided;
    int64_t bad_row;       /* after PB_RANGE: index of the rejected row in the call */
} pb_threshold;

/* Starts with all arms undecided; the caller has set their columns. */
void pb_threshold_begin(pb_threshold *t);

/* Reads rows as pb_betting_add does; also ends when no arm is undecided. */
pb_status pb_threshold_add(pb_threshold *t, const double *const *rows, int64_t n_rows);

#ifdef __cplusplus
}
#endif

#endif
