#ifndef STAKES_H
#define STAKES_H

/*
 * The hot loop of scaled bets (pybandit/betting/scaled.h): one value against one mean. Private to
 * csrc/betting.
 */
#include "pybandit/betting/scaled.h"

#include "../_shared/wide.h"

#include <math.h>

enum {
    REST = 64, /* values between two removals of small wealth */
    MOST_VECTORS = PB_SCALED_BETS / LANES
};

static const double SMALLEST_MEAN = 1e-9; /* keeps m positive despite rounding */
/* Stays normal after 64 factors of 0.1. Smaller wealth is set to 0, which is valid. */
static const double SMALLEST_CAPITAL = 0x1p-800;

/* Returns the size of the remaining population before the value with index t. */
ALWAYS_INLINE double left_before(const pb_scaled *bets, int64_t t)
{
    return bets->size - bets->drained * (double)t;
}

/* A value of a side, x or 1 - x, if the mean of all values of that side is `mean`. */
typedef struct {
    double x;
    double m;    /* conditional mean of x */
    double per_m;
    double tilt;
    int floored; /* 1 if the conditional mean was not positive */
} outcome;

ALWAYS_INLINE outcome outcome_of(const pb_scaled *bets, int side, double mean,
                             const pb_scaled_value *value, int64_t t, double sum)
{
    outcome w;
    const double per_left = 1.0 / left_before(bets, t);
    const double m = (bets->size * mean - bets->drained * sum) * per_left;
    w.x = side ? 1.0 - value->x : value->x;
    w.floored = m < SMALLEST_MEAN;
    w.m = w.floored ? SMALLEST_MEAN : m;
    w.per_m = 1.0 / w.m;
    w.tilt = bets->size * per_left;
    return w;
}

/* Sets `wanted` to the bets of a vector before their caps. */
#define WANTED(wanted, bets, value, v)                                                       \
    VECTOR(wanted, LOAD((bets)->fixed + (v) * LANES) L * (value)->stake);                    \
    if ((v) == 0)                                                                            \
    EACH wanted L += LOAD((bets)->falling) L * (value)->falling

/* Multiplies the wealth of each bet; returns the total. */
ALWAYS_INLINE double stake_all(const pb_scaled *bets, const pb_scaled_value *value,
                               const outcome *w, double *capital, const int n_vectors)
{
    const vector edge = ALL(w->x - w->m), per_m = ALL(w->per_m);
    vector total = ALL(0.0);
    UNROLL
    for (int v = 0; v < n_vectors; v++) {
        WANTED(wanted, bets, value, v);
        VECTOR(most, LOAD(bets->cap + v * LANES) L * per_m L);
        VECTOR(bet, LEAST(wanted L, most L));
        unaligned *const mine = &STORED(capital + v * LANES);
        VECTOR(grown, (*mine) L * (1.0 + bet L * edge L));
        *mine = grown;
        EACH total L += grown L;
    }
    return (LANE(total, 0) + LANE(total, 2)) + (LANE(total, 1) + LANE(total, 3));
}

ALWAYS_INLINE double stake_once(const pb_scaled *bets, const pb_scaled_value *value,
                                const outcome *w, double *capital)
{
    return bets->n_bets > 4 * LANES ? stake_all(bets, value, w, capital, MOST_VECTORS)
                                    : stake_all(bets, value, w, capital, 4);
}

static inline void drop_small(double *capital)
{
    for (int g = 0; g < PB_SCALED_BETS; g++)
        capital[g] = capital[g] < SMALLEST_CAPITAL ? 0.0 : capital[g];
}

#endif
