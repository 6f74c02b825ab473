#ifndef PYBANDIT_GLR_H
#define PYBANDIT_GLR_H

#include <stdint.h>

#include "pybandit/policies/stopping/glr_unknown.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Generalised likelihood ratios, which decide whether arm a is better than arm b. The ratio is
 *     Z(a, b) = min over u <= v of N_a d(mean_a, u) + N_b d(mean_b, v),
 * where u and v are means of a and b, and d is the divergence of two distributions of the
 * family. At the minimum u and v both equal the mean of all rewards of the two arms. Z is 0 if
 * mean_b >= mean_a.
 */
typedef enum {
    PB_GLR_GAUSSIAN,   /* d(p, q) = precision (p - q)^2, precision = 1 / (2 variance) */
    PB_GLR_BERNOULLI,  /* means in [0, 1] */
    PB_GLR_POISSON,    /* means >= 0 */
    PB_GLR_UNKNOWN     /* Gaussian, each arm with its own unknown variance; see glr_unknown.h */
} pb_glr_law;

typedef struct {
    pb_glr_law law;
    double precision;  /* Gaussian rewards only */
    double epsilon;    /* tolerance of a worse answer, for the two Gaussian laws; otherwise 0 */
    int is_proven;     /* selects the threshold, see pb_glr_margin */
    double level;      /* the constant part of the threshold */
} pb_glr;

/* Returns d(p, q); INFINITY if q excludes an outcome that p allows. Not for PB_GLR_UNKNOWN. */
double pb_glr_divergence(const pb_glr *glr, double p, double q);

/* Returns the derivative of d(p, q) in q. Not for PB_GLR_UNKNOWN. */
double pb_glr_slope(const pb_glr *glr, double p, double q);

/* Returns N d(mean, q), the evidence of an arm's rewards against the mean q. */
double pb_glr_cost(const pb_glr *glr, const pb_glr_arm *arm, double q);

/* Returns the minimising u of Z(a, b), for mean_a + epsilon above mean_b; v is u + epsilon. */
double pb_glr_meeting(const pb_glr *glr, const pb_glr_arm *a, const pb_glr_arm *b);

/* Returns Z(a, b); with epsilon, the minimum is over v >= u + epsilon. */
double pb_glr_statistic(const pb_glr *glr, const pb_glr_arm *a, const pb_glr_arm *b);

/*
 * Returns Z minus the threshold after t pulls of all arms; a is declared better than b if the
 * margin is above 0. The thresholds:
 *     heuristic:  level + log(1 + log t)
 *     Gaussian:   level, with pb_glr_gaussian_least instead of Z
 *     Bernoulli:  level + log(4 n_a) / 2 + log(4 n_b) / 2
 *     Poisson:    level + 3 log(1 + log n_a) + 3 log(1 + log n_b)
 *     unknown:    level + log(1 + n_a) / 2 + log(1 + n_b) / 2 + pb_glr_unknown_excess;
 *                 the margin is -INFINITY if all rewards of an arm are equal
 */
double pb_glr_margin(const pb_glr *glr, const pb_glr_arm *a, const pb_glr_arm *b, double t);

/* Returns 1 if pb_glr_margin is above 0, often without computing it. */
int pb_glr_tell(const pb_glr *glr, const pb_glr_arm *a, const pb_glr_arm *b, double t);

/*
 * Returns the threshold that z = N d(mean, m) of one arm must exceed to exclude the mean m: as
 * above with the terms of one n, but (1 + 1 / n) (level + log(1 + n) / 2) for Gaussian rewards.
 */
double pb_glr_single(const pb_glr *glr, double n, double z);

/* A standard deviation of at most PB_GLR_ROUNDING |mean| counts as rounding error. */
#define PB_GLR_ROUNDING 4e-15

/* Returns an arm's statistics from its count > 0, sum and sum of squared deviations. */
static inline pb_glr_arm pb_glr_arm_of(int64_t pulls, double sum, double deviations)
{
    pb_glr_arm arm;
    arm.n = (double)pulls;
    arm.mean = sum / arm.n;
    /* rounding leaves a small variance if all rewards are equal */
    arm.variance = deviations / arm.n;
    if (!(arm.variance > PB_GLR_ROUNDING * PB_GLR_ROUNDING * arm.mean * arm.mean))
        arm.variance = 0.0;
    return arm;
}

/*
 * Returns an arm that `best` is not yet declared better than, or -1 if there is none: `doubt`
 * if it is such an arm, else the lowest. An arm without pulls counts as one. Usually O(1) if
 * `doubt` is the previous result.
 */
int64_t pb_glr_doubt(const pb_glr *glr, const int64_t *pulls, const double *sums,
                     const double *deviations, int64_t n_arms, int64_t best, int64_t doubt,
                     double t);

#ifdef __cplusplus
}
#endif

#endif
