#ifndef PYBANDIT_TOP_K_H
#define PYBANDIT_TOP_K_H

#include <stdint.h>

#include "pybandit/_shared/status.h"
#include "pybandit/betting/pairs.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The k arms of the largest totals over N items by pairwise claims: an arm is
 * rejected when k arms beat it, accepted when it beats n_arms - k. A wrong set
 * takes a false claim of one of k (n_arms - k) pairs, so with the threshold
 * k (n_arms - k) / delta its chance is at most delta.
 */
typedef struct {
    /* the rules */
    int64_t n_arms, k;      /* 1 <= k < n_arms */
    pb_pairs beats;         /* slots are arms, slack 0 */
    pb_pairs near;          /* slack: the tolerance; memory NULL: none */

    /* workspace, the caller's */
    int64_t *verdicts;      /* n_arms: 1 among the k best, -1 not, 0 open */
    int64_t *arms;          /* n_arms: the open ones, increasing */
    int64_t *columns;       /* n_arms: their entries in a row */
    double *sums;           /* n_arms: by position among the open, less what is common */
    double *rewards;        /* n_arms */
    unsigned char *inside;  /* n_arms */

    /* progress */
    int64_t n_open, n_accepted, n_rejected, n_read, n_evaluations;
    int decided;
    int64_t bad_row;        /* after PB_RANGE: the row of the call that was refused */
} pb_top_k;

/* Begins with all arms open; the caller has set their columns. */
void pb_top_k_begin(pb_top_k *top);

/* Reads rows until they end, all N are read or the k are decided, as pb_betting_add does. */
pb_status pb_top_k_add(pb_top_k *top, const double *const *rows, int64_t n_rows);

/*
 * Rejects the open arms of the smallest sums, of equal ones that of the largest key,
 * until n_kept are open, at least as many as places, and marks them: they lost no
 * claim, so that what is decided afterwards holds among the others only.
 */
void pb_top_k_withdraw(pb_top_k *top, int64_t n_kept, const int64_t *keys,
                       unsigned char *withdrawn);

/* The arms that would win now: the accepted and the largest sums; n_arms flags. */
void pb_top_k_leaders(const pb_top_k *top, unsigned char *flags);

#ifdef __cplusplus
}
#endif

#endif
