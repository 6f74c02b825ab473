#ifndef PYBANDIT_STAKES_H
#define PYBANDIT_STAKES_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Bets on the common mean of several estimators, whose values arrive in any order that does not
 * depend on future values. A bet b against the mean m multiplies its wealth by
 * 1 + min(b w, 0.9 / room) (x - m) for a value x. Here w is an estimate of its estimator's
 * precision, 1 / variance, made before x arrived; room = m - low is the largest possible value of
 * m - x. A factor is at least 0.1, and its expectation is 1 if m is the mean. For the other side
 * x, m and the range are reflected.
 */

/* A value and its weight in the bets. */
typedef struct {
    double value;
    double weight;      /* w, above 0 */
    int64_t estimator;  /* index of the estimator that gave the value */
    int64_t begins;     /* 1 if it is the first value of its batch */
} pb_stake;

/* All values reported so far. The values of estimator k lie in [lows[k], highs[k]]. */
typedef struct {
    const pb_stake *stakes;
    int64_t n_stakes;
    const double *lows;
    const double *highs;
    const double *bets; /* n_bets, above 0; b is best if m is wrong by about b */
    int64_t n_bets;     /* a multiple of 4 */
} pb_stakes;

/*
 * Returns the largest total wealth, after any batch, of all bets against the mean m, each started
 * with 1. Side 0 bets that the mean is above m, side 1 that it is below. Stops early when the
 * wealth has reached `limit`. The wealth decreases in m on side 0 and increases on side 1. The
 * order of values within a batch does not matter. `capital` has room for n_bets values.
 * O(n_stakes n_bets), 10 ns per value for 20 bets.
 */
double pb_stakes_capital(const pb_stakes *stakes, double m, int side, double limit,
                         double *capital);

/*
 * Returns the bound of one side: the last m in [low, high], starting from low (side 0) or high
 * (side 1), against which the wealth reached `limit`, or that end of the range if there is none.
 * The bound is at most step / 64 outside the exact one and never inside it. The search starts at
 * `start`, in (low, high), and takes a first step of size `step`, above 0. It computes about ten
 * wealths if start and step are of the right order of magnitude.
 */
double pb_stakes_bound(const pb_stakes *stakes, double low, double high, double limit,
                       double start, double step, int side, double *capital);

#ifdef __cplusplus
}
#endif

#endif
