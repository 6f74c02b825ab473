#ifndef PYBANDIT_LOGIT_BETA_H
#define PYBANDIT_LOGIT_BETA_H

#include "pybandit/_shared/bitgen.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The distribution of log(theta / (1 - theta)) for theta ~ Beta(a, b). Its density
 * exp(a t) / ((1 + exp(t))^(a + b) B(a, b)) is log-concave for all a, b > 0, and values near
 * theta = 1 are as precise as values near 0. All functions require a and b in [0.1, 1e12].
 */

/* The point `at` with x = theta and y = 1 - theta, each to full relative precision. */
typedef struct {
    double at, x, y;
} pb_logit;

pb_logit pb_logit_at(double t);

/* Returns the density at a point. O(1). */
double pb_logit_beta_density(double a, double b, const pb_logit *point);

/* Returns P(logit <= point), given the density there. At most O(sqrt(a + b)), near the mean. */
double pb_logit_beta_below(double a, double b, const pb_logit *point, double density);

/* Computes mean and variance to a few per cent. O(1). */
void pb_logit_beta_moments(double a, double b, double *mean, double *variance);

/* Draws a value. At most 4 trials on average, 1.1 to 1.5 for a, b > 1. */
double pb_logit_beta_draw(double a, double b, pb_bitgen *bitgen);

/* Draws conditionally on being above the point, or not above it; `density` is that at the point. */
double pb_logit_beta_draw_beyond(double a, double b, const pb_logit *point, double density,
                                 int above, pb_bitgen *bitgen);

#ifdef __cplusplus
}
#endif

#endif
