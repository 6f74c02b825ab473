#ifndef SCALED_BETS_H
#define SCALED_BETS_H

/* Bets for the C tests of scaled bets and of confidence sequences. */

#include "pybandit/betting/scaled.h"

/* Returns up to PB_SCALED_BETS bets of equal weight, of which the first falls. */
static inline pb_scaled scaled_bets(int64_t n_bets)
{
    pb_scaled bets = {.n_bets = n_bets < PB_SCALED_BETS ? n_bets : PB_SCALED_BETS, .size = 1.0,
                      .level = 2.0 * log(2.0 / 0.05)};
    for (int64_t g = 0; g < bets.n_bets; g++) {
        bets.fixed[g] = g ? ldexp(2.0, -(int)g) : 0.0;
        bets.cap[g] = g % 3 ? 0.6 : 0.9;
        bets.weight[g] = 1.0 / (double)bets.n_bets;
    }
    bets.falling[0] = 1.0;
    return bets;
}

#endif
