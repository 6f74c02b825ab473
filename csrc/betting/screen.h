#ifndef SCREEN_H
#define SCREEN_H

/*
 * An upper bound on the wealth of the exponential forms at a bound mu, from two sums. Private to
 * tilted.h.
 *
 * The last evaluation gave the log of the wealth in units of the limit, `excess`, and the shares
 * of the bets. Value i changes the log wealth of bet g by stake_gi e_i - price_gi q_i. With the
 * numbers of a piece, e_i is excess - mu tilt, or tilt - excess - mu tilt on side 1. Stakes and
 * prices never fall: they are at least s_g and p_g,
 * those at the start of a piece before, and stakes are at most (tilt_i / base_tilt) s_g.
 *
 * Let S_t = e_1 + ... + e_t. By partial summation
 *   sum stake_gi e_i = s_g S_t + sum of (stake_gi - stake_g,i-1) (S_t - S_i-1)
 *                   <= s_g G,  G = S_t + (tilt_t / base_tilt - 1) (S_t - min of S_0, ..., S_t),
 * and the change is at most d_g = s_g G - p_g Q with Q = q_1 + ... + q_t. If all d_g are at most
 * 1.5, exp(d) <= 1 + d + d^2 gives
 *   log wealth <= excess + sum of share (d + d^2),
 * a polynomial in G and Q. So a bet costs no time per value.
 */
static const double LARGEST_CHANGE = 1.5; /* exp(d) <= 1 + d + d^2 holds up to 1.79 */

/* Starts a screen after an evaluation: the wealth of each bet, its sum and the log of the sum. The
   last value is in the piece of `stake` and `price`. */
WIDE static void begin_screen(pb_confidence *c, int side, double excess, double total,
                              const double *wealth)
{
    const double per_total = 1.0 / total;
    vector s = ALL(0.0), p = s, ss = s, sp = s, pp = s, most = s;
    for (int64_t g = 0; g < c->n_bets; g += LANES) {
        const vector stake = LOAD(c->stake + g), price = LOAD(c->price + g);
        const vector own = LOAD(wealth + g);
        VECTOR(staked, own L * stake L);
        VECTOR(priced, own L * price L);
        EACH most L = LARGER(stake L, most L);
        EACH s L += staked L;
        EACH p L += priced L;
        EACH ss L += staked L * stake L;
        EACH sp L += staked L * price L;
        EACH pp L += priced L * price L;
    }
    const double largest = larger(larger(LANE(most, 0), LANE(most, 1)),
                                  larger(LANE(most, 2), LANE(most, 3)));
    c->screen[side] = (pb_screen){
        .mu = c->bound[side], .excess = excess, .per_tilt = 1.0 / c->base_tilt,
        .most = LARGEST_CHANGE / largest, .s = sum_of_lanes(&s) * per_total,
        .p = sum_of_lanes(&p) * per_total, .ss = sum_of_lanes(&ss) * per_total,
        .sp = sum_of_lanes(&sp) * per_total, .pp = sum_of_lanes(&pp) * per_total};
}

/* Adds a value to a screen; returns 1 if the bound stays: the log wealth is below level + 5e-11. */
ALWAYS_INLINE int stays(pb_screen *screen, int side, double tilt, double excess, double square)
{
    const double edge = (side ? tilt - excess : excess) - screen->mu * tilt;
    const double sum = screen->sum + edge, cost = screen->cost + square;
    const double low = smaller(screen->low, sum);
    const double gain = sum + (tilt * screen->per_tilt - 1.0) * (sum - low);
    screen->sum = sum;
    screen->low = low;
    screen->cost = cost;
    return gain <= screen->most &&
           screen->excess + gain * (screen->s + gain * screen->ss) -
                   cost * (screen->p + 2.0 * gain * screen->sp - cost * screen->pp) <
               0.5 * SMALLEST_EXCESS;
}

#endif
