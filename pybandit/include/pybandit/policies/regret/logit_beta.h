#ifndef PYBANDIT_LOGIT_BETA_H
#define PYBANDIT_LOGIT_BETA_H

#include "pybandit/_shared/bitgen.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * log(theta / (1 - theta)) of a theta ~ Beta(a, b). Its density
 * exp(a t) / ((1 + exp(t))^(a + b) B(a, b)) is log-concave for all a, b > 0, and it is
 * as exact next to theta = 1 as next to 0. Everywhere a and b are in [0.1, 1e12].
 */

/* The point `at` as shares: x = theta, y = 1 - theta, each with its own digits. */
typedef struct {
    double at, x, y;
} pb_logit;

pb_logit pb_logit_at(double t);

/* The density at a point. O(1). */
double pb_logit_beta_density(double a, double b, const pb_logit *point);

/* P(at most the point), given the density there. O(sqrt(a + b)) at worst, next to the mean. */
double pb_logit_beta_below(double a, double b, const pb_logit *point, double density);

/* Mean and variance, to a few per cent. O(1). */
void pb_logit_beta_moments(double a, double b, double *mean, double *variance);

/* A draw. At most 4 trials on average, 1.1 to 1.5 for a, b > 1. */
double pb_logit_beta_draw(double a, double b, pb_bitgen *bitgen);

/* A draw given that it is above the point, or at most it; `density` is that at the point. */
double pb_logit_beta_draw_beyond(double a, double b, const pb_logit *point, double density,
                                 int above, pb_bitgen *bitgen);

#ifdef __cplusplus
}
#endif

#endif
