#ifndef PYBANDIT_SCALED_H
#define PYBANDIT_SCALED_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Bets in units of the standard deviation, against "the mean of values in [0, 1] is at most mu".
 *
 * Before value t = 1, 2, ..., with two imagined values of squared deviation 1/4,
 *     mean_i = (1/2 + x_1 + ... + x_i) / (i + 1)
 *     sd_t^2 = (1/2 + sum_{i<t} (x_i - mean_i)^2) / (t + 1).
 * If mu is true, x_t has the conditional mean m = (N mu - sum of earlier values) / (N - t + 1),
 * or mu if values are independent, and tilt = N / (N - t + 1), or 1. Bet g multiplies its wealth
 * by 1 + b (x - m) with
 *     b = min(amplitude_g tilt / sd_t h, cap_g / m),
 *     h = sqrt(2 log(2/alpha) / (t log(t + 1))) for falling bets, else 1.
 * All of b is known before x_t, and the factor is at least 1 - cap_g. So the total wealth is a
 * nonnegative martingale if mu is the mean, and a supermartingale if the mean is below mu.
 */
enum { PB_SCALED_BETS = 20 };

/* The bets. Entries from n_bets on are 0. An amplitude is either fixed or falling. */
typedef struct {
    int64_t n_bets;
    double fixed[PB_SCALED_BETS];
    double falling[PB_SCALED_BETS]; /* nonzero only among the first four */
    double cap[PB_SCALED_BETS];     /* in (0, 1) */
    double weight[PB_SCALED_BETS];  /* initial wealth */
    double size;    /* N; 1 if values are independent */
    double drained; /* 1 if a value leaves the population when it is read, else 0 */
    double level;   /* 2 log(2/alpha), for falling bets */
} pb_scaled;

/* A value with the stakes of bets of amplitude 1 on it. */
typedef struct {
    double x;
    double stake;   /* tilt / sd_t */
    double falling; /* the same times h */
} pb_scaled_value;

/* Moments of the values so far. All 0 at the start. */
typedef struct {
    int64_t count;
    double sum;
    double square; /* sum of (x_i - mean_i)^2 */
} pb_scaled_moments;

/* Wealth against one mean. */
typedef struct {
    double capital[PB_SCALED_BETS];
    double shifts; /* wealth is capital * 2^(400 shifts) */
} pb_scaled_wealth;

/*
 * Sets the bets. At most `n_values` values are expected, INFINITY if nothing is known: from 30,001
 * on there are smaller bets too. With planned > 0, half of the wealth is on one more bet, of
 * amplitude 3 / sqrt(planned). Assumed: population >= 1, INFINITY if values are independent;
 * 0 < alpha < 1. The caller may set other bets instead, before the first value.
 */
void pb_scaled_init(pb_scaled *bets, double n_values, double population, double planned,
                    double alpha);

/*
 * Prepares n values in [0, 1] and adds them to the moments. Assumed: at most N in all.
 */
void pb_scaled_prepare(const pb_scaled *bets, pb_scaled_moments *moments, const double *values,
                       int64_t n, pb_scaled_value *out);

/* Starts with the weights of the bets as wealth. */
void pb_scaled_begin(const pb_scaled *bets, pb_scaled_wealth *wealth);

/*
 * Plays values[first .. last) against `mean` in (0, 1), and writes the log of the total wealth
 * after each of them. Side 1 bets on 1 - x: against "the mean of 1 - x is at most `mean`".
 * `sum` is the sum of the earlier values of the side.
 */
void pb_scaled_play(const pb_scaled *bets, int side, double mean, const pb_scaled_value *values,
                    int64_t first, int64_t last, double sum, pb_scaled_wealth *wealth,
                    double *log_wealth);

#ifdef __cplusplus
}
#endif

#endif
