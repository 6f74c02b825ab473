#ifndef PYBANDIT_GAUSSIAN_GAP_H
#define PYBANDIT_GAUSSIAN_GAP_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One round of BayesGap (Hoffman, Shahriari and de Freitas 2014, Algorithm 1). */
typedef struct {
    int64_t best, rival;  /* J and j */
    int64_t chosen;       /* the one of larger variance */
    double beta;
    double bound;         /* B of J */
} pb_gaussian_gap;

/* Doubles of memory. */
int64_t pb_gaussian_gap_size(int64_t n_arms);

/*
 * Of the posterior's means, and of standard deviations that are `scale` times what is given,
 * one an arm, n >= 2 of them. beta = sqrt(numerator / (4 H)), numerator >= 0,
 * epsilon >= 0. Ties to the lowest index. O(n): two passes, a division an arm.
 */
pb_gaussian_gap pb_gaussian_gap_round(const double *means, const double *deviations, int64_t n,
                                      double numerator, double epsilon, double scale,
                                      double *memory);

#ifdef __cplusplus
}
#endif

#endif
