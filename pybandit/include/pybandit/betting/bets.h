#ifndef PYBANDIT_BETS_H
#define PYBANDIT_BETS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Kinds of bets against the hypothesis that x in [0, 1] has conditional mean at most m.
 * A bet gains if x is above m. If the hypothesis is true, the expected wealth is at most 1.
 *
 * - PRODUCT: the wealth is the mean over g of prod (1 + min(lambda_g w, 0.9 / m) (x - m)),
 *   where w = N / (items left), or 1 for an endless stream.
 * - EBMIX: the mean over g of exp(lambda_g sum (x - m) - psi_g sum (x - mu)^2), where mu is
 *   the mean of 1/2 and the earlier x, psi(lambda) = -log(1 - lambda) - lambda, and lambda < 1.
 * - PLUG_IN, for races between arms only: one bet, recomputed before every item. Let D be the
 *   sum of the differences so far and Q the sum of their squares, in units of the range. The
 *   stake is max(0, 1 + D) w / (5 + Q), as if 20 items of mean .05 and mean square .25 had
 *   been read before. It is capped so that no difference costs more than 0.9 of the wealth.
 */
typedef enum { PB_MIX_PRODUCT, PB_MIX_EBMIX, PB_MIX_PLUG_IN } pb_mixture;

typedef struct {
    pb_mixture mixture;
    int64_t n_bets;        /* a multiple of 4, at most PB_MOST_BETS; 1 for PLUG_IN */
    const double *bets;    /* lambda_g, increasing; unused by PLUG_IN */
    const double *shares;  /* initial wealth of each bet; they sum to 1; 0 for padding */
    const double *psi;     /* EBMIX only */
} pb_bets;

enum { PB_MOST_BETS = 64 };

/* The items of a race and the range of their rewards; used by all races by betting. */
typedef struct {
    int64_t n_items;   /* N, read without replacement; 0: an endless stream, independent */
    double low, high;  /* limits of every reward; may be infinite */
    double range;      /* the difference of two rewards of an item lies in [-range, range] */
    /*
     * NULL if all items have the same weight. Otherwise n_items + 1 numbers, owned by the
     * caller: left[t] is the weight of the items from number t on, in reading order. It falls
     * from n_items to 0. Totals are then weighted, and each item is drawn from those left with
     * probability proportional to its weight. For races between arms only.
     */
    const double *left;
} pb_items;

/* Returns the weight of the items left before item number n_read, this one included. */
static inline double pb_items_left(const pb_items *items, int64_t n_read)
{
    return items->left ? items->left[n_read] : (double)(items->n_items - n_read);
}

/* Returns the weight of item number n_read. */
static inline double pb_items_weight(const pb_items *items, int64_t n_read)
{
    return items->left ? items->left[n_read] - items->left[n_read + 1] : 1.0;
}

/* Returns 1 if the rewards row[columns[i]] of n arms are valid: each is in [low, high], and no
   two differ by more than the range. */
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
    /* tolerates rounding of the difference */
    return good && largest - least <= items->range * (1.0 + 1e-12);
}

/* Returns the number of doubles that one process of bets keeps. */
static inline int64_t pb_bets_memory(const pb_bets *bets)
{
    return bets->mixture == PB_MIX_PRODUCT ? bets->n_bets + 4 : 8;
}

#ifdef __cplusplus
}
#endif

#endif
