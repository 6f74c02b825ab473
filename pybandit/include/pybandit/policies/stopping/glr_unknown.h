#ifndef PYBANDIT_GLR_UNKNOWN_H
#define PYBANDIT_GLR_UNKNOWN_H

#ifdef __cplusplus
extern "C" {
#endif

/* Statistics of one arm. */
typedef struct {
    double n;          /* number of rewards, at least 1 */
    double mean;
    double variance;   /* squared deviations about the mean, over n; for unknown variances only */
} pb_glr_arm;

/*
 * Gaussian rewards of unknown variance: N d(mean, q) is N log(1 + (mean - q)^2 / variance) / 2.
 * The likelihood of the rewards, mixed over all scales and a normal distribution of means, over
 * that of the true mean q mixed over all scales (Lai 1976) is
 * exp(z - log(1 + N) / 2 - excess), with z = N d(mean, q) and
 *     excess = N log((N + exp(2 z / N)) / (N + 1)) / 2.
 * The functions correspond to pb_glr_cost, pb_glr_meeting and pb_glr_statistic.
 */
double pb_glr_unknown_cost(const pb_glr_arm *arm, double q);
double pb_glr_unknown_meeting(const pb_glr_arm *a, const pb_glr_arm *b, double epsilon);
double pb_glr_unknown_statistic(const pb_glr_arm *a, const pb_glr_arm *b, double epsilon);
double pb_glr_unknown_excess(double n, double z);

#ifdef __cplusplus
}
#endif

#endif
