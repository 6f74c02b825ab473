#ifndef PYBANDIT_CONFIDENCE_H
#define PYBANDIT_CONFIDENCE_H

#include <stdint.h>

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

enum { PB_CONFIDENCE_BETS = 64 }; /* maximum number of bets */

/* A sequence. It uses no other memory, so a copy is a snapshot. */
typedef struct {
    pb_confidence_method method;
    int64_t n_bets;
    int bounded;      /* asymptotic: 1 if the values are known to be in [0, 1] */
    double size;      /* N; 1 if values are independent */
    double drained;   /* 1 if a value leaves the population when it is read, else 0 */
    double alpha, level; /* level: log of 2 / alpha */
    double bets[PB_CONFIDENCE_BETS]; /* 0 from index n_bets on */

    int64_t count;
    double lower, upper; /* bounds after the last value */
    double sum[2];       /* sum of the values of each side */
    double bound[2];     /* running bound of each side */
    double candidate[2]; /* betting: mean that is tested next; infinite if there is none */
    double capital[2][PB_CONFIDENCE_BETS]; /* betting: wealth against the candidate */
    double gain[PB_CONFIDENCE_BETS];  /* exponential forms: the log wealth of a bet against */
    double clock[PB_CONFIDENCE_BETS]; /* mu is gain - mu clock - cost */
    double cost[PB_CONFIDENCE_BETS];
    double mean, square; /* asymptotic: mean, and sum of squares about it */

    /* exponential forms: the last evaluation of a side's wealth at its bound */
    int is_known[2];     /* 1 if there was one */
    double known[2];     /* log of the mean wealth */
    double exponent[2][PB_CONFIDENCE_BETS]; /* log wealth of each bet */
    double share[2][PB_CONFIDENCE_BETS];    /* wealth of each bet divided by the sum */
    double price[PB_CONFIDENCE_BETS];       /* Bernstein: psi of each bet without a tilt */
} pb_confidence;

/*
 * Starts a sequence. Assumed, not checked: population >= 1, infinite if values are
 * independent; 0 < alpha < 1; 1 <= n_bets <= PB_CONFIDENCE_BETS; bets positive and
 * increasing, and below 1 for PB_CONFIDENCE_BERNSTEIN.
 */
void pb_confidence_init(pb_confidence *confidence, pb_confidence_method method,
                        double population, double alpha, const double *bets, int64_t n_bets,
                        int bounded);

/*
 * Adds n values and writes both bounds after each of them. Assumed, not checked: the values
 * are in [0, 1] (finite if not bounded), and at most `population` are added in all.
 *
 * PB_CONFIDENCE_BETTING reads its history again: values[-count] .. values[-1] must be the
 * earlier values. Sixteen bets against one value take 4 ns, or 1.5 ns for the fewer bets that
 * still have wealth. All values so far are played again whenever the width has shrunk by 1/256,
 * in total 128 n values while the width falls as 1/sqrt(n). The other methods read a value once.
 *
 * The bounds do not depend on how many values are added per call.
 */
void pb_confidence_add(pb_confidence *confidence, const double *values, int64_t n,
                       double *lower, double *upper);

/*
 * Returns 1 if a sequence that was restored from a saved state is consistent: its sums and
 * bounds follow from `values`, its `count` earlier values (betting), or from its sums and
 * exponents (the other methods). Assumed: all fields are finite except candidates, and
 * bounds of values without a range; none is NaN. Betting plays its values four times.
 */
int pb_confidence_agrees(const pb_confidence *confidence, const double *values);

#ifdef __cplusplus
}
#endif

#endif
