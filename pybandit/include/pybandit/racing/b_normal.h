#ifndef PYBANDIT_B_NORMAL_H
#define PYBANDIT_B_NORMAL_H

#include <stdint.h>

#include "pybandit/_shared/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Boundary constant B of a race with several looks. Look t has read the fraction pi_t
 * of the population, with 0 < pi_1 < ... < pi_L < 1. The standardised means z_t are a
 * Gauss-Markov chain with corr(z_s, z_t) = sqrt(tau_s / tau_t) for s < t, where
 * tau = pi / (1 - pi). B solves E(B) = delta, where E is, by convention,
 *   ONE_SIDED  E(B) = P(some z_t > B)                  (Eq. 5 of Chen & Ghahramani 2016)
 *   TWO_SIDED  E(B) = P(some |z_t| > B) / 2            (their Table 1)
 *   UNION      E(B) = L P(z > B)                       (Eq. 27)
 */
typedef enum { PB_ONE_SIDED = 0, PB_TWO_SIDED = 1, PB_UNION = 2 } pb_convention;

/* Returns the workspace that these looks need, in doubles; the same for every boundary. */
int64_t pb_b_normal_memory(const double *fractions, int64_t n_looks);

/*
 * Returns E(boundary). Requires boundary >= 0 and n_looks >= 1. O(n_looks nodes^2), with
 * about 30 nodes if the looks double, and more for closer looks or a boundary above 4.
 * The result is a sum of positive first-crossing probabilities, so even a value of
 * 1e-300 is accurate.
 */
double pb_b_normal_error(double boundary, const double *fractions, int64_t n_looks,
                         pb_convention convention, double *workspace);

/* Solves E(B) = delta for B. Returns PB_NO_SOLUTION unless 0 < delta < 1/2. */
pb_status pb_b_normal_solve(double delta, const double *fractions, int64_t n_looks,
                            pb_convention convention, double *workspace, double *boundary);

#ifdef __cplusplus
}
#endif

#endif
