#ifndef PYBANDIT_CIR_H
#define PYBANDIT_CIR_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A caplet on a Cox-Ingersoll-Ross rate, one path at a time:
 * r_t = r_{t-1} + (eta - kappa r_{t-1}) h + sigma sqrt(r_{t-1} h) eps_t, t = 1..n_steps,
 * which pays notional max(r_n - strike, 0), discounted by the trapezoidal rule.
 */
typedef struct {
    double eta, kappa, sigma;
    double initial;  /* r_0, above 0 */
    double step;     /* h */
    int64_t n_steps; /* at least 1 */
    double strike, notional;
} pb_cir;

/* A source of independent standard normals. */
typedef double (*pb_normal_source)(void *state);

/*
 * The discounted payoff of a path whose Brownian motion has drift `drift` a unit of
 * time: eps_t ~ N(drift sqrt(h), 1). `brownian` becomes W_T = sqrt(h) sum eps_t, of
 * which the importance weight is made. Below 0 the rate moves by eta h alone until it
 * is positive again (full truncation). O(n_steps).
 */
double pb_cir_path(const pb_cir *cir, double drift, pb_normal_source normal, void *state,
                   double *brownian);

/* The payoff times its weight exp(-drift W_T + drift^2 T / 2): its mean is the price. */
double pb_cir_weighted(const pb_cir *cir, double drift, pb_normal_source normal, void *state);

#ifdef __cplusplus
}
#endif

#endif
