#ifndef PYBANDIT_TOP_K_H
#define PYBANDIT_TOP_K_H

#include <stdint.h>

#include "pybandit/_shared/status.h"
#include "pybandit/betting/pairs.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Finds the k arms with the largest totals over N items by pairwise claims: an arm is rejected
 * when k arms beat it, and accepted when it beats n_arms - k arms. The answer is wrong only if
 * one of k (n_arms - k) pairs makes a false claim, so with the threshold k (n_arms - k) / delta
 * its error probability is at most delta.
 */
typedef struct {
    /* the rules */
    int64_t n_arms, k;      /* 1 <= k < n_arms */
    pb_pairs beats;         /* slots are arm numbers; slack 0 */
    pb_pairs near;          /* slack: the tolerance; memory NULL if there is none */

    /* workspace, owned by the caller */
    int64_t *verdicts;      /* n_arms: 1 accepted, -1 rejected, 0 undecided */
    int64_t *arms;          /* n_arms: the undecided ones, increasing */
    int64_t *columns;       /* n_arms: their entries in a row */
    double *sums;           /* n_arms: by position among the undecided, less a common term */
    double *rewards;        /* n_arms */
    unsigned char *inside;  /* n_arms */

    /* progress */
    int64_t n_open, n_accepted, n_rejected, n_read, n_evaluations;
    int decided;
    int64_t bad_row;        /* after PB_RANGE: index of the rejected row in the call */
} pb_top_k;

/* Starts with all arms undecided; the caller has set their columns. */
void pb_top_k_begin(pb_top_k *top);

/* Reads rows as pb_betting_add does; also ends when the k arms are decided. */
pb_status pb_top_k_add(pb_top_k *top, const double *const *rows, int64_t n_rows);

/*
 * Rejects the undecided arms with the smallest sums until n_kept are undecided, and marks them
 * in `withdrawn`. Among equal sums the arm with the largest key goes first. n_kept must be at
 * least k minus the accepted arms. The rejection rests on no claim, so later decisions hold
 * among the other arms only.
 */
void pb_top_k_withdraw(pb_top_k *top, int64_t n_kept, const int64_t *keys,
                       unsigned char *withdrawn);

/* Sets n_arms flags: 1 for the accepted arms and for the largest sums that complete the k. */
void pb_top_k_leaders(const pb_top_k *top, unsigned char *flags);

#ifdef __cplusplus
}
#endif

#endif
