#ifndef PYBANDIT_ANNEALING_H
#define PYBANDIT_ANNEALING_H

#include <stdint.h>

#include "pybandit/_shared/bitgen.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Annealed importance sampling of the evidence of a Bayesian logistic regression:
 * P(label = +-1) = 1 / (1 + exp(-label x.theta)), theta ~ N(0, prior_variance I).
 */
typedef struct {
    int64_t n_rows;  /* of memory: those of the data, then zeros up to a multiple of 4 */
    int64_t n_features;
    /* (n_features, n_rows): features times label, a feature's values together */
    const double *columns;
    double prior_variance, width;  /* of the first slice */
} pb_annealing;

/*
 * sum_i -log(1 + exp(-m_i)), m = margins + step column, over n rows, a multiple of 4.
 * Rows that are not of the data have margins of 64 or more and count for nothing.
 * Within 1e-13 n of exact.
 */
double pb_annealing_log_likelihood(const double *margins, const double *column, double step,
                                   int64_t n);

/* margins = columns theta of `n_data` rows, then 64. O(n_rows n_features). */
void pb_annealing_margins(const pb_annealing *annealing, int64_t n_data, const double *theta,
                          double *margins);

/*
 * The log of one unbiased estimate of Z, from a draw `theta` of the prior (n_features,
 * overwritten): n >= 1 weight factors at temperatures (i / n)^4, and n - 1 sweeps of
 * univariate slice sampling between (Neal 2003: stepping out, then shrinkage).
 * `margins` are those of theta; kept current, so that one evaluation of the
 * likelihood is O(n_rows). n_evaluations: of those, the first included.
 */
double pb_annealing_run(const pb_annealing *annealing, int64_t n, double *theta,
                        double *margins, pb_bitgen *bitgen, int64_t *n_evaluations);

#ifdef __cplusplus
}
#endif

#endif
