#ifndef WEALTH_H
#define WEALTH_H

/*
 * The wealth of one process of bets (pybandit/betting/bets.h). Private to csrc.
 *
 * A product stores the wealth of each bet, then the limit for their sum, the number of shifts
 * and the threshold. If the hypothesis is true, the wealth of all bets falls. Every REST items,
 * if the largest one has become small, all are multiplied by a power of two, and so is the
 * limit. Only bets far below the largest are set to 0. That is valid, because wealth may be
 * discarded, and avoids denormals, which are ten times slower. A plug-in bet is stored as a
 * product of one bet, followed by the sum of squares.
 */
#include "pybandit/betting/bets.h"

#include <math.h>
#include <stdint.h>

#include "../_shared/wide.h"

enum {
    REST = 64,        /* items between two rescalings; wealth falls at most to 2^-213 of itself */
    SHIFT = 400,      /* binary exponent of one rescaling */
    PLUGGED = -1,     /* in place of a number of vectors: PLUG_IN */
    PREDICTED = -2,   /* PLUG_IN with predictions */
};

/* The hypothesis is impossible if m < -TINY; in [-TINY, 0] that may be rounding. */
#define TINY 1e-9
/* A bet risks at most this share of its capital. */
#define RISK 0.9

/* Prior of a plug-in bet, in units of the range. */
#define PLUG_GAIN 1.0     /* sum of 20 assumed values with mean .05 */
#define PLUG_SQUARES 5.0  /* sum of their squares; mean square .25 */
#define PLUG_BELIEF 20.0  /* prior weight of scale 1, in squared gains */
#define PLUG_MEMORY 22.0  /* discount per item 2 / (t + 22): the last half of t counts most */

/* Index of the sum of squares in a plug-in process, after the four entries of a product. */
enum { PLUG_SPREAD = 4 };

/* Entries of an EBMIX process. */
enum { GAIN, SPREAD, COUNT, SUM, EB_LIMIT, EB_LOG_LIMIT };

/* Values that all processes share for one item. */
typedef struct {
    const pb_bets *bets;
    double n_read;
    double per_left;  /* 1 / (items left, this one included); 0 for a stream */
    double tilt;      /* N / (items left); 1 for a stream */
    double *tilted;   /* lambda_g tilt; in memory, or GCC would process single lanes */
} wager;

static inline void wealth_begin(const pb_bets *bets, double *process, double capital,
                                double threshold)
{
    if (bets->mixture == PB_MIX_EBMIX) {
        process[GAIN] = process[SPREAD] = process[COUNT] = process[SUM] = 0.0;
        process[EB_LIMIT] = threshold;
        process[EB_LOG_LIMIT] = log(threshold);
        return;
    }
    for (int64_t g = 0; g < bets->n_bets; g++)
        process[g] = capital * bets->shares[g];
    process[bets->n_bets] = process[bets->n_bets + 2] = threshold;
    process[bets->n_bets + 1] = 0.0;
    if (bets->mixture == PB_MIX_PLUG_IN)
        process[PLUG_SPREAD] = 0.0;
}

/* Prepares item number n_read, counted from 0; `tilted` has room for all bets. */
ALWAYS_INLINE void wager_begin(wager *w, const pb_bets *bets, double *tilted,
                               const pb_items *items, int64_t n_read, const int n_vectors)
{
    w->bets = bets;
    w->tilted = tilted;
    w->n_read = (double)n_read;
    w->per_left = items->n_items ? 1.0 / pb_items_left(items, n_read) : 0.0;
    w->tilt = items->n_items ? (double)items->n_items * w->per_left : 1.0;
    for (int v = 0; v < n_vectors; v++)
        EACH STORED(w->tilted + v * LANES) L = LOAD(bets->bets + v * LANES) L * w->tilt;
}

/* Multiplies the wealth of each bet; returns the total. */
ALWAYS_INLINE double wealth_multiply(const wager *w, double *capital, double gain,
                                     double most, const int n_vectors)
{
    const vector all = ALL(most);
    vector total = ALL(0.0);
    UNROLL
    for (int v = 0; v < n_vectors; v++) {
        const vector wanted = LOAD(w->tilted + v * LANES);
        VECTOR(bet, LEAST(wanted L, all L));
        unaligned *const mine = &STORED(capital + v * LANES);
        VECTOR(grown, (*mine) L * (1.0 + bet L * gain));
        *mine = grown;
        EACH total L += grown L;
    }
    return (LANE(total, 0) + LANE(total, 2)) + (LANE(total, 1) + LANE(total, 3));
}

/* Returns 1 if the mixture reaches the limit. Skips the exponentials if a bound rules it out. */
static inline int wealth_mixture_reaches(const pb_bets *bets, const double *process)
{
    const double gain = process[GAIN], spread = process[SPREAD];
    /* the log wealth is at most gain^2 / (2 spread) for any lambda in [0, 1) */
    if (gain <= 0.0 || gain * gain < 2.0 * spread * process[EB_LOG_LIMIT])
        return 0;
    double most = 0.0, total = 0.0;
    for (int64_t g = 0; g < bets->n_bets; g++) {
        const double won = bets->bets[g] * gain - bets->psi[g] * spread;
        most = won > most ? won : most;
    }
    if (most < process[EB_LOG_LIMIT])  /* the mean is at most the largest */
        return 0;
    for (int64_t g = 0; g < bets->n_bets; g++)
        total += bets->shares[g] * exp(bets->bets[g] * gain - bets->psi[g] * spread);
    return total >= process[EB_LIMIT];
}

/* Adds x = gain + m in [0, 1], with m < 1 the largest mean under the hypothesis. */
static inline int wealth_mix(const pb_bets *bets, double *process, double gain, double m)
{
    const double x = gain + m;
    const double deviation = x - (0.5 + process[SUM]) / (process[COUNT] + 1.0);
    process[GAIN] += gain;
    process[SPREAD] += deviation * deviation;
    process[COUNT] += 1.0;
    process[SUM] += x;
    return wealth_mixture_reaches(bets, process);
}

/* Bets on one item, where gain = x - m. Returns 1 if the hypothesis is rejected. */
ALWAYS_INLINE int wealth_bet(const wager *w, double *process, double gain, double m,
                             const int n_vectors)
{
    if (m >= 1.0)
        return 0;
    if (m < -TINY)
        return 1;
    const double least = m > TINY ? m : TINY;
    gain += m - least;
    if (!n_vectors)
        return wealth_mix(w->bets, process, gain, least);
    return wealth_multiply(w, process, gain, RISK / least, n_vectors) >=
           process[n_vectors * LANES];
}

/*
 * Makes one plug-in bet on x in [-1, 1], in units of the range. Under the hypothesis the mean of
 * x is at most `expected`; `hoped` is the prior plus the sum of the earlier x. Returns 1 if the
 * hypothesis is rejected.
 */
static inline int wealth_plug(double *process, double x, double expected,
                              double hoped, double tilt)
{
    const double room = 1.0 + expected;
    const double least = room > 2.0 * TINY ? room : 2.0 * TINY;
    const double num = hoped > 0.0 ? hoped : 0.0;
    const double wanted = num / (PLUG_SQUARES + process[PLUG_SPREAD]) * tilt;
    const double most = RISK / least, bet = wanted < most ? wanted : most;
    process[PLUG_SPREAD] += x * x;
    if (room < -2.0 * TINY)
        return 1;
    if (expected < 1.0)
        process[0] *= 1.0 + bet * (x - (least - 1.0));
    return process[0] >= process[1];
}

/* Returns the power of two to multiply wealth with, given the largest; counts it in `shifts`. */
static inline double wealth_shift(double most, double *shifts)
{
    if (most > 0.0 && most < 0x1p-400) {
        *shifts += 1.0;
        return 0x1p400;
    }
    if (most > 0x1p100 && *shifts > 0.0) {
        *shifts -= 1.0;
        return 0x1p-400;
    }
    return 1.0;
}

static inline double wealth_kept(double capital)
{
    return capital < 0x1p-700 ? 0.0 : capital;
}

/* Returns the shifted limit; infinite from three shifts on, as no bet is near it then. */
static inline double wealth_limit(double threshold, double shifts)
{
    return ldexp(threshold, SHIFT * (shifts < 3.0 ? (int)shifts : 3));
}

/* Rescales one process; called every REST items. */
static inline void wealth_rest(const pb_bets *bets, double *process)
{
    if (bets->mixture == PB_MIX_EBMIX)
        return;
    double most = 0.0;
    for (int64_t g = 0; g < bets->n_bets; g++)
        most = process[g] > most ? process[g] : most;
    double *const limit = process + bets->n_bets, *const shifts = limit + 1;
    const double factor = wealth_shift(most, shifts);
    for (int64_t g = 0; g < bets->n_bets; g++)
        process[g] = wealth_kept(process[g] * factor);
    if (factor != 1.0)
        *limit = wealth_limit(limit[2], *shifts);
}

/* Returns the total wealth of a product, without scaling. */
static inline double wealth_total(const pb_bets *bets, const double *process)
{
    double total = 0.0;
    for (int64_t g = 0; g < bets->n_bets; g++)
        total += process[g];
    const double shifts = process[bets->n_bets + 1];
    return ldexp(total, -SHIFT * (shifts < 3.0 ? (int)shifts : 3));
}

#endif
