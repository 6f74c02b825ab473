/* Bets in units of the standard deviation: stakes, and the wealth against one mean. */
#include "pybandit/betting/scaled.h"

#include "stakes.h"

enum { SHIFT = 400 };

void pb_scaled_prepare(const pb_scaled *bets, pb_scaled_moments *moments, const double *values,
                       int64_t n, pb_scaled_value *out)
{
    for (int64_t i = 0; i < n; i++) {
        const double t = (double)(moments->count + 1), x = values[i];
        const double tilt = bets->size / left_before(bets, moments->count);
        const double stake = tilt / sqrt((0.5 + moments->square) / (t + 1.0));
        out[i] = (pb_scaled_value){x, stake, stake * sqrt(bets->level / (t * log1p(t)))};
        moments->sum += x;
        const double deviation = x - (0.5 + moments->sum) / (t + 1.0);
        moments->square += deviation * deviation;
        moments->count++;
    }
}

void pb_scaled_begin(const pb_scaled *bets, pb_scaled_wealth *wealth)
{
    for (int g = 0; g < PB_SCALED_BETS; g++)
        wealth->capital[g] = bets->weight[g];
    wealth->shifts = 0.0;
}

/* Multiplies the wealth of all bets with a power of two, so that the largest stays in range. */
static void shift(pb_scaled_wealth *wealth, double total)
{
    const int up = total < 0x1p-400 && total > 0.0;
    if (!up && total < 0x1p400)
        return;
    for (int g = 0; g < PB_SCALED_BETS; g++)
        wealth->capital[g] = ldexp(wealth->capital[g], up ? SHIFT : -SHIFT);
    wealth->shifts += up ? -1.0 : 1.0;
}

WIDE void pb_scaled_play(const pb_scaled *bets, int side, double mean,
                         const pb_scaled_value *values, int64_t first, int64_t last, double sum,
                         pb_scaled_wealth *wealth, double *log_wealth)
{
    for (int64_t t = first; t < last; t++) {
        const wager w = wager_on(bets, side, mean, values + t, t, sum);
        const double total = stake_once(bets, values + t, &w, wealth->capital);
        log_wealth[t - first] = log(total) + SHIFT * wealth->shifts * 0x1.62e42fefa39efp-1;
        shift(wealth, total);
        if (t % REST == REST - 1)
            drop_small(wealth->capital);
        sum += w.x;
    }
}
