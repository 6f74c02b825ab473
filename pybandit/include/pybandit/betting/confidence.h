#ifndef PYBANDIT_CONFIDENCE_H
#define PYBANDIT_CONFIDENCE_H

#include <stdint.h>

#include "pybandit/betting/scaled.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Confidence sequences: bounds on a mean that are valid at all times simultaneously. Values
 * in [0, 1] are read one by one, without replacement or independently.
 *
 * Side 0 is the lower bound. Side 1 is the upper bound, stored as the lower bound of the
 * reflected values 1 - x.
 */
typedef enum {
    PB_CONFIDENCE_BETTING,
    PB_CONFIDENCE_BERNSTEIN,
    PB_CONFIDENCE_HOEFFDING,
    PB_CONFIDENCE_ASYMPTOTIC
} pb_confidence_method;

enum { PB_CONFIDENCE_BETS = 64 }; /* maximum number of bets of the exponential forms */

/* A mean that is tested by betting. */
typedef struct {
    double mean;                    /* infinite if there is none */
    double capital[PB_SCALED_BETS]; /* wealth of each bet against it */
    /* candidate ahead: log wealth against mean - d grows by at least slope d - curve d^2 / 2 */
    double slope[PB_SCALED_BETS], curve[PB_SCALED_BETS];
    double reach; /* largest d */
} pb_candidate;

/*
 * The exponential forms: an upper bound on the log of the mean wealth at `mu` minus log(2 / alpha),
 *   excess + s gain - p cost + ss gain^2 - 2 sp gain cost + pp cost^2  while gain <= most.
 */
typedef struct {
    double mu, excess, per_tilt;
    double s, p, ss, sp, pp, most;
    double sum, low, cost; /* of the values since then */
} pb_screen;

/* A sequence. It uses no other memory, so a copy is a snapshot. */
typedef struct {
    pb_confidence_method method;
    int64_t n_bets;
    int bounded;      /* asymptotic: 1 if the values are known to be in [0, 1] */
    double size;      /* N; 1 if values are independent */
    double drained;   /* 1 if a value leaves the population when it is read, else 0 */
    double alpha;
    double level; /* exponential forms: log of 2 n_bets / alpha */
    double bets[PB_CONFIDENCE_BETS]; /* exponential forms; 0 from index n_bets on */

    int64_t count;
    double lower, upper; /* bounds after the last value */
    double sum[2];       /* sum of the values of each side */
    double bound[2];     /* running bound of each side */
    pb_scaled scaled;    /* betting: the bets */
    pb_scaled_moments moments;
    pb_candidate candidate[2]; /* betting: tested next; the wealth is at least what is stored */
    pb_candidate ahead[2];  /* betting: means below which the next candidates are placed */
    double gain[PB_CONFIDENCE_BETS];  /* exponential forms: the log wealth of a bet against */
    double clock[PB_CONFIDENCE_BETS]; /* mu is gain - mu clock - cost */
    double cost[PB_CONFIDENCE_BETS];
    double mean, square; /* asymptotic: mean, and sum of squares about it */

    pb_screen screen[2]; /* exponential forms: of each side */
    double stake[PB_CONFIDENCE_BETS]; /* at the value base_first; 0 from index n_bets on */
    double price[PB_CONFIDENCE_BETS], per_rest[PB_CONFIDENCE_BETS]; /* prices; 1 / (1 - stake) */
    double base_tilt;                 /* of that value; 0 at the start */
    int64_t base_first;
} pb_confidence;

/*
 * Starts a sequence. Assumed, not checked: population >= 1, infinite if values are
 * independent; 0 < alpha < 1. PB_CONFIDENCE_BETTING needs `scaled`, which is copied: bets for the
 * same population and alpha, whose weights add up to 1. The exponential forms need
 * 1 <= n_bets <= PB_CONFIDENCE_BETS bets, positive and increasing, and below 1 for
 * PB_CONFIDENCE_BERNSTEIN. What a method does not need may be NULL and 0.
 */
void pb_confidence_init(pb_confidence *confidence, pb_confidence_method method,
                        double population, double alpha, const pb_scaled *scaled,
                        const double *bets, int64_t n_bets, int bounded);

/*
 * Adds n values and writes both bounds after each of them. Assumed, not checked: the values
 * are in [0, 1] (finite if not bounded), and at most `population` are added in all.
 *
 * PB_CONFIDENCE_BETTING reads its history again: `history` has room for count + n values, and
 * its first `count` entries are those that earlier calls wrote. Values are played again when the
 * width has fallen by a constant factor, so a value costs O(1) while the width falls as 1/sqrt(n).
 * The other methods read a value once, and `history` may be NULL.
 *
 * The bounds do not depend on how many values are added per call.
 */
void pb_confidence_add(pb_confidence *confidence, const double *values, int64_t n,
                       pb_scaled_value *history, double *lower, double *upper);

/*
 * Returns 1 if a sequence that was restored from a saved state is consistent: its bounds follow
 * from its sums and exponents. For all methods except PB_CONFIDENCE_BETTING, whose saved state is
 * its values, to be added again. Assumed: all fields are finite except bounds of values
 * without a range; none is NaN.
 */
int pb_confidence_agrees(const pb_confidence *confidence);

#ifdef __cplusplus
}
#endif

#endif
