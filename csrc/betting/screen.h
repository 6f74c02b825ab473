#ifndef SCREEN_H
#define SCREEN_H

/*
 * An upper bound on the wealth of the exponential forms at a bound mu, from two sums. Private to
 * tilted.h.
 *
 * The last exact evaluation gave the log wealth `known` and the shares of the bets. Value i
 * changes the log wealth of bet g by stake_gi e_i - price_gi q_i, where e_i = excess - mu tilt, or
 * tilt - excess - mu tilt on side 1. Stakes and prices never fall: they are at least s_g and p_g,
 * those at the start of a piece before, and stakes are at most (tilt_i / base_tilt) s_g. With
 * S_t = e_1 + ... + e_t, by partial summation
 *   sum stake_gi e_i = s_g S_t + sum of (stake_gi - stake_g,i-1) (S_t - S_i-1)
 *                   <= s_g G,  G = S_t + (tilt_t / base_tilt - 1) (S_t - min of S_0, ..., S_t),
 * and the change is at most d_g = s_g G - p_g Q with Q = q_1 + ... + q_t. If all d_g are at most
 * 1.5, exp(d) <= 1 + d + d^2 gives
 *   log wealth <= known + sum of share (d + d^2),
 * a polynomial in G and Q. So a bet costs no time per value.
 */
static const double LARGEST_CHANGE = 1.5; /* exp(d) <= 1 + d + d^2 holds up to 1.79 */

/* Starts a screen after an evaluation. The last value is in the piece of `stake` and `price`. */
static void begin_screen(pb_confidence *c, int side, double known, const double *share)
{
    pb_screen *const screen = &c->screen[side];
    *screen = (pb_screen){.mu = c->bound[side], .known = known, .per_tilt = 1.0 / c->base_tilt};
    double most = 0.0;
    for (int64_t g = 0; g < c->n_bets; g++) {
        const double stake = c->stake[g], price = c->price[g];
        most = larger(most, stake);
        screen->s += share[g] * stake;
        screen->p += share[g] * price;
        screen->ss += share[g] * stake * stake;
        screen->sp += share[g] * stake * price;
        screen->pp += share[g] * price * price;
    }
    screen->most = LARGEST_CHANGE / most;
}

/* Adds a value to a screen; returns 1 if the bound stays: the log wealth is below level + 5e-11. */
ALWAYS_INLINE int stays(pb_screen *screen, int side, double tilt, double excess, double square,
                        double level)
{
    const double edge = (side ? tilt - excess : excess) - screen->mu * tilt;
    const double sum = screen->sum + edge, cost = screen->cost + square;
    const double low = smaller(screen->low, sum);
    const double gain = sum + (tilt * screen->per_tilt - 1.0) * (sum - low);
    screen->sum = sum;
    screen->low = low;
    screen->cost = cost;
    return gain <= screen->most &&
           screen->known + gain * (screen->s + gain * screen->ss) -
                   cost * (screen->p + 2.0 * gain * screen->sp - cost * screen->pp) <
               level + 0.5 * SMALLEST_EXCESS;
}

#endif
