#ifndef PYBANDIT_GLR_UNKNOWN_H
#define PYBANDIT_GLR_UNKNOWN_H

#ifdef __cplusplus
extern "C" {
#endif

/* What is known of an arm. */
typedef struct {
    double n;          /* rewards, at least 1 */
    double mean;
    double variance;   /* of these n about their mean, over n; of unknown variance only */
} pb_glr_arm;

/*
 * Of unknown variance: N d(mean, q) is N log(1 + (mean - q)^2 / variance) / 2. The likelihood of
 * the rewards, over all scales and a normal law of means, over that of the true mean q and all
 * scales (Lai 1976) is exp(z - log(1 + N) / 2 - excess), z = N d(mean, q) and
 *     excess = N log((N + exp(2 z / N)) / (N + 1)) / 2.
 */
double pb_glr_unknown_cost(const pb_glr_arm *arm, double q);
double pb_glr_unknown_meeting(const pb_glr_arm *a, const pb_glr_arm *b, double epsilon);
double pb_glr_unknown_statistic(const pb_glr_arm *a, const pb_glr_arm *b, double epsilon);
double pb_glr_unknown_excess(double n, double z);

#ifdef __cplusplus
}
#endif

#endif
