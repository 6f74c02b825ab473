#ifndef PYBANDIT_WAGERS_H
#define PYBANDIT_WAGERS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Bets on whether arm a is better than arm b, for rewards in [0, 1] of any distribution.
 *
 * A bet with stake s > 0 that rewards x exceed a mean m multiplies its wealth by
 * (1 + s x) / (1 + s m) per reward. The expected factor is at most 1 if the true mean is at most
 * m. Wealth after n rewards is
 *     exp(gain - n log(1 + s m)),  gain = sum of log(1 + s x),
 * so one sum per stake serves all m. Wealth is divided evenly over the stakes. A bet that
 * rewards are below m is a bet that 1 - x exceeds 1 - m, with its own sums.
 */
enum {
    PB_STAKES = 20,             /* 2^-12, 2^-11, ..., 2^7 */
    PB_GAINS = 2 * PB_STAKES    /* per arm: bets on rewards above, then bets on rewards below */
};

/* Statistics of one arm. */
typedef struct {
    const double *gains;  /* PB_GAINS */
    double n;             /* number of rewards, at least 1 */
    double mean;          /* mean of these rewards */
} pb_wagers_arm;

/* Adds a reward in [0, 1] to the PB_GAINS sums of an arm. */
void pb_wagers_add(double *gains, double reward);

/*
 * Return the logarithm of the wealth bet on rewards above, or below, the mean m. Both are convex
 * in m; the first decreases, the second increases. *slope receives the derivative in m.
 */
double pb_wagers_above(const pb_wagers_arm *arm, double m, double *slope);
double pb_wagers_below(const pb_wagers_arm *arm, double m, double *slope);

/*
 * Returns the minimum over m in [0, 1 - epsilon] of above(a, m) + below(b, m + epsilon), with
 * epsilon in [0, 1). If `enough` is not NaN, the result may differ from the minimum, but is on
 * the same side of `enough`: at most `enough`, or above it and no larger than the minimum.
 */
double pb_wagers_least(const pb_wagers_arm *a, const pb_wagers_arm *b, double epsilon,
                       double enough);

/*
 * Returns 1 if `better` is declared better than `arm`: pb_wagers_least is above `level`. Returns
 * 0 if either has no pulls. `gains` has PB_GAINS values per arm.
 */
int pb_wagers_tell(const double *gains, const int64_t *pulls, const double *sums, double epsilon,
                   double level, int64_t better, int64_t arm);

/*
 * Returns an arm that `best` is not yet declared better than, or -1 if there is none: `doubt`
 * if it is such an arm, else the lowest. Usually O(1) if `doubt` is the previous result.
 */
int64_t pb_wagers_doubt(const double *gains, const int64_t *pulls, const double *sums,
                        int64_t n_arms, double epsilon, double level, int64_t best, int64_t doubt);

#ifdef __cplusplus
}
#endif

#endif
