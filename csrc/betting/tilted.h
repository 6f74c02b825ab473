#ifndef TILTED_H
#define TILTED_H

/*
 * The exponential forms of confidence sequences: a bet's log wealth against mu is linear in mu,
 * so bounds are found without the earlier values. Private to confidence.c.
 *
 * Values are added in pieces of at most PIECE, so that the sums of a bet stay in registers. Three
 * parts took nearly all of the time, 16 logarithms, 48 sums and 32 exponentials per value:
 * - the prices of a piece follow from those at its first value by a short series;
 * - the sums are needed only at the end of a piece, or when a bound may move;
 * - two sums per side give an upper bound on the wealth (screen.h). Exponentials are computed only
 *   if it allows that the bound on the mean moves.
 */
#include <float.h>

#include "pybandit/betting/confidence.h"

#include "../_shared/wide.h"

#include <math.h>

enum { PIECE = 16 };

static const double CAP = 0.9; /* largest bet of the Bernstein form */
/* exp of less is below half a unit in the last place of the sum, which is at least 1. */
static const double LEAST_EXPONENT = -50.0;
/* A smaller excess of the log wealth moves no bound; twice the tolerance of `stays`. */
static const double SMALLEST_EXCESS = 1e-10;
static const double LN_2 = 0.69314718055994530942;
static const double SQRT_HALF = 0.70710678118654752440;
/* With at least as many values left, stakes grow by less than 0.4 % in a piece. */
static const double MANY_LEFT = 4096.0;

/* Values of a piece, and numbers of each value that do not depend on a bet. */
typedef struct {
    int64_t first, n; /* index of the first value, number of values */
    double tilt[PIECE];
    double excess[PIECE]; /* x plus (mean of x) - (conditional mean of x) over the tilt */
    double square[PIECE]; /* factor of the price */
    double sum[2][PIECE]; /* of the values of each side, this one included */
} piece;

/* Returns the size of the remaining population after n values. */
ALWAYS_INLINE double remaining(const pb_confidence *c, double n)
{
    return c->size - c->drained * n;
}

/* Computes -log(1 - s) - s for 0 <= s <= 0.9, to 2e-16. */
ALWAYS_INLINE void psi(vector *out, const vector *s)
{
    const vector none = ALL(0.0), once = ALL(1.0), twice = ALL(2.0), ln_2 = ALL(LN_2);
    VECTOR(m, 1.0 - (*s) L);
    vector twos = none;
    UNROLL
    for (int i = 0; i < 3; i++) { /* at least 0.1 becomes at least sqrt(1/2) */
        MASK(small, m L < SQRT_HALF);
        EACH twos L += PICK(small L, ln_2 L, none L);
        EACH m L *= PICK(small L, twice L, once L);
    }
    /* log m = 2 artanh f, |f| < 0.172; the next term is below 1e-17 */
    VECTOR(f, (m L - 1.0) / (m L + 1.0));
    VECTOR(square, f L * f L);
    vector sum = ALL(1.0 / 21.0);
    UNROLL
    for (int n = 19; n > 0; n -= 2)
        EACH sum L = sum L * square L + 1.0 / n;
    EACH (*out) L = twos L - 2.0 * f L * sum L - (*s) L;
}

/* Computes the stakes and prices at the first value of the piece that has the value `index`. */
WIDE static void find_base(pb_confidence *c, int64_t index)
{
    const int64_t first = c->drained > 0.0 ? index - index % PIECE : 0;
    if (c->base_tilt > 0.0 && c->base_first == first)
        return;
    c->base_first = first;
    c->base_tilt = c->size / remaining(c, (double)first);
    const int is_bernstein = c->method == PB_CONFIDENCE_BERNSTEIN;
    const vector tilt = ALL(c->base_tilt), most = ALL(is_bernstein ? CAP : (double)INFINITY);
    for (int64_t g = 0; g < c->n_bets; g += LANES) {
        const vector bets = LOAD(c->bets + g);
        VECTOR(wanted, bets L * tilt L);
        VECTOR(stake, LEAST(wanted L, most L));
        VECTOR(price, stake L * stake L * 0.125);
        if (is_bernstein)
            psi(&price, &stake);
        STORED(c->stake + g) = stake;
        STORED(c->price + g) = price;
    }
}

/* Computes the numbers of the values of a piece that no bet enters. */
static void prepare(const pb_confidence *c, const double *values, int64_t n, piece *p)
{
    double sum = c->sum[0], reflected = c->sum[1];
    p->first = c->count;
    p->n = n;
    for (int64_t i = 0; i < n; i++) {
        const double count = (double)(c->count + i), x = values[i];
        const double left = remaining(c, count);
        const double deviation = x - (0.5 + sum) / (count + 1.0);
        p->tilt[i] = c->size / left;
        p->excess[i] = x + c->drained * sum / left;
        p->square[i] = c->method == PB_CONFIDENCE_BERNSTEIN ? deviation * deviation : 1.0;
        p->sum[0][i] = sum += x;
        p->sum[1][i] = reflected += 1.0 - x;
    }
}

/*
 * Sets the price of a stake s + d, given that of s: with u = d / (1 - s),
 *   psi(s + d) = psi(s) + u s + psi(u),  psi(u) = u^2 / 2 + u^3 / 3 + ...
 * For u < 0.034 the terms left out are below 3e-16.
 */
#define PRICE_NEAR(out, now, s, price, per_rest)                                              \
    VECTOR(u, (now L - s L) * per_rest L);                                                    \
    VECTOR(out, u L * (1.0 / 9.0) + 1.0 / 8.0);                                               \
    EACH out L = out L * u L + 1.0 / 7.0;                                                     \
    EACH out L = out L * u L + 1.0 / 6.0;                                                     \
    EACH out L = out L * u L + 1.0 / 5.0;                                                     \
    EACH out L = out L * u L + 1.0 / 4.0;                                                     \
    EACH out L = out L * u L + 1.0 / 3.0;                                                     \
    EACH out L = out L * u L + 0.5;                                                           \
    EACH out L = price L + u L * (s L + u L * out L)

enum { CONSTANT, NEAR, EXACT, SQUARED }; /* how prices change from value to value */

/* Adds values first .. last of a piece to the exponents of four bets. */
ALWAYS_INLINE void add_four(pb_confidence *c, const piece *p, int64_t first, int64_t last,
                            int64_t g, const int change)
{
    const vector bets = LOAD(c->bets + g), s = LOAD(c->stake + g), base = LOAD(c->price + g);
    const vector most = ALL(change == SQUARED ? (double)INFINITY : CAP);
    vector gain = LOAD(c->gain + g), clock = LOAD(c->clock + g), cost = LOAD(c->cost + g);
    VECTOR(per_rest, 1.0 / (1.0 - s L));
    for (int64_t i = first; i < last; i++) {
        const vector tilt = ALL(p->tilt[i]), excess = ALL(p->excess[i]);
        const vector square = ALL(p->square[i]);
        VECTOR(wanted, bets L * tilt L);
        VECTOR(stake, LEAST(wanted L, most L));
        vector price = base;
        if (change == NEAR) {
            PRICE_NEAR(near, stake, s, base, per_rest);
            price = near;
        }
        if (change == EXACT)
            psi(&price, &stake);
        if (change == SQUARED)
            EACH price L = stake L * stake L * 0.125;
        EACH cost L += price L * square L;
        EACH gain L += stake L * excess L;
        EACH clock L += stake L * tilt L;
    }
    STORED(c->gain + g) = gain;
    STORED(c->clock + g) = clock;
    STORED(c->cost + g) = cost;
}

ALWAYS_INLINE void add_bets(pb_confidence *c, const piece *p, int64_t first, int64_t last,
                            const int change)
{
    /* entries from n_bets on are 0, and stay 0 */
    for (int64_t g = 0; g < c->n_bets; g += LANES)
        add_four(c, p, first, last, g, change);
}

/* Adds values first .. last of a piece to the exponents of all bets. */
WIDE static void add_exponents(pb_confidence *c, const piece *p, int64_t first, int64_t last)
{
    if (c->method != PB_CONFIDENCE_BERNSTEIN)
        add_bets(c, p, first, last, SQUARED);
    else if (c->drained == 0.0)
        add_bets(c, p, first, last, CONSTANT);
    else if (remaining(c, (double)c->base_first) >= MANY_LEFT)
        add_bets(c, p, first, last, NEAR);
    else
        add_bets(c, p, first, last, EXACT);
}

/* Writes the log wealth of every bet against mu. On side 1 the gain of 1 - x is clock - gain. */
static void exponents(const pb_confidence *c, int side, double mu, double *out)
{
    for (int64_t g = 0; g < c->n_bets; g++) {
        const double gain = side ? c->clock[g] - c->gain[g] : c->gain[g];
        out[g] = gain - mu * c->clock[g] - c->cost[g];
    }
}

#include "screen.h"

/*
 * Computes the log of the mean wealth at the bound of a side, and the share of each bet; returns
 * its derivative by -mu.
 */
static double evaluate(const pb_confidence *c, int side, double *known, double *share)
{
    double top = -INFINITY, sum = 0.0, slope = 0.0;
    exponents(c, side, c->bound[side], share);
    for (int64_t g = 0; g < c->n_bets; g++)
        top = larger(top, share[g]);
    for (int64_t g = 0; g < c->n_bets; g++) {
        share[g] = share[g] - top > LEAST_EXPONENT ? exp(share[g] - top) : 0.0;
        sum += share[g];
        slope += share[g] * c->clock[g];
    }
    for (int64_t g = 0; g < c->n_bets; g++)
        share[g] /= sum;
    *known = top + log(sum / (double)c->n_bets);
    return slope / sum;
}

/*
 * Moves the bound of a side to the mu at which the mean wealth is 2/alpha. The log of the mean
 * is convex and decreasing in mu, so Newton's method from below stays below.
 */
static void solve(pb_confidence *c, int side)
{
    double known, share[PB_CONFIDENCE_BETS];
    for (int iteration = 0; iteration < 50; iteration++) {
        const double slope = evaluate(c, side, &known, share);
        const double excess = known - c->level, step = excess / slope;
        /* with many values, rounding alone causes a larger excess */
        if (excess < SMALLEST_EXCESS || step < 4.0 * DBL_EPSILON)
            break;
        c->bound[side] += step;
    }
    begin_screen(c, side, known, share);
}

#endif
