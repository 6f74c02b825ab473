#ifndef PYBANDIT_STAKES_H
#define PYBANDIT_STAKES_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Bets on the one mean of several estimators, whose values come in any order that does
 * not look ahead. A bet b against the mean m wins 1 + min(b w, 0.9 / room) (x - m) on a
 * value x: w is what was known of its estimator's precision, 1 / variance, before it came,
 * and room = m - low, the most that a value below m can lie below it. A factor is at least
 * 0.1, and its mean is 1 where m is the mean. For the other side x, m and the range are
 * reflected.
 */

/* A value, and the stake on it. */
typedef struct {
    double value;
    double weight;      /* w, above 0 */
    int64_t estimator;  /* that gave it */
    int64_t begins;     /* whether it is the first of its batch */
} pb_stake;

/* Everything told so far; the values of an estimator lie in [lows[k], highs[k]]. */
typedef struct {
    const pb_stake *stakes;
    int64_t n_stakes;
    const double *lows;
    const double *highs;
    const double *bets; /* gaps between m and the mean, above 0, in units of the values */
    int64_t n_bets;     /* a multiple of 4 */
} pb_stakes;

/*
 * The largest capital, after any batch, of all bets together, each of which began with 1,
 * against the mean m: that the mean is above it (side 0), or below (side 1); where it has
 * reached `limit`, the first that did. It falls as m grows on side 0, and grows on side 1.
 * Within a batch the order does not count. `capital` is memory for n_bets. O(n_stakes
 * n_bets), 10 ns a value for 20 bets.
 */
double pb_stakes_capital(const pb_stakes *stakes, double m, int side, double limit,
                         double *capital);

/*
 * The bound of one side: the last m in [low, high], from low on (side 0) or from high (side 1),
 * against which the capital has reached `limit`; the end of the range where there is none.
 * Within step / 64 of the exact one, and never inside it. `start` and `step` say where to look
 * first, in (low, high), and how far from there next, above 0: some ten capitals where they
 * are of the order of the answer.
 */
double pb_stakes_bound(const pb_stakes *stakes, double low, double high, double limit,
                       double start, double step, int side, double *capital);

#ifdef __cplusplus
}
#endif

#endif
