#ifndef WEALTH_H
#define WEALTH_H

/*
 * The capital of one process of bets (pybandit/betting/bets.h); private to csrc.
 *
 * A product keeps the capital of each bet, then the limit it is compared with,
 * the number of shifts, the threshold. A hypothesis that holds costs all bets
 * their capital; every REST items they are multiplied by a power of two where the
 * largest has become small, and the limit with them, so none is lost. Only a bet
 * far below the largest is set to 0, which is valid (capital may be thrown away)
 * and keeps denormals, ten times slower, out of the loop.
 */
#include "pybandit/betting/bets.h"

#include <math.h>
#include <stdint.h>

#include "../_shared/wide.h"

enum {
    REST = 64,        /* items between two rescalings: they lose at most 2^-213 */
    SHIFT = 400,      /* binary digits of one rescaling */
};

/* m below -TINY is an impossible hypothesis; between, it is rounding. */
#define TINY 1e-9
/* A bet risks at most this share of its capital. */
#define RISK 0.9

/* Entries of an EBMIX process. */
enum { GAIN, SPREAD, COUNT, SUM, EB_LIMIT, EB_LOG_LIMIT };

/* What all processes share while one item passes. */
typedef struct {
    const pb_bets *bets;
    double per_left;  /* 1 / what is left, this item included; 0: endless */
    double *tilted;   /* lambda_g N / left; memory, which GCC does not take apart lane by lane */
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
}

/* For item number n_read, from 0; `tilted` has room for all bets. */
ALWAYS_INLINE void wager_begin(wager *w, const pb_bets *bets, double *tilted,
                               const pb_items *items, int64_t n_read, const int n_vectors)
{
    w->bets = bets;
    w->tilted = tilted;
    w->per_left = items->n_items ? 1.0 / pb_items_left(items, n_read) : 0.0;
    const double tilt = items->n_items ? (double)items->n_items * w->per_left : 1.0;
    for (int v = 0; v < n_vectors; v++)
        *(unaligned *)(w->tilted + v * LANES) =
            *(const unaligned *)(bets->bets + v * LANES) * tilt;
}

/* Multiplies the capital of each bet and returns their sum. */
ALWAYS_INLINE double wealth_multiply(const wager *w, double *capital, double gain,
                                     double most, const int n_vectors)
{
    const vector all = {most, most, most, most};
    vector total = {0.0, 0.0, 0.0, 0.0};
#pragma GCC unroll 4
    for (int v = 0; v < n_vectors; v++) {
        const vector wanted = *(const unaligned *)(w->tilted + v * LANES);
        const vector bet = LEAST(wanted, all);
        unaligned *const mine = (unaligned *)(capital + v * LANES);
        const vector grown = *mine * (1.0 + bet * gain);
        *mine = grown;
        total += grown;
    }
    return (total[0] + total[2]) + (total[1] + total[3]);
}

/* The mean over the bets, which are many exponentials: asked only where it may be enough. */
static inline int wealth_mixture_reaches(const pb_bets *bets, const double *process)
{
    const double gain = process[GAIN], spread = process[SPREAD];
    /* no lambda in [0, 1) wins more than A^2 / (2 V) */
    if (gain <= 0.0 || gain * gain < 2.0 * spread * process[EB_LOG_LIMIT])
        return 0;
    double most = 0.0, total = 0.0;
    for (int64_t g = 0; g < bets->n_bets; g++) {
        const double won = bets->bets[g] * gain - bets->psi[g] * spread;
        most = won > most ? won : most;
    }
    if (most < process[EB_LOG_LIMIT])  /* so is the mean */
        return 0;
    for (int64_t g = 0; g < bets->n_bets; g++)
        total += bets->shares[g] * exp(bets->bets[g] * gain - bets->psi[g] * spread);
    return total >= process[EB_LIMIT];
}

/* x in [0, 1] came where the mean m < 1 was expected at most. */
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

/* One item for one process: gain is x - m; whether the hypothesis falls. */
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

/* Every REST items, for each process. */
static inline void wealth_rest(const pb_bets *bets, double *process)
{
    if (bets->mixture == PB_MIX_EBMIX)
        return;
    double most = 0.0;
    for (int64_t g = 0; g < bets->n_bets; g++)
        most = process[g] > most ? process[g] : most;
    double *const limit = process + bets->n_bets, *const shifts = limit + 1;
    double factor = 1.0;
    if (most > 0.0 && most < 0x1p-400)
        factor = 0x1p400, *shifts += 1.0;
    else if (most > 0x1p100 && *shifts > 0.0)
        factor = 0x1p-400, *shifts -= 1.0;
    for (int64_t g = 0; g < bets->n_bets; g++) {
        const double capital = process[g] * factor;
        process[g] = capital < 0x1p-700 ? 0.0 : capital;
    }
    if (factor != 1.0)  /* past two shifts the limit is infinite: no bet is near it */
        *limit = ldexp(limit[2], SHIFT * (*shifts < 3.0 ? (int)*shifts : 3));
}

/* The capital of a product, unscaled. */
static inline double wealth_total(const pb_bets *bets, const double *process)
{
    double total = 0.0;
    for (int64_t g = 0; g < bets->n_bets; g++)
        total += process[g];
    const double shifts = process[bets->n_bets + 1];
    return ldexp(total, -SHIFT * (shifts < 3.0 ? (int)shifts : 3));
}

#endif
