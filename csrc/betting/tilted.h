#ifndef TILTED_H
#define TILTED_H

/*
 * The exponential forms of confidence sequences: a bet's log wealth against mu is linear in mu,
 * so bounds are found without the earlier values. Private to confidence.c.
 *
 * Two parts took nearly all of the time: 16 logarithms and 32 exponentials per value. The
 * logarithms are replaced by a series that the compiler vectorises. The exponentials of an earlier
 * value give an upper bound on the wealth. New ones are computed only if it allows that the bound
 * on the mean moves.
 */
#include <float.h>

#include "pybandit/betting/confidence.h"

#include "../_shared/wide.h"

#include <math.h>

static const double CAP = 0.9; /* largest bet of the Bernstein form */
/* Above this change of an exponent d, exp(d) <= 1 + d + d^2 is not used; it holds up to 1.79. */
static const double LARGEST_CHANGE = 1.5;
/* exp of less is below half a unit in the last place of the sum, which is at least 1. */
static const double LEAST_EXPONENT = -50.0;
/* A smaller excess of the log wealth moves no bound; twice the tolerance of `without_change`. */
static const double SMALLEST_EXCESS = 1e-10;
static const double LN_2 = 0.69314718055994530942;
static const double SQRT_HALF = 0.70710678118654752440;

/* Returns the size of the remaining population after n values. */
ALWAYS_INLINE double remaining(const pb_confidence *c, double n)
{
    return c->size - c->drained * n;
}

ALWAYS_INLINE double sum_of_lanes(const vector *v)
{
    return (LANE(*v, 0) + LANE(*v, 1)) + (LANE(*v, 2) + LANE(*v, 3));
}

/* Returns -log(1 - s) - s for 0 <= s <= 0.9, to 2e-16. */
ALWAYS_INLINE double psi(double s)
{
    double m = 1.0 - s, twos = 0.0;
    UNROLL
    for (int i = 0; i < 3; i++) { /* at least 0.1 becomes at least sqrt(1/2) */
        twos += m < SQRT_HALF ? LN_2 : 0.0;
        m *= m < SQRT_HALF ? 2.0 : 1.0;
    }
    /* log m = 2 artanh f, |f| < 0.172; the next term is below 1e-17 */
    const double f = (m - 1.0) / (m + 1.0), square = f * f;
    double sum = 1.0 / 21.0;
    sum = sum * square + 1.0 / 19.0;
    sum = sum * square + 1.0 / 17.0;
    sum = sum * square + 1.0 / 15.0;
    sum = sum * square + 1.0 / 13.0;
    sum = sum * square + 1.0 / 11.0;
    sum = sum * square + 1.0 / 9.0;
    sum = sum * square + 1.0 / 7.0;
    sum = sum * square + 1.0 / 5.0;
    sum = sum * square + 1.0 / 3.0;
    sum = sum * square + 1.0;
    return twos - 2.0 * f * sum - s;
}

/* Writes psi of the stake of every bet. */
ALWAYS_INLINE void prices(const pb_confidence *c, double tilt, double *out)
{
    for (int64_t g = 0; g < c->n_bets; g++)
        out[g] = psi(smaller(c->bets[g] * tilt, CAP));
}

/* Adds the next value to the exponents of all bets. */
WIDE static void tilt_exponents(pb_confidence *c, double x)
{
    const double left = remaining(c, (double)c->count);
    const double tilt = c->size / left, centre = c->drained * c->sum[0] / left;
    const double deviation = x - (0.5 + c->sum[0]) / (double)(c->count + 1);
    const double square = deviation * deviation;
    const int64_t n_bets = c->n_bets;
    double *const gain = c->gain, *const clock = c->clock, *const cost = c->cost;
    double now[PB_CONFIDENCE_BETS];
    const double *price = c->price; /* of stakes that never change */
    if (c->method == PB_CONFIDENCE_BERNSTEIN && c->drained > 0.0) {
        prices(c, tilt, now);
        price = now;
    }
    if (c->method == PB_CONFIDENCE_BERNSTEIN)
        for (int64_t g = 0; g < n_bets; g++) {
            const double stake = smaller(c->bets[g] * tilt, CAP);
            cost[g] += price[g] * square;
            gain[g] += stake * (x + centre);
            clock[g] += stake * tilt;
        }
    else
        for (int64_t g = 0; g < n_bets; g++) {
            const double stake = c->bets[g] * tilt;
            cost[g] += stake * stake / 8.0;
            gain[g] += stake * (x + centre);
            clock[g] += stake * tilt;
        }
}

/* Writes the log wealth of every bet against mu. On side 1 the gain of 1 - x is clock - gain. */
static void exponents(const pb_confidence *c, int side, double mu, double *out)
{
    for (int64_t g = 0; g < c->n_bets; g++) {
        const double gain = side ? c->clock[g] - c->gain[g] : c->gain[g];
        out[g] = gain - mu * c->clock[g] - c->cost[g];
    }
}

/*
 * Returns 1 if the bound of a side stays: the log of the mean wealth there is below level + 5e-11.
 * With the changes d of the exponents since its last known value,
 *   log(sum of share exp(d)) <= log(1 + sum of share (d + d^2)) <= sum of share (d + d^2).
 */
WIDE static int without_change(const pb_confidence *c, int side)
{
    const double mu = c->bound[side];
    vector sum = ALL(0.0), most = ALL(0.0);
    /* entries from n_bets on are 0 */
    for (int64_t g = 0; g < c->n_bets; g += LANES) {
        const vector clock = LOAD(c->clock + g), cost = LOAD(c->cost + g);
        const vector before = LOAD(c->exponent[side] + g), share = LOAD(c->share[side] + g);
        vector d = LOAD(c->gain + g);
        if (side)
            EACH d L = clock L - d L;
        EACH d L = d L - mu * clock L - cost L - before L;
        EACH most L = LARGER(d L, most L);
        EACH sum L += share L * (d L + d L * d L);
    }
    const double largest = larger(larger(LANE(most, 0), LANE(most, 1)),
                                  larger(LANE(most, 2), LANE(most, 3)));
    return largest <= LARGEST_CHANGE &&
           c->known[side] + sum_of_lanes(&sum) < c->level + 0.5 * SMALLEST_EXCESS;
}

/* Computes the log of the mean wealth at the bound of a side; returns its derivative by -mu. */
static double evaluate(pb_confidence *c, int side)
{
    double *const logs = c->exponent[side], *const share = c->share[side];
    double top = -INFINITY, sum = 0.0, slope = 0.0;
    exponents(c, side, c->bound[side], logs);
    for (int64_t g = 0; g < c->n_bets; g++)
        top = larger(top, logs[g]);
    for (int64_t g = 0; g < c->n_bets; g++) {
        share[g] = logs[g] - top > LEAST_EXPONENT ? exp(logs[g] - top) : 0.0;
        sum += share[g];
        slope += share[g] * c->clock[g];
    }
    for (int64_t g = 0; g < c->n_bets; g++)
        share[g] /= sum;
    c->known[side] = top + log(sum / (double)c->n_bets);
    c->is_known[side] = 1;
    return slope / sum;
}

/*
 * Moves the bound of a side to the mu at which the mean wealth is 2/alpha. The log of the mean
 * is convex and decreasing in mu, so Newton's method from below stays below.
 */
static void solve(pb_confidence *c, int side)
{
    if (c->is_known[side] && without_change(c, side))
        return;
    for (int iteration = 0; iteration < 50; iteration++) {
        const double slope = evaluate(c, side);
        const double excess = c->known[side] - c->level, step = excess / slope;
        /* with many values, rounding alone causes a larger excess */
        if (excess < SMALLEST_EXCESS || step < 4.0 * DBL_EPSILON)
            return;
        c->bound[side] += step;
    }
}

#endif
