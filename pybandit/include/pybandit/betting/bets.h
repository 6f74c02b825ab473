#ifndef PYBANDIT_BETS_H
#define PYBANDIT_BETS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * How a hypothesis is bet against. It says that x in [0, 1] has conditional mean
 * at most m; a bet gains where x is above m, and its capital is at most one in
 * expectation as long as the hypothesis is true.
 *
 * PRODUCT: the mean over g of prod (1 + min(lambda_g w, 0.9 / m) (x - m)), w the
 * population over what is left of it. EBMIX: the mean over g of
 * exp(lambda_g sum (x - m) - psi_g sum (x - mu)^2), mu the mean of what came
 * before; psi(lambda) = -log(1 - lambda) - lambda, lambda below 1.
 *
 * PLUG_IN, between arms only: one bet, set anew before every item. With D and Q the sums
 * of the differences so far and of their squares, in units of the range, it is
 * (1 + D)+ w / (5 + Q) of a difference, at most 0.9 of what the worst one could lose;
 * as 20 items of mean .05 and mean square .25 had come before.
 */
typedef enum { PB_MIX_PRODUCT, PB_MIX_EBMIX, PB_MIX_PLUG_IN } pb_mixture;

typedef struct {
    pb_mixture mixture;
    int64_t n_bets;        /* a multiple of 4, at most PB_MOST_BETS; PLUG_IN: 1 */
    const double *bets;    /* lambda_g, increasing; not for PLUG_IN */
    const double *shares;  /* of the first capital: they sum to 1; 0 where a bet only pads */
    const double *psi;     /* EBMIX only */
} pb_bets;

enum { PB_MOST_BETS = 64 };

/* What is raced on: N items, rewards of known range. Shared by the races by betting. */
typedef struct {
    int64_t n_items;   /* N, read without replacement; 0: independent items without end */
    double low, high;  /* every reward lies there; may be infinite */
    double range;      /* the difference of two rewards of an item lies in [-range, range] */
    /*
     * NULL: all items count the same. Else n_items + 1 numbers, the caller's: what the
     * items from the t-th on weigh, in the order of reading, from n_items down to 0. Totals
     * are then weighted; each item is drawn with a probability in proportion to its weight
     * from those that are left. Races between arms only.
     */
    const double *left;
} pb_items;

/* What is left before the item with index n_read, and what this one weighs. */
static inline double pb_items_left(const pb_items *items, int64_t n_read)
{
    return items->left ? items->left[n_read] : (double)(items->n_items - n_read);
}

static inline double pb_items_weight(const pb_items *items, int64_t n_read)
{
    return items->left ? items->left[n_read] - items->left[n_read + 1] : 1.0;
}

/* Whether the rewards row[columns[i]] of n arms may be used: each, and any two of them. */
static inline int pb_items_allow(const pb_items *items, const double *row,
                                 const int64_t *columns, int64_t n)
{
    double least = row[columns[0]], largest = least;
    int good = 1;
    for (int64_t i = 0; i < n; i++) {
        const double reward = row[columns[i]];
        good &= (reward >= items->low) & (reward <= items->high);
        least = reward < least ? reward : least;
        largest = reward > largest ? reward : largest;
    }
    /* the last bit of a difference is rounding */
    return good && largest - least <= items->range * (1.0 + 1e-12);
}

/* Doubles that one process keeps. */
static inline int64_t pb_bets_memory(const pb_bets *bets)
{
    return bets->mixture == PB_MIX_PRODUCT ? bets->n_bets + 4 : 8;
}

#ifdef __cplusplus
}
#endif

#endif
