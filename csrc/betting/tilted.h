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
/* With at least as many values left, stakes grow by less than 0.4 % and 0.023 % in a piece. */
static const double MANY_LEFT = 4096.0, MORE_LEFT = 65536.0;

/* Values of a piece, and numbers of each value that do not depend on a bet. */
typedef struct {
    double tilt[PIECE];
    double excess[PIECE]; /* x + tilt mu - m, with m the conditional mean of x under mu */
    double square[PIECE]; /* factor of the price */
    double sum[2][PIECE]; /* of the values of each side, this one included */
    double logic[2][PIECE]; /* the mean of each side if all remaining values are 0 */
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
        EACH STORED(c->per_rest + g) L = 1.0 / (1.0 - stake L);
    }
}

/* Computes the numbers of the values of a piece that no bet enters: sums one after the other, then
   divisions four at a time. */
WIDE static void prepare(const pb_confidence *c, const double *restrict values, int n,
                         piece *restrict p)
{
    const double size = c->size, drained = c->drained, first = (double)c->count;
    const double is_bernstein = c->method == PB_CONFIDENCE_BERNSTEIN;
    double sums[PIECE], sum = c->sum[0], reflected = c->sum[1];
    for (int i = 0; i < n; i++) {
        sums[i] = sum;
        p->sum[0][i] = sum += values[i];
        p->sum[1][i] = reflected += 1.0 - values[i];
    }
    for (int i = 0; i < n; i++) {
        const double count = first + (double)i, left = size - drained * count;
        const double deviation = values[i] - (0.5 + sums[i]) / (count + 1.0);
        p->tilt[i] = size / left;
        p->excess[i] = values[i] + drained * sums[i] / left;
        p->square[i] = is_bernstein * (deviation * deviation) + (1.0 - is_bernstein);
        p->logic[0][i] = drained * p->sum[0][i] / size;
        p->logic[1][i] = drained * p->sum[1][i] / size;
    }
}

/* Changes of prices from value to value. */
enum { CONSTANT, FAR, NEAR, EXACT, SQUARED };

/*
 * Sets the price of a stake s + d, given that of s: with u = d / (1 - s),
 *   psi(s + d) = psi(s) + u s + psi(u),  psi(u) = u^2 / 2 + u^3 / 3 + ...
 * With MANY_LEFT values left u < 0.034, with MORE_LEFT u < 0.0021. The terms left out are below
 * 3e-16 in both cases.
 */
#define PRICE_NEAR(out, now, s, price, per_rest)                                              \
    VECTOR(u, (now L - s L) * per_rest L);                                                    \
    vector out = ALL(change == FAR ? 0.2 : 1.0 / 9.0);                                        \
    if (change == NEAR) {                                                                     \
        EACH out L = out L * u L + 1.0 / 8.0;                                                 \
        EACH out L = out L * u L + 1.0 / 7.0;                                                 \
        EACH out L = out L * u L + 1.0 / 6.0;                                                 \
        EACH out L = out L * u L + 1.0 / 5.0;                                                 \
    }                                                                                         \
    EACH out L = out L * u L + 1.0 / 4.0;                                                     \
    EACH out L = out L * u L + 1.0 / 3.0;                                                     \
    EACH out L = out L * u L + 0.5;                                                           \
    EACH out L = price L + u L * (s L + u L * out L)

/* Adds values first .. last of a piece to the exponents of four bets. */
ALWAYS_INLINE void add_four(pb_confidence *c, const piece *p, int64_t first, int64_t last,
                            int64_t g, const int change)
{
    const vector bets = LOAD(c->bets + g), s = LOAD(c->stake + g), base = LOAD(c->price + g);
    const vector most = ALL(change == SQUARED ? (double)INFINITY : CAP);
    vector gain = LOAD(c->gain + g), clock = LOAD(c->clock + g), cost = LOAD(c->cost + g);
    const vector per_rest = LOAD(c->per_rest + g);
    for (int64_t i = first; i < last; i++) {
        const vector tilt = ALL(p->tilt[i]), excess = ALL(p->excess[i]);
        const vector square = ALL(p->square[i]);
        VECTOR(wanted, bets L * tilt L);
        VECTOR(stake, LEAST(wanted L, most L));
        vector price = base;
        if (change == NEAR || change == FAR) {
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
    else if (remaining(c, (double)c->base_first) >= MORE_LEFT)
        add_bets(c, p, first, last, FAR);
    else if (remaining(c, (double)c->base_first) >= MANY_LEFT)
        add_bets(c, p, first, last, NEAR);
    else
        add_bets(c, p, first, last, EXACT);
}

/*
 * Computes exp(x) for x < 20, as the 128th power of a series. The error is below 3e-14 of exp(x)
 * for |x| < 5, and below 1e-15 if x is less. Below LEAST_EXPONENT it returns exp of that.
 */
ALWAYS_INLINE void exp_four(vector *out, const vector *x)
{
    const vector least = ALL(LEAST_EXPONENT);
    VECTOR(y, LARGER((*x) L, least L) * (1.0 / 128.0));
    VECTOR(square, y L * y L);
    VECTOR(high, (y L * (1.0 / 5040.0) + 1.0 / 720.0) * square L +
                     (y L * (1.0 / 120.0) + 1.0 / 24.0));
    VECTOR(low, (y L * (1.0 / 6.0) + 0.5) * square L + (y L + 1.0));
    VECTOR(e, high L * (square L * square L) + low L);
    for (int i = 0; i < 7; i++)
        EACH e L *= e L;
    *out = e;
}

ALWAYS_INLINE double sum_of_lanes(const vector *v)
{
    return (LANE(*v, 0) + LANE(*v, 1)) + (LANE(*v, 2) + LANE(*v, 3));
}

#include "screen.h"

/*
 * Computes the wealth of each bet at the bound of a side, in units of the limit for the sum, and
 * the sum; returns minus the derivative of the sum. The wealth of a bet is above the limit by one
 * value only, so it is at most exp(2).
 */
WIDE static double evaluate(const pb_confidence *c, int side, double *total, double *wealth)
{
    const vector none = ALL(0.0);
    const double mu = c->bound[side], level = c->level;
    vector sum = none, slope = none;
    for (int64_t g = 0; g < c->n_bets; g += LANES) {
        const vector bets = LOAD(c->bets + g), clock = LOAD(c->clock + g);
        const vector cost = LOAD(c->cost + g);
        vector gain = LOAD(c->gain + g), now;
        if (side) /* the gain of 1 - x */
            EACH gain L = clock L - gain L;
        EACH gain L = gain L - mu * clock L - cost L - level;
        exp_four(&now, &gain);
        EACH now L = PICK(bets L > none L, now L, none L);
        STORED(wealth + g) = now;
        EACH sum L += now L;
        EACH slope L += now L * clock L;
    }
    *total = sum_of_lanes(&sum);
    return sum_of_lanes(&slope);
}

/*
 * Moves the bound of a side to the mu at which the mean wealth is 2/alpha. The log of the mean
 * is convex and decreasing in mu, so Newton's method from below stays below.
 */
static void solve(pb_confidence *c, int side)
{
    double total, excess, wealth[PB_CONFIDENCE_BETS];
    for (int iteration = 0; iteration < 50; iteration++) {
        const double slope = evaluate(c, side, &total, wealth);
        excess = log(total);
        const double step = excess * total / slope;
        /* with many values, rounding alone causes a larger excess */
        if (excess < SMALLEST_EXCESS || step < 4.0 * DBL_EPSILON)
            break;
        c->bound[side] += step;
    }
    begin_screen(c, side, excess, total, wealth);
}

#endif
