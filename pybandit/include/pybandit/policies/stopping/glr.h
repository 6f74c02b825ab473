#ifndef PYBANDIT_GLR_H
#define PYBANDIT_GLR_H

#include <stdint.h>

#include "pybandit/policies/stopping/glr_unknown.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Is arm a the best? The generalised likelihood ratio of its answer against "b is better",
 *     Z(a, b) = min over u <= v of N_a d(mean_a, u) + N_b d(mean_b, v),
 * u the mean of a, v that of b, d the divergence of two laws of the family. Both are at the
 * mean of all rewards of the two arms where they meet, and Z is 0 where mean_b >= mean_a.
 */
typedef enum {
    PB_GLR_GAUSSIAN,   /* d(p, q) = precision (p - q)^2, precision = 1 / (2 variance) */
    PB_GLR_BERNOULLI,  /* means in [0, 1] */
    PB_GLR_POISSON,    /* means >= 0 */
    PB_GLR_UNKNOWN     /* Gaussian of unknown variance, each arm its own; see pb_glr_unknown_* */
} pb_glr_law;

typedef struct {
    pb_glr_law law;
    double precision;  /* of Gaussian rewards */
    double epsilon;    /* Gaussian, both: an answer may be worse by as much; else 0 */
    int is_proven;     /* the threshold, see pb_glr_threshold */
    double level;      /* its part that does not grow */
} pb_glr;

/* The divergence of means p and q; INFINITY where q excludes what p allows. Not of unknown laws. */
double pb_glr_divergence(const pb_glr *glr, double p, double q);

/* Its derivative in q. */
double pb_glr_slope(const pb_glr *glr, double p, double q);

/* N d(mean, q), what rewards say against the mean q. */
double pb_glr_cost(const pb_glr *glr, const pb_glr_arm *arm, double q);

/* The mean u of a in Z(a, b), a's mean plus epsilon above b's; v is epsilon above it. */
double pb_glr_meeting(const pb_glr *glr, const pb_glr_arm *a, const pb_glr_arm *b);

/* Z(a, b); with epsilon, against v >= u + epsilon. */
double pb_glr_statistic(const pb_glr *glr, const pb_glr_arm *a, const pb_glr_arm *b);

/*
 * Z - threshold, where above 0 arm a is told from b; t pulls of all. The thresholds:
 *     heuristic:  level + log(1 + log t)
 *     Gaussian:   level, and pb_glr_gaussian_least instead of Z
 *     Bernoulli:  level + log(4 n_a) / 2 + log(4 n_b) / 2
 *     Poisson:    level + 3 log(1 + log n_a) + 3 log(1 + log n_b)
 *     unknown:    level + log(1 + n_a) / 2 + log(1 + n_b) / 2 + pb_glr_unknown_excess;
 *                 -INFINITY where all rewards of an arm are equal
 */
double pb_glr_margin(const pb_glr *glr, const pb_glr_arm *a, const pb_glr_arm *b, double t);

/* Whether arm a is told from b: the margin is above 0, which it need not be known for. */
int pb_glr_tell(const pb_glr *glr, const pb_glr_arm *a, const pb_glr_arm *b, double t);

/*
 * What z = N d(mean, m) of one arm has to exceed to exclude its mean m: as above, of one n; of
 * Gaussian rewards (1 + 1 / n) (level + log(1 + n) / 2).
 */
double pb_glr_single(const pb_glr *glr, double n, double z);

/* Standard deviations of at most so many means are rounding. */
#define PB_GLR_ROUNDING 4e-15

/* The arm of its rewards' count, sum and squared deviations; count > 0. */
static inline pb_glr_arm pb_glr_arm_of(int64_t pulls, double sum, double deviations)
{
    pb_glr_arm arm;
    arm.n = (double)pulls;
    arm.mean = sum / arm.n;
    /* of rewards that are all equal rounding leaves some */
    arm.variance = deviations / arm.n;
    if (!(arm.variance > PB_GLR_ROUNDING * PB_GLR_ROUNDING * arm.mean * arm.mean))
        arm.variance = 0.0;
    return arm;
}

/*
 * An arm that `best` is not told from, or -1 where there is none: `doubt`, if it is one, else
 * the lowest. An arm without pulls is one. O(1) mostly, where `doubt` is what was found before.
 */
int64_t pb_glr_doubt(const pb_glr *glr, const int64_t *pulls, const double *sums,
                     const double *deviations, int64_t n_arms, int64_t best, int64_t doubt,
                     double t);

#ifdef __cplusplus
}
#endif

#endif
