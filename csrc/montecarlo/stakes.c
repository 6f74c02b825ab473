/*
 * Bets on the mean of several estimators (pybandit/montecarlo/stakes.h). Each wealth is computed
 * from all values: the bets depend on m, and no summary of the values gives the wealth.
 *
 * No rescaling is needed. The largest wealth is returned, and it started at 1, so a bet that
 * underflows no longer matters, and a wealth that overflows has passed any limit.
 */
#include "pybandit/montecarlo/stakes.h"

#include "../_shared/wide.h"

/* A bet risks at most this share of its wealth. */
#define RISK 0.9
/* Minimum room (see stakes.h), as a part of the range. It makes bets smaller, which is valid. */
#define LEAST_ROOM 0x1p-40

enum { REST = 64 };  /* values between calls of rest(); wealth shrinks by 2^-213 at most */

/* Sets the wealth of lost bets to 0, once per REST values, because denormals are slow. */
ALWAYS_INLINE void rest(double *capital, int64_t n_bets)
{
    for (int64_t g = 0; g < n_bets; g++)
        capital[g] = capital[g] < 0x1p-700 ? 0.0 : capital[g];
}

/* Plays one value; `gain` is its distance from m on the winning side, `most` the largest bet. */
ALWAYS_INLINE void play(const double *bets, double *capital, int64_t n_bets, double gain,
                        double weight, double most)
{
    const vector all = ALL(most);
    for (int64_t g = 0; g < n_bets; g += LANES) {
        VECTOR(wanted, LOAD(bets + g) L * weight);
        unaligned *const mine = &STORED(capital + g);
        EACH (*mine) L *= 1.0 + LEAST(wanted L, all L) * gain;
    }
}

ALWAYS_INLINE double sum(const double *capital, int64_t n_bets)
{
    vector total = ALL(0.0);
    for (int64_t g = 0; g < n_bets; g += LANES)
        EACH total L += LOAD(capital + g) L;
    return (LANE(total, 0) + LANE(total, 2)) + (LANE(total, 1) + LANE(total, 3));
}

WIDE double pb_stakes_capital(const pb_stakes *stakes, double m, int side, double limit,
                              double *capital)
{
    double most = 0.0, total;
    for (int64_t g = 0; g < stakes->n_bets; g++)
        capital[g] = 1.0;
    for (int64_t j = 0; j < stakes->n_stakes; j++) {
        const pb_stake *const stake = &stakes->stakes[j];
        const double low = stakes->lows[stake->estimator];
        const double high = stakes->highs[stake->estimator];
        const double least = LEAST_ROOM * (high - low);
        const double room = side ? high - m : m - low;
        const double gain = side ? m - stake->value : stake->value - m;
        if (stake->begins) {
            total = sum(capital, stakes->n_bets);
            most = total > most ? total : most;
            if (most >= limit)
                return most;
        }
        if (j % REST == 0)
            rest(capital, stakes->n_bets);
        play(stakes->bets, capital, stakes->n_bets, gain, stake->weight,
             RISK / (room > least ? room : least));
    }
    total = sum(capital, stakes->n_bets);
    return total > most ? total : most;
}

double pb_stakes_bound(const pb_stakes *stakes, double low, double high, double limit,
                       double start, double step, int side, double *capital)
{
    /* outside: excluded since the first test; inside: not excluded */
    double outside = side ? high : low, inside = side ? low : high;
    const double resolution = step / 64.0, towards = side ? step : -step;
    if (pb_stakes_capital(stakes, outside, side, limit, capital) < limit)
        return outside;
    double probe = start;
    for (double stride = towards; ; stride *= 2.0) {
        if (pb_stakes_capital(stakes, probe, side, limit, capital) >= limit) {
            outside = probe;
            break;
        }
        inside = probe;
        probe += stride;
        if (side ? probe >= outside : probe <= outside)
            break;
    }
    for (;;) {
        const double gap = side ? outside - inside : inside - outside;
        const double middle = outside + 0.5 * (inside - outside);
        if (!(gap > resolution) || middle == outside || middle == inside)
            return outside;
        if (pb_stakes_capital(stakes, middle, side, limit, capital) >= limit)
            outside = middle;
        else
            inside = middle;
    }
}
