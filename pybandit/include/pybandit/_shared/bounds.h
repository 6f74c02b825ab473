#ifndef PYBANDIT_BOUNDS_H
#define PYBANDIT_BOUNDS_H

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Half-widths of confidence bounds on the mean of a finite population, from n values drawn
 * without replacement. Assumed, not checked: 1 <= n <= population, std >= 0,
 * value_range >= 0, 0 < delta < 1. All are 0 if n = population.
 */

/* Returns std/sqrt(n) sqrt(1 - (n-1)/(population-1)) boundary: Chen & Ghahramani 2016, Eq. 9. */
double pb_bounds_normal(double n, double population, double std, double boundary);

/*
 * The empirical Bernstein-Serfling bound of Bardenet & Maillard (Eq. 6) is
 * std * scale + value_range * slack. The first function writes the two coefficients, the
 * second returns the bound.
 */
void pb_bounds_bernstein_serfling_terms(double n, double population, double delta,
                                        double *scale, double *slack);
double pb_bounds_bernstein_serfling(double n, double population, double std,
                                    double value_range, double delta);

/* Returns the standard normal upper tail P(Z > z); its inverse requires 0 < p < 1. */
double pb_bounds_normal_tail(double z);
double pb_bounds_normal_tail_inverse(double p);

#ifdef __cplusplus
}
#endif

#endif
