/*
 * The posterior in weight form (pybandit/policies/correlated/gaussian.h), and updates in both
 * forms. Weight form: Carlson's update of the factor of the covariance (1973, Fast triangular
 * formulation of the square root filter), for a lower factor, columns from last to first.
 */
#include <math.h>
#include <stddef.h>

#include "pybandit/policies/correlated/gaussian.h"
#include "pybandit/policies/correlated/gaussian_rows.h"
#include "gaussian_arm.h"

enum { FEW = 16 };

/* Updates L. For the old L, sets `direction` to L L' x and returns x' L L' x + noise_variance. */
static double update_factor(double *spread, int64_t d, const double *x, double noise_variance,
                            double *direction)
{
    double total = noise_variance;
    for (int64_t j = d - 1; j >= 0; j--) {
        double *restrict column = spread + j * d;
        double *restrict sum = direction;
        double f = 0.0;
        for (int64_t i = j; i < d; i++)
            f += column[i] * x[i];
        const double before = total;
        total += f * f;
        const double shrink = sqrt(before / total), turn = f / (sqrt(before) * sqrt(total));
        sum[j] = 0.0;
        for (int64_t i = j; i < d; i++) {
            const double old = column[i];
            column[i] = old * shrink - sum[i] * turn;
            sum[i] += f * old;
        }
    }
    return total;
}

pb_gaussian_step pb_gaussian_update_weights(pb_gaussian *gaussian, int64_t arm,
                                            double reward, double noise_variance)
{
    const int64_t d = gaussian->n_features;
    double *direction = gaussian->memory;
    const double total = update_factor(gaussian->spread, d, gaussian->features + arm * d,
                                       noise_variance, direction);
    const double change = (reward - gaussian->means[arm]) / total;
    for (int64_t j = 0; j < d; j++)
        gaussian->weights[j] += direction[j] * change;
    return (pb_gaussian_step){change, 1.0 / total};
}

/* Processes FEW arms at a time, so that square roots overlap with loading the next features. */
WIDE static void update_arms(pb_gaussian *gaussian, const double *direction,
                             pb_gaussian_step step)
{
    const int64_t n = gaussian->n_arms, d = gaussian->n_features;
    const double *features = gaussian->features;
    double *restrict means = gaussian->means, *restrict variances = gaussian->variances;
    double *restrict deviations = gaussian->deviations;
    double covariances[FEW];
    for (int64_t k = 0; k < n; k += FEW) {
        const int64_t few = k + FEW < n ? FEW : n - k;
        for (int64_t i = 0; i < few; i++, features += d)
            covariances[i] = dot(features, direction, d);
        for (int64_t i = 0; i < few; i++) {
            const double covariance = covariances[i];
            means[k + i] += covariance * step.change;
            variances[k + i] = above_zero(variances[k + i] - covariance * step.share * covariance);
        }
        for (int64_t i = 0; deviations && i < few; i++)
            deviations[k + i] = sqrt(variances[k + i]);
    }
}

void pb_gaussian_update(pb_gaussian *gaussian, int64_t arm, double reward,
                        double noise_variance)
{
    if (!gaussian->features)
        pb_gaussian_rows_update(gaussian, arm, reward, noise_variance);
    else
        update_arms(gaussian, gaussian->memory,
                    pb_gaussian_update_weights(gaussian, arm, reward, noise_variance));
}

WIDE static void draw_arms(const pb_gaussian *gaussian, const double *w, double *values)
{
    const int64_t d = gaussian->n_features;
    const double *features = gaussian->features;
    for (int64_t k = 0; k < gaussian->n_arms; k++, features += d)
        values[k] = dot(features, w, d);
}

void pb_gaussian_draw(const pb_gaussian *gaussian, const double *z, double scale,
                      double *values)
{
    const int64_t d = gaussian->n_features;
    double *w = gaussian->memory + d;
    for (int64_t i = 0; i < d; i++)
        w[i] = gaussian->weights[i];
    for (int64_t j = 0; j < d; j++) {
        const double *column = gaussian->spread + j * d, step = scale * z[j];
        for (int64_t i = j; i < d; i++)
            w[i] += column[i] * step;
    }
    draw_arms(gaussian, w, values);
}
