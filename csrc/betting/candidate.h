#ifndef CANDIDATE_H
#define CANDIDATE_H

/*
 * The wealth of scaled bets against one candidate for a bound, and a lower bound on the wealth
 * against all smaller candidates. Private to confidence.c.
 *
 * Let L(mu) be the log wealth of one bet against mu, a candidate ahead. For mu' = mu - d:
 * - a bet below its cap at mu has the same stake b at mu', and log(1 + b (x - m)) grows by at least
 *   s d - s^2 d^2 / 2, with s = tilt b / (1 + b (x - m)) at mu;
 * - the log of a bet at its cap, 1 - c + c x / m, is convex, so while the bet stays at its cap it
 *   grows by at least d tilt c x / (m (m (1 - c) + c x));
 * - a bet with wanted stake u that leaves its cap grows by at least d tilt times the smaller of that
 *   slope and of u / (1 + u (x - m')), the least slope below the cap.
 * So L(mu') >= L(mu) + slope d - curve d^2 / 2, with sums of these over the values.
 */
#include "pybandit/betting/confidence.h"

#include "stakes.h"

enum { HAND = 16 }; /* values that are played together; divides REST */

/* The values of a hand against one mean; see `outcome`. */
typedef struct {
    double x[HAND], m[HAND], per_m[HAND], edge[HAND], tilt[HAND];
    double least[HAND], per_least[HAND]; /* smallest m within reach of a candidate ahead */
    int floored[HAND];
} hand;

/* Computes outcomes of values[0 .. n), of which the first has index t, as outcome_of does. sums[i]
   is the sum of the values of the side before value i. */
ALWAYS_INLINE void deal(const pb_scaled *bets, int side, double mean, double reach,
                        const pb_scaled_value *restrict values, int64_t t, int n,
                        const double *restrict sums, hand *restrict h)
{
    const double first = (double)t, reflected = side, sign = side ? -1.0 : 1.0;
    for (int i = 0; i < n; i++)
        h->x[i] = reflected + sign * values[i].x;
    for (int i = 0; i < n; i++) {
        const double per_left = 1.0 / (bets->size - bets->drained * (first + (double)i));
        const double m = (bets->size * mean - bets->drained * sums[i]) * per_left;
        h->floored[i] = m < SMALLEST_MEAN;
        h->m[i] = m < SMALLEST_MEAN ? SMALLEST_MEAN : m;
        h->per_m[i] = 1.0 / h->m[i];
        h->edge[i] = h->x[i] - h->m[i];
        h->tilt[i] = bets->size * per_left;
        h->least[i] = larger(h->m[i] - h->tilt[i] * reach, SMALLEST_MEAN);
        h->per_least[i] = 1.0 / h->least[i];
    }
}

/*
 * Computes slope and curve of four bets on value i of a hand, some of which may be at their caps.
 * One division serves both kinds, as divisions take most of the time. Bets that leave their caps
 * within reach need another one.
 */
ALWAYS_INLINE void lean_at_caps(const hand *h, int i, const vector *wanted, const vector *caps,
                                const vector *most, vector *slope, vector *curve)
{
    const double x = h->x[i], m = h->m[i], edge = h->edge[i], tilt = h->tilt[i];
    const double per_least = h->per_least[i], least = h->least[i];
    const vector cap = *caps;
    MASK(capped, (*wanted) L > (*most) L);
    VECTOR(won, cap L * EVERY(x));
    VECTOR(part, PICK(capped L, won L, (*wanted) L));
    VECTOR(whole, PICK(capped L, EVERY(m) * (EVERY(m) * (1.0 - cap L) + won L),
                       1.0 + (*wanted) L * EVERY(edge)));
    EACH (*slope) L = EVERY(tilt) * part L / whole L;
    EACH (*curve) L = PICK(capped L, EVERY(0.0), (*slope) L * (*slope) L);
    MASK(leaves, capped L & ((*wanted) L < cap L * EVERY(per_least)));
    if (ANY(leaves)) {
        VECTOR(below, EVERY(tilt) * (*wanted) L / (1.0 + (*wanted) L * EVERY(x - least)));
        MASK(lower, leaves L & (below L < (*slope) L));
        EACH (*slope) L = PICK(lower L, below L, (*slope) L);
    }
}

/* Plays a hand with vector v of the bets; adds the wealth after each value to `totals`. */
ALWAYS_INLINE void play_four(const pb_scaled *bets, pb_candidate *candidate, double *capital,
                             const pb_scaled_value *values, const hand *h, int n, int v,
                             vector *totals, const int is_ahead)
{
    const vector fixed = LOAD(bets->fixed + v * LANES), caps = LOAD(bets->cap + v * LANES);
    const vector falling = LOAD(bets->falling); /* used by the first vector only */
    double largest = 0.0, smallest_cap = 1.0;
    for (int lane = 0; lane < LANES; lane++) {
        largest = larger(largest, LANE(fixed, lane));
        if (LANE(caps, lane) > 0.0) /* not a pad */
            smallest_cap = smaller(smallest_cap, LANE(caps, lane));
    }
    vector mine = LOAD(capital + v * LANES);
    vector slopes = LOAD(candidate->slope + v * LANES), curves = LOAD(candidate->curve + v * LANES);
    for (int i = 0; i < n; i++) {
        /* caps matter rarely, except to the largest bets */
        const int may_cap = v == 0 || largest * values[i].stake > smallest_cap * h->per_m[i];
        VECTOR(wanted, fixed L * EVERY(values[i].stake));
        if (v == 0)
            EACH wanted L += falling L * EVERY(values[i].falling);
        vector bet = wanted;
        VECTOR(most, caps L * EVERY(h->per_m[i]));
        if (may_cap) /* not LEAST: GCC would compute one lane after the other here */
            EACH bet L = PICK(wanted L < most L, wanted L, most L);
        VECTOR(factor, 1.0 + bet L * EVERY(h->edge[i]));
        if (is_ahead && !h->floored[i]) {
            vector slope, curve;
            if (may_cap) {
                lean_at_caps(h, i, &wanted, &caps, &most, &slope, &curve);
            } else {
                EACH slope L = EVERY(h->tilt[i]) * wanted L / factor L;
                EACH curve L = slope L * slope L;
            }
            EACH slopes L += slope L;
            EACH curves L += curve L;
        }
        EACH mine L *= factor L;
        if (!is_ahead)
            EACH totals[i] L += mine L;
    }
    STORED(capital + v * LANES) = mine;
    if (is_ahead) {
        STORED(candidate->slope + v * LANES) = slopes;
        STORED(candidate->curve + v * LANES) = curves;
    }
}

/* Plays a hand; returns the largest total wealth along the way, and writes that after each value
   to `wealth`, unless the candidate is ahead. */
ALWAYS_INLINE double play_hand(const pb_scaled *bets, pb_candidate *candidate, double *capital,
                               const pb_scaled_value *values, const hand *h, int n,
                               double *wealth, const int is_ahead)
{
    const int n_vectors = bets->n_bets > 4 * LANES ? MOST_VECTORS : 4;
    vector totals[HAND];
    double peak = 0.0;
    const vector none = ALL(0.0);
    for (int i = 0; i < n && !is_ahead; i++)
        totals[i] = none;
    play_four(bets, candidate, capital, values, h, n, 0, totals, is_ahead);
    for (int v = 1; v < n_vectors; v++)
        play_four(bets, candidate, capital, values, h, n, v, totals, is_ahead);
    for (int i = 0; i < n && !is_ahead; i++) {
        wealth[i] = (LANE(totals[i], 0) + LANE(totals[i], 2)) +
                    (LANE(totals[i], 1) + LANE(totals[i], 3));
        peak = larger(peak, wealth[i]);
    }
    return peak;
}

/*
 * Plays values[first .. last) against a candidate of a side; `sum` is the sum of the earlier values
 * of that side. Returns the largest total wealth along the way; 0 if the candidate is ahead.
 */
ALWAYS_INLINE double play_all(const pb_scaled *bets, pb_candidate *candidate, int side,
                              const pb_scaled_value *values, int64_t first, int64_t last,
                              double sum, const int is_ahead)
{
    double peak = 0.0, sums[HAND], wealth[HAND];
    hand h;
    for (int64_t t = first; t < last;) {
        const int64_t end = t - t % HAND + HAND < last ? t - t % HAND + HAND : last;
        const int n = (int)(end - t);
        for (int i = 0; i < n; i++) {
            sums[i] = sum;
            sum += side ? 1.0 - values[t + i].x : values[t + i].x;
        }
        deal(bets, side, candidate->mean, is_ahead ? candidate->reach : 0.0, values + t, t, n, sums,
             &h);
        peak = larger(peak, play_hand(bets, candidate, candidate->capital, values + t, &h, n,
                                      wealth, is_ahead));
        if (end % REST == 0)
            drop_small(candidate->capital);
        t = end;
    }
    return peak;
}

WIDE static double play(const pb_scaled *bets, pb_candidate *candidate, int side,
                        const pb_scaled_value *values, int64_t first, int64_t last, double sum)
{
    return play_all(bets, candidate, side, values, first, last, sum, 0);
}

/* Plays a candidate ahead, for a lower bound on the wealth against the smaller ones. */
WIDE static void play_ahead(const pb_scaled *bets, pb_candidate *candidate, int side,
                            const pb_scaled_value *values, int64_t first, int64_t last,
                            double sum)
{
    play_all(bets, candidate, side, values, first, last, sum, 1);
}

/* Plays n values, of which the first has index t, for an unchanged candidate: `capital` is its
   wealth afterwards, `wealth` the total after each value. */
WIDE static void try_hand(const pb_scaled *bets, pb_candidate *candidate, int side,
                          const pb_scaled_value *values, int64_t t, int n, const double *sums,
                          double *capital, double *wealth)
{
    hand h;
    for (int g = 0; g < PB_SCALED_BETS; g++)
        capital[g] = candidate->capital[g];
    deal(bets, side, candidate->mean, 0.0, values, t, n, sums, &h);
    play_hand(bets, candidate, capital, values, &h, n, wealth, 0);
    if ((t + n) % REST == 0)
        drop_small(capital);
}

static inline void begin_candidate(const pb_scaled *bets, pb_candidate *candidate, double mean)
{
    candidate->mean = mean;
    for (int g = 0; g < PB_SCALED_BETS; g++) {
        candidate->capital[g] = bets->weight[g];
        candidate->slope[g] = candidate->curve[g] = 0.0;
    }
}

/* Places a candidate below the one ahead, with the least wealth it can have; returns the total. */
static inline double place_below(const pb_candidate *ahead, pb_candidate *next, double mean)
{
    const double d = ahead->mean - mean;
    double total = 0.0;
    next->mean = mean;
    for (int g = 0; g < PB_SCALED_BETS; g++) {
        const double gain = d * (ahead->slope[g] - 0.5 * d * ahead->curve[g]);
        /* by its log, because exp(gain) may overflow where the wealth is tiny; 0 stays 0 */
        next->capital[g] = gain > 0.0 ? exp(log(ahead->capital[g]) + gain) : ahead->capital[g];
        total += next->capital[g];
    }
    return total;
}

#endif
