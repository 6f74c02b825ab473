#ifndef PYBANDIT_GAUSSIAN_H
#define PYBANDIT_GAUSSIAN_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The joint Gaussian posterior of the means of K arms, updated with one reward at a time. A
 * reward of arm a is N(mean_a, noise_variance).
 *
 * Covariance form (`features` NULL): the prior covariance is kernel_scale * kernel, any symmetric
 * matrix. After n rewards the covariance is the prior minus the sum of v v' over n rows v, one per
 * reward. Row n + 1 takes O(n K). Once `most_rows` rows are stored, they are subtracted from
 * `spread` (lower triangle by rows, K (K + 1) / 2 numbers) and dropped, in O(most_rows K^2); rows
 * are then computed from `spread`. `most_rows` does not affect the results.
 * Weight form: mean_k = features[k] . w with a Gaussian vector w of d weights; O(K d + d^2) per
 * reward. `spread` is d x d: row j holds column j of L, which is lower triangular with a positive
 * diagonal, and L L' is the covariance of w. Entries left of the diagonal are ignored. L stays
 * valid despite rounding: an update multiplies its diagonal by numbers in (0, 1].
 *
 * Variances are never below 0. Arms with equal prior rows (or features) keep bitwise equal
 * means and variances.
 */
typedef struct {
    int64_t n_arms, n_features;
    const double *features;  /* n_arms x n_features, or NULL */
    double *means, *variances;  /* n_arms each; the caller sets those of the prior */
    double *spread;
    double *weights;  /* mean of w, n_features */
    double *memory;  /* scratch in weight form: 2 n_features */
    double *deviations;  /* NULL, or n_arms square roots of the variances, kept up to date */
    /* covariance form */
    const double *kernel;  /* n_arms x n_arms */
    double kernel_scale;
    double *rows;  /* most_rows x n_arms */
    int64_t most_rows;  /* at least 1; see pb_gaussian_rows_most; reduced once spread is used */
    int64_t n_rows;  /* rows stored; below most_rows */
    int64_t next_arm;  /* the arm whose next row is already computed; -1: none */
    int is_folded;  /* 1 if `spread` is in use */
} pb_gaussian;

/* Updates the posterior with a finite reward of an arm; noise_variance > 0. */
void pb_gaussian_update(pb_gaussian *gaussian, int64_t arm, double reward,
                        double noise_variance);

/*
 * Weight form: updates weights and spread only, O(d^2), and returns the step that remains for
 * each arm k: with c = features[k] . memory, means[k] += c change and variances[k] -= c^2 share.
 */
typedef struct {
    double change, share;
} pb_gaussian_step;

pb_gaussian_step pb_gaussian_update_weights(pb_gaussian *gaussian, int64_t arm, double reward,
                                            double noise_variance);

/*
 * Weight form: computes values[k] = features[k] . (weights + scale L z). With z n_features
 * standard normals and scale 1, this is a joint draw of all means. O(K d + d^2).
 */
void pb_gaussian_draw(const pb_gaussian *gaussian, const double *z, double scale,
                      double *values);

#ifdef __cplusplus
}
#endif

#endif
