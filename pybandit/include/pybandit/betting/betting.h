#ifndef PYBANDIT_BETTING_H
#define PYBANDIT_BETTING_H

#include <stdint.h>

#include "pybandit/_shared/status.h"
#include "pybandit/betting/bets.h"
#include "pybandit/betting/pairs.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The race by betting: find the arm with the largest offset + total over N items. All
 * surviving arms are read on the same items. Against the hypothesis "b is best" one process
 * bets on the difference between the leader and b; b is eliminated when the wealth of this
 * process reaches the threshold. Only the process of the best arm can cause an error, so the
 * winner is wrong with probability at most 1 / threshold, at any stopping time.
 *
 * With PLUG_IN, b is compared with the first of the other arms or with the mean of the first
 * two or four, whichever promises the largest gain. If b is best, it is behind none of these.
 * The bets of all arms are scaled by the gains of earlier bets divided by their expected gains.
 */
enum { PB_BETTING_RANKED = 5 };

typedef struct {
    /* the rules */
    pb_bets bets;
    pb_items items;
    double threshold;     /* 1 / delta */
    int hybrid;           /* 1: half the wealth bets on the leader, half on all rivals; PRODUCT */
    pb_pairs *near;       /* NULL, or claims of being within a tolerance: the leader wins
                             once it has such a claim on every other survivor */
    int64_t near_slots;   /* claims start when at most this many arms survive */
    double near_error;    /* probability that any claim is false */
    int predicted;        /* 1: use pb_betting_add_predicted; PLUG_IN, N > 0, no weights */

    /* workspace, owned by the caller */
    int64_t n_arms;
    double *memory;       /* pb_betting_memory() doubles */
    double *scores;       /* n_arms: offset + sum by position among the survivors, less a
                             common term: of rewards near 1e12 only differences are exact */
    double *rewards;      /* 3 n_arms + n_bets: rewards of the item, and scratch space */
    int64_t *arms;        /* n_arms: the survivors, increasing */
    int64_t *columns;     /* n_arms: their entries in a row */
    int64_t *slots;       /* n_arms; used with `near` only */
    unsigned char *gone;  /* n_arms */

    /* progress */
    int64_t n_alive, leader, runner_up;  /* survivors; positions of the first two */
    int64_t n_ranked, ranked[PB_BETTING_RANKED];  /* PLUG_IN: positions of the first few */
    double won, promised; /* PLUG_IN: gains of all bets, discounted, and expected gains */
    int64_t n_read, n_evaluations;
    int near_begun;
    int decided;          /* 1: the leader wins, as the only survivor or by its claims */
    int64_t bad_row;      /* after PB_RANGE: index of the rejected row in the call */
} pb_betting;

/* Returns the number of doubles in `memory`. */
int64_t pb_betting_memory(const pb_bets *bets, int64_t n_arms, int hybrid);

/* Starts. The caller has set n_alive >= 1 and arm, column and score (offset) of each position. */
void pb_betting_begin(pb_betting *betting);

/*
 * Reads rows until there are none left, all N items are read, or the race is decided; see
 * n_read and n_evaluations. Returns PB_RANGE if a reward, or its difference from a reward
 * that it is compared with, is out of range or NaN; nothing of that row is used.
 */
pb_status pb_betting_add(pb_betting *betting, const double *const *rows, int64_t n_rows);

/*
 * Predicted rewards, computed before the rows of a call are read. Entries are by column, as
 * in rows of rewards. The total, highest and lowest prediction of an arm are over all items
 * that are left, these rows included.
 */
typedef struct {
    const double *const *rows;
    const double *totals, *highest, *lowest;
} pb_predictions;

/*
 * Like pb_betting_add, with predictions. They may be any function of earlier items and of facts
 * known about all items. The variance of the rewards that they explain no longer adds to the
 * variance of the differences.
 */
pb_status pb_betting_add_predicted(pb_betting *betting, const double *const *rows, int64_t n_rows,
                                   const pb_predictions *predictions);

/*
 * Removes the arms with the smallest scores until n_kept >= 1 survive, and marks them in
 * `withdrawn`. Among equal scores the arm with the largest key goes first. No bet was won
 * against these arms, so later decisions hold among the others only. O(n_alive), at worst
 * times the number of arms removed.
 */
void pb_betting_withdraw(pb_betting *betting, int64_t n_kept, const int64_t *keys,
                         unsigned char *withdrawn);

/*
 * Writes for each survivor the log of the factor by which the wealth of its bets must still
 * grow; NaN for EBMIX and hybrid bets. The race does not use it: it serves to estimate how
 * long an arm will survive.
 */
void pb_betting_missing(const pb_betting *betting, double *missing);

#ifdef __cplusplus
}
#endif

#endif
