#ifndef PYBANDIT_WAGERS_H
#define PYBANDIT_WAGERS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Is arm a better than b? Bets on rewards in [0, 1], of which nothing else is known.
 *
 * A stake s > 0 on rewards x being above a mean m multiplies its wealth by (1 + s x) / (1 + s m),
 * whose expectation is at most 1 where the mean is at most m. Wealth after n rewards is
 *     exp(gain - n log(1 + s m)),  gain = sum of log(1 + s x),
 * so that one sum a stake serves for all m. Wealth is spread evenly over the stakes. Rewards
 * being below m are 1 - x being above 1 - m, with sums of their own.
 */
enum {
    PB_STAKES = 20,             /* 2^-12, 2^-11, ..., 2^7 */
    PB_GAINS = 2 * PB_STAKES    /* of an arm: on rewards above, then on rewards below */
};

/* What is known of an arm. */
typedef struct {
    const double *gains;  /* PB_GAINS */
    double n;             /* rewards, at least 1 */
    double mean;          /* of these */
} pb_wagers_arm;

/* Takes another reward, in [0, 1]. */
void pb_wagers_add(double *gains, double reward);

/*
 * Logarithms of wealth, bet on rewards above the mean m, and below it. Both are convex in m, the
 * first falls, the second rises. `slope`: the derivative.
 */
double pb_wagers_above(const pb_wagers_arm *arm, double m, double *slope);
double pb_wagers_below(const pb_wagers_arm *arm, double m, double *slope);

/*
 * The least over m in [0, 1 - epsilon] of above(a, m) + below(b, m + epsilon), epsilon in [0, 1).
 * Where `enough` is a number, any value on the same side of it as the least: at most `enough`, or
 * above it and no larger than the least.
 */
double pb_wagers_least(const pb_wagers_arm *a, const pb_wagers_arm *b, double epsilon,
                       double enough);

/*
 * Whether `better` is told from `arm`: the least is above `level`. An arm without pulls is not.
 * `gains` has PB_GAINS of each arm.
 */
int pb_wagers_tell(const double *gains, const int64_t *pulls, const double *sums, double epsilon,
                   double level, int64_t better, int64_t arm);

/*
 * An arm that `best` is not told from, or -1 where there is none: `doubt`, if it is one, else
 * the lowest. O(1) mostly, where `doubt` is what was found before.
 */
int64_t pb_wagers_doubt(const double *gains, const int64_t *pulls, const double *sums,
                        int64_t n_arms, double epsilon, double level, int64_t best, int64_t doubt);

#ifdef __cplusplus
}
#endif

#endif
