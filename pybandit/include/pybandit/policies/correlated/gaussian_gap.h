#ifndef PYBANDIT_GAUSSIAN_GAP_H
#define PYBANDIT_GAUSSIAN_GAP_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One round of BayesGap (Hoffman, Shahriari and de Freitas 2014, Algorithm 1). */
typedef struct {
    int64_t best, rival;  /* J and j */
    int64_t chosen;       /* the one of the two with the larger variance */
    double beta;
    double bound;         /* B of J */
} pb_gaussian_gap;

/* Returns the number of doubles that `memory` must hold. */
int64_t pb_gaussian_gap_size(int64_t n_arms);

/*
 * Runs one round on the posterior of n >= 2 arms: means, and standard deviations that are
 * `scale` times `deviations`. beta = sqrt(numerator / (4 H)), numerator >= 0, epsilon >= 0. Ties
 * go to the lowest index. O(n): two passes with one division per arm.
 */
pb_gaussian_gap pb_gaussian_gap_round(const double *means, const double *deviations, int64_t n,
                                      double numerator, double epsilon, double scale,
                                      double *memory);

#ifdef __cplusplus
}
#endif

#endif
