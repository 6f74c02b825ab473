#ifndef PYBANDIT_ANNEALING_H
#define PYBANDIT_ANNEALING_H

#include <stdint.h>

#include "pybandit/_shared/bitgen.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Estimation of the evidence of a Bayesian logistic regression by annealed importance sampling:
 * P(label = +-1) = 1 / (1 + exp(-label x.theta)), theta ~ N(0, prior_variance I).
 */
typedef struct {
    int64_t n_rows;  /* number of data rows, rounded up to a multiple of 4; padding is 0 */
    int64_t n_features;
    /* (n_features, n_rows): features times label; the values of a feature are contiguous */
    const double *columns;
    double prior_variance, width;  /* width of the first slice */
} pb_annealing;

/*
 * Returns sum_i -log(1 + exp(-m_i)), m = margins + step column, over n rows, a multiple of 4.
 * Padding rows must have margins of at least 64, so that they add nothing. The error is at most
 * 1e-13 n.
 */
double pb_annealing_log_likelihood(const double *margins, const double *column, double step,
                                   int64_t n);

/* Writes the margins of theta: columns'theta for `n_data` rows, then 64. O(n_rows n_features). */
void pb_annealing_margins(const pb_annealing *annealing, int64_t n_data, const double *theta,
                          double *margins);

/*
 * Returns the log of an unbiased estimate of the evidence. `theta` is a draw from the prior
 * (n_features, overwritten). There are n >= 1 weight factors at temperatures (i / n)^4, and
 * n - 1 sweeps of univariate slice sampling between them (Neal 2003: stepping out, then
 * shrinkage). `margins` must be those of theta; they are updated, so that an evaluation of the
 * likelihood is O(n_rows). *n_evaluations is set to the number of evaluations, the first included.
 */
double pb_annealing_run(const pb_annealing *annealing, int64_t n, double *theta,
                        double *margins, pb_bitgen *bitgen, int64_t *n_evaluations);

#ifdef __cplusplus
}
#endif

#endif
