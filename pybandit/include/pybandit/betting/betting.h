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
 * The race by betting: which arm has the largest offset + total over N items,
 * all alive arms read on the same items. Against "b is best" one process bets on
 * the difference of the leader and b; b is dropped when its capital reaches the
 * threshold. Only the best arm's own process can err, so the chance of a wrong
 * winner is at most 1 / threshold, whenever one looks.
 *
 * PLUG_IN: the rival is the first of the others, or the mean of the first two or four,
 * whichever promises most; of none of them b is behind if it is best. Bets of all arms
 * are scaled by what earlier ones won over what they should have won.
 */
enum { PB_BETTING_RANKED = 5 };

typedef struct {
    /* the rules */
    pb_bets bets;
    pb_items items;
    double threshold;     /* 1 / delta */
    int hybrid;           /* half the capital on the leader, half on every rival; PRODUCT only */
    pb_pairs *near;       /* NULL, or claims of being within a tolerance: once the leader has
                             them against all the alive, it wins */
    int64_t near_slots;   /* they begin when no more arms than this are alive */
    double near_error;    /* the chance that any of them is false */
    int predicted;        /* PLUG_IN, finite, no weights: items come with pb_betting_add_predicted */

    /* workspace, the caller's */
    int64_t n_arms;
    double *memory;       /* pb_betting_memory */
    double *scores;       /* n_arms: by position among the alive, offset + sum, less what is
                             common to all: of rewards of 1e12 only differences are exact */
    double *rewards;      /* 3 n_arms + n_bets: of the item, and what the bets need */
    int64_t *arms;        /* n_arms: the alive ones, increasing */
    int64_t *columns;     /* n_arms: their entries in a row */
    int64_t *slots;       /* n_arms; used with `near` only */
    unsigned char *gone;  /* n_arms */

    /* progress */
    int64_t n_alive, leader, runner_up;  /* positions */
    int64_t n_ranked, ranked[PB_BETTING_RANKED];  /* PLUG_IN: positions of the first few */
    double won, promised; /* PLUG_IN: by all bets, what is longer ago counting less */
    int64_t n_read, n_evaluations;
    int near_begun;
    int decided;          /* the leader wins: it is alone or near enough */
    int64_t bad_row;      /* after PB_RANGE: the row of the call that was refused */
} pb_betting;

/* Doubles of `memory`. */
int64_t pb_betting_memory(const pb_bets *bets, int64_t n_arms, int hybrid);

/* Begins; the caller has set n_alive >= 1 and for each its arm, column and score (offset). */
void pb_betting_begin(pb_betting *betting);

/*
 * Reads rows until they end, all N are read or the race is decided; n_read and
 * n_evaluations tell how far it came. PB_RANGE: a reward, or its difference from
 * one that it is bet against, is out of range or not a number; nothing of that row
 * was used.
 */
pb_status pb_betting_add(pb_betting *betting, const double *const *rows, int64_t n_rows);

/*
 * Predictions of rewards, made before the rows of a call are read: entries by column, as
 * those of rewards. Of all items that are left, these rows included, their total, highest
 * and lowest.
 */
typedef struct {
    const double *const *rows;
    const double *totals, *highest, *lowest;
} pb_predictions;

/*
 * The same with predictions, which may be anything that is made of earlier items and of
 * what is known of all: what they explain of the rewards no longer blurs the differences.
 */
pb_status pb_betting_add_predicted(pb_betting *betting, const double *const *rows, int64_t n_rows,
                                   const pb_predictions *predictions);

/*
 * Takes out the arms of the smallest scores, of equal ones that of the largest key,
 * until n_kept >= 1 are alive, and marks them: no bet was won against them, so that
 * what is decided afterwards holds among the others only. O(n_alive), and at worst the
 * square of how many leave.
 */
void pb_betting_withdraw(pb_betting *betting, int64_t n_kept, const int64_t *keys,
                         unsigned char *withdrawn);

/*
 * Of each arm that is alive, the logarithm of what its bets still have to win; NaN where
 * they are EBMIX or hybrid. No part of the race: by it one guesses how long an arm stays.
 */
void pb_betting_missing(const pb_betting *betting, double *missing);

#ifdef __cplusplus
}
#endif

#endif
