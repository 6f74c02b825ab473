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

/* Adds to slope and curve of each bet what one value adds. Called before the wealth changes. */
ALWAYS_INLINE void lean(const pb_scaled *bets, const pb_scaled_value *value, const outcome *w,
                        pb_candidate *ahead, const int n_vectors)
{
    const double x = w->x, m = w->m, edge = x - m, tilt = w->tilt;
    const double least = larger(m - tilt * ahead->reach, SMALLEST_MEAN);
    UNROLL
    for (int v = 0; v < n_vectors; v++) {
        WANTED(wanted, bets, value, v);
        const vector cap = LOAD(bets->cap + v * LANES);
        MASK(capped, wanted L > cap L * EVERY(w->per_m));
        VECTOR(slope, wanted L * EVERY(tilt) / (1.0 + wanted L * EVERY(edge)));
        VECTOR(curve, slope L * slope L);
        if (ANY(capped)) {
            VECTOR(at_cap, cap L * EVERY(x) / (EVERY(m) * (EVERY(m) * (1.0 - cap L) +
                                                           cap L * EVERY(x))));
            VECTOR(below, wanted L / (1.0 + wanted L * EVERY(x - least)));
            MASK(stays, wanted L >= cap L * EVERY(1.0 / least));
            EACH below L = PICK(stays L, at_cap L, below L);
            EACH slope L = PICK(capped L, EVERY(tilt) * LEAST(at_cap L, below L), slope L);
            EACH curve L = PICK(capped L, EVERY(0.0), curve L);
        }
        EACH STORED(ahead->slope + v * LANES) L += slope L;
        EACH STORED(ahead->curve + v * LANES) L += curve L;
    }
}

/*
 * Plays values[first .. last) against a candidate of a side; `sum` is the sum of the earlier values
 * of that side. Returns the largest total wealth along the way.
 */
ALWAYS_INLINE double play_all(const pb_scaled *bets, pb_candidate *candidate, int side,
                              const pb_scaled_value *values, int64_t first, int64_t last,
                              double sum, const int is_ahead, const int n_vectors)
{
    double peak = 0.0;
    for (int64_t t = first; t < last; t++) {
        const outcome w = outcome_of(bets, side, candidate->mean, values + t, t, sum);
        if (is_ahead && !w.floored)
            lean(bets, values + t, &w, candidate, n_vectors);
        peak = larger(peak, stake_all(bets, values + t, &w, candidate->capital, n_vectors));
        if (t % REST == REST - 1)
            drop_small(candidate->capital);
        sum += w.x;
    }
    return peak;
}

WIDE static double play(const pb_scaled *bets, pb_candidate *candidate, int side,
                        const pb_scaled_value *values, int64_t first, int64_t last, double sum,
                        int is_ahead)
{
    if (bets->n_bets > 4 * LANES)
        return is_ahead
                   ? play_all(bets, candidate, side, values, first, last, sum, 1, MOST_VECTORS)
                   : play_all(bets, candidate, side, values, first, last, sum, 0, MOST_VECTORS);
    return is_ahead ? play_all(bets, candidate, side, values, first, last, sum, 1, 4)
                  : play_all(bets, candidate, side, values, first, last, sum, 0, 4);
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
