#ifndef PYBANDIT_CONFIDENCE_H
#define PYBANDIT_CONFIDENCE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Confidence sequences: bounds on a mean that hold at all times together, from
 * values in [0, 1] that come one by one, without replacement or independent.
 *
 * Side 0 is the lower bound. Side 1 is the upper one, kept as the lower bound
 * of the reflected values 1 - x.
 */
typedef enum {
    PB_CONFIDENCE_BETTING,
    PB_CONFIDENCE_BERNSTEIN,
    PB_CONFIDENCE_HOEFFDING,
    PB_CONFIDENCE_ASYMPTOTIC
} pb_confidence_method;

enum { PB_CONFIDENCE_BETS = 64 }; /* the most bets */

/* All of it: no memory but this, so that a copy is a snapshot. */
typedef struct {
    pb_confidence_method method;
    int64_t n_bets;
    int bounded;      /* asymptotic: whether the values are known to be in [0, 1] */
    double size;      /* N; 1 where values are independent */
    double drained;   /* what one value takes from the population: 1, or 0 */
    double alpha;
    double bets[PB_CONFIDENCE_BETS]; /* those past n_bets are 0 */

    int64_t count;
    double lower, upper; /* as last reported */
    double sum[2];       /* of the values of a side */
    double bound[2];     /* running bound of a side */
    double candidate[2]; /* betting: the next bound to be excluded; infinite where there is none */
    double capital[2][PB_CONFIDENCE_BETS]; /* betting: against the candidate; adds up to the mean */
    double gain[PB_CONFIDENCE_BETS];  /* exponential forms: log capital of a bet against mu is */
    double clock[PB_CONFIDENCE_BETS]; /* gain - mu clock - cost */
    double cost[PB_CONFIDENCE_BETS];
    double mean, square; /* asymptotic: mean, and sum of squares about it */
} pb_confidence;

/*
 * Starts a sequence. Assumed, not checked: population >= 1, infinite where
 * values are independent; 0 < alpha < 1; 1 <= n_bets <= PB_CONFIDENCE_BETS bets
 * that are positive and increase, to below 1 for PB_CONFIDENCE_BERNSTEIN.
 */
void pb_confidence_init(pb_confidence *confidence, pb_confidence_method method,
                        double population, double alpha, const double *bets, int64_t n_bets,
                        int bounded);

/*
 * Adds n values and reports both bounds after each of them. Assumed: the values
 * are in [0, 1] (finite, where not bounded), and at most the population in all.
 *
 * PB_CONFIDENCE_BETTING reads its history again: values[-count] .. values[-1]
 * must be the earlier values. Sixteen bets against one value take 4 ns, and all
 * values so far are played again whenever the width has shrunk by 1/256: 128 n
 * values in all while the width falls as 1/sqrt(n). The others look at a value
 * once.
 *
 * Bounds depend on the values and not on how many are added at a time.
 */
void pb_confidence_add(pb_confidence *confidence, const double *values, int64_t n,
                       double *lower, double *upper);

/*
 * Whether a sequence that was read from outside can be one: its sums and bounds follow
 * from `values`, the `count` before (betting), or from its sums and exponents (the
 * others). All is finite but candidates, and bounds of values without a range; nothing
 * is NaN. Betting plays its values four times.
 */
int pb_confidence_agrees(const pb_confidence *confidence, const double *values);

#ifdef __cplusplus
}
#endif

#endif
