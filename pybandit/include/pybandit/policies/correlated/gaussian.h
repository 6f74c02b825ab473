#ifndef PYBANDIT_GAUSSIAN_H
#define PYBANDIT_GAUSSIAN_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The joint Gaussian posterior of the means of K arms, a reward at a time. A reward of
 * arm a is N(mean_a, noise_variance).
 *
 * Covariance form, `features` NULL: any prior covariance; O(K^2) a reward. `spread` is its
 * lower triangle by rows, K (K + 1) / 2 numbers.
 * Weight form: mean_k = features[k] . w, w Gaussian of d weights; O(K d + d^2) a reward.
 * `spread` is d x d: row j holds column j of L, lower triangular with a positive diagonal,
 * L L' the covariance of w; what is left of the diagonal is not looked at. L stays positive
 * whatever is rounded: an update scales its diagonal by numbers in (0, 1].
 *
 * Variances are never below 0. Arms of equal prior rows (or features) keep bitwise equal
 * means and variances.
 */
typedef struct {
    int64_t n_arms, n_features;
    const double *features;  /* n_arms x n_features, or NULL */
    double *means, *variances;  /* an arm; the caller sets those of the prior */
    double *spread;
    double *weights;  /* mean of w, n_features */
    double *memory;  /* scratch: n_arms in covariance form, 2 n_features in weight form */
    double *deviations;  /* NULL, or the roots of the variances, kept along */
} pb_gaussian;

/* A finite reward of an arm, noise_variance > 0. */
void pb_gaussian_update(pb_gaussian *gaussian, int64_t arm, double reward,
                        double noise_variance);

/*
 * Weight form: the same for weights and spread alone, O(d^2). What is left to do for an arm k:
 * with c = features[k] . memory, means[k] += c change and variances[k] -= c^2 share.
 */
typedef struct {
    double change, share;
} pb_gaussian_step;

pb_gaussian_step pb_gaussian_update_weights(pb_gaussian *gaussian, int64_t arm, double reward,
                                            double noise_variance);

/*
 * Weight form: values[k] = features[k] . (weights + scale L z), which is a draw of all the
 * means at once where z are n_features standard normals and scale is 1. O(K d + d^2).
 */
void pb_gaussian_draw(const pb_gaussian *gaussian, const double *z, double scale,
                      double *values);

#ifdef __cplusplus
}
#endif

#endif
