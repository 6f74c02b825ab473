#ifndef PYBANDIT_CIR_H
#define PYBANDIT_CIR_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A caplet on a Cox-Ingersoll-Ross rate, simulated path by path:
 * r_t = r_{t-1} + (eta - kappa r_{t-1}) h + sigma sqrt(r_{t-1} h) eps_t, t = 1..n_steps.
 * It pays notional max(r_n - strike, 0), discounted by the trapezoidal rule.
 */
typedef struct {
    double eta, kappa, sigma;
    double initial;  /* r_0, above 0 */
    double step;     /* h */
    int64_t n_steps; /* at least 1 */
    double strike, notional;
} pb_cir;

/* Returns a standard normal number, independent of the previous ones. */
typedef double (*pb_normal_source)(void *state);

/*
 * Returns the discounted payoff of a path whose Brownian motion has drift `drift` per unit of
 * time: eps_t ~ N(drift sqrt(h), 1). Sets *brownian to W_T = sqrt(h) sum eps_t, from which the
 * importance weight is computed. While the rate is below 0, it changes by eta h per step only
 * (full truncation). O(n_steps).
 */
double pb_cir_path(const pb_cir *cir, double drift, pb_normal_source normal, void *state,
                   double *brownian);

/* Returns the payoff times its weight exp(-drift W_T + drift^2 T / 2); its mean is the price. */
double pb_cir_weighted(const pb_cir *cir, double drift, pb_normal_source normal, void *state);

#ifdef __cplusplus
}
#endif

#endif
