#ifndef PYBANDIT_B_NORMAL_H
#define PYBANDIT_B_NORMAL_H

#include <stdint.h>

#include "pybandit/_shared/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The boundary constant B of a race with several looks. At the looks, which
 * have read the fractions 0 < pi_1 < ... < pi_L < 1 of the population, the
 * standardised means z_t are a Gauss-Markov chain with corr(z_s, z_t) =
 * sqrt(tau_s / tau_t), tau = pi / (1 - pi). B solves E(B) = delta for
 *   ONE_SIDED  E(B) = P(some z_t > B)                  (Eq. 5 of Chen & Ghahramani 2016)
 *   TWO_SIDED  E(B) = P(some |z_t| > B) / 2            (their Table 1)
 *   UNION      E(B) = L P(z > B)                       (Eq. 27)
 */
typedef enum { PB_ONE_SIDED = 0, PB_TWO_SIDED = 1, PB_UNION = 2 } pb_convention;

/* Doubles of workspace that a schedule needs; the same for every boundary. */
int64_t pb_b_normal_memory(const double *fractions, int64_t n_looks);

/*
 * E(boundary), boundary >= 0, n_looks >= 1. Costs O(n_looks nodes^2), nodes
 * about 30 for doubling looks and more for closer ones and for boundaries
 * above 4. The first-crossing masses are summed, so a tail of 1e-300 keeps its
 * digits.
 */
double pb_b_normal_error(double boundary, const double *fractions, int64_t n_looks,
                         pb_convention convention, double *workspace);

/* The B with E(B) = delta, 0 < delta < 1/2. PB_NO_SOLUTION outside of that. */
pb_status pb_b_normal_solve(double delta, const double *fractions, int64_t n_looks,
                            pb_convention convention, double *workspace, double *boundary);

#ifdef __cplusplus
}
#endif

#endif
