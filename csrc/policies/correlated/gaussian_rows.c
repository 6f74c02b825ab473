/*
 * The posterior in covariance form (pybandit/policies/correlated/gaussian_rows.h). For a reward of arm
 * a the covariance S becomes S - v v' with v = S_a / sqrt(S_aa + noise_variance), where S_a is
 * row a. Only the variances are updated at once; S_a itself is the prior's row minus v_a v of each
 * earlier reward. These products are subtracted in the order of the rewards, now or in `fold`, so
 * the results do not depend on when that happens. S_ij and S_ji use the same product, so equal
 * arms stay equal.
 */
#include <math.h>

#include "pybandit/policies/correlated/gaussian_rows.h"
#include "gaussian_arm.h"

enum { FEW_ROWS = 4, SHORT = 64, TILE = 256 };

int64_t pb_gaussian_rows_most(int64_t n_arms, int is_folded)
{
    const int64_t share = is_folded ? n_arms / 8 : n_arms / 2;
    const int64_t most = is_folded && share > SHORT ? SHORT : share;
    return most > FEW_ROWS ? most : FEW_ROWS;
}

/* Subtracts from each out[j] the products of v[arm] and v[first + j] over all stored rows v. */
WIDE static void subtract(const pb_gaussian *gaussian, int64_t arm, int64_t first, int64_t size,
                          double *restrict out)
{
    const int64_t n = gaussian->n_arms;
    const double *v = gaussian->rows;
    int64_t s = 0;
    for (; s + 4 <= gaussian->n_rows; s += 4, v += 4 * n) {
        const double *a = v + first, *b = a + n, *c = b + n, *d = c + n;
        const double va = v[arm], vb = v[n + arm], vc = v[2 * n + arm], vd = v[3 * n + arm];
        for (int64_t j = 0; j < size; j++)
            out[j] = (((out[j] - va * a[j]) - vb * b[j]) - vc * c[j]) - vd * d[j];
    }
    for (; s < gaussian->n_rows; s++, v += n) {
        const double *a = v + first, va = v[arm];
        for (int64_t j = 0; j < size; j++)
            out[j] -= va * a[j];
    }
}

WIDE static void prior_row(const pb_gaussian *gaussian, int64_t arm, int64_t first, int64_t size,
                           double *restrict out)
{
    const double *row = gaussian->kernel + arm * gaussian->n_arms + first;
    const double scale = gaussian->kernel_scale;
    for (int64_t j = 0; j < size; j++)
        out[j] = scale * row[j];
}

/* Copies row `arm` of the covariance before the stored rows. */
static void start_row(const pb_gaussian *gaussian, int64_t arm, double *restrict out)
{
    const double *row = gaussian->spread + arm * (arm + 1) / 2;
    if (!gaussian->is_folded) {
        prior_row(gaussian, arm, 0, gaussian->n_arms, out);
        return;
    }
    for (int64_t j = 0; j < arm; j++)
        out[j] = row[j];
    for (int64_t j = arm; j < gaussian->n_arms; row += ++j)
        out[j] = row[arm];
}

/* Divides a row of the covariance by root; returns the least variance minus the square. */
WIDE static double divide(double *restrict row, const double *variances, int64_t n, double root)
{
    double least[LANES] = {INFINITY, INFINITY, INFINITY, INFINITY};
    int64_t j = 0;
    for (; j + LANES <= n; j += LANES)
        for (int i = 0; i < LANES; i++) {
            row[j + i] /= root;
            least[i] = smaller(least[i], variances[j + i] - row[j + i] * row[j + i]);
        }
    for (; j < n; j++) {
        row[j] /= root;
        least[0] = smaller(least[0], variances[j] - row[j] * row[j]);
    }
    return smaller(smaller(least[0], least[1]), smaller(least[2], least[3]));
}

double pb_gaussian_rows_next(pb_gaussian *gaussian, int64_t arm, double noise_variance)
{
    const int64_t n = gaussian->n_arms;
    double *row = gaussian->rows + gaussian->n_rows * n;
    start_row(gaussian, arm, row);
    subtract(gaussian, arm, 0, n, row);
    row[arm] = gaussian->variances[arm];  /* never below 0 */
    gaussian->next_arm = arm;
    return divide(row, gaussian->variances, n, sqrt(row[arm] + noise_variance));
}

/* Subtracts the stored rows from `spread`, one tile of columns at a time. */
static void fold(pb_gaussian *gaussian)
{
    const int64_t n = gaussian->n_arms;
    for (int64_t first = 0; first < n; first += TILE)
        for (int64_t i = first; i < n; i++) {
            double *row = gaussian->spread + i * (i + 1) / 2 + first;
            const int64_t size = i - first + 1 < TILE ? i - first + 1 : TILE;
            if (!gaussian->is_folded)
                prior_row(gaussian, i, first, size, row);
            subtract(gaussian, i, first, size, row);
        }
    for (int64_t i = 0; i < n; i++)
        gaussian->spread[i * (i + 3) / 2] = gaussian->variances[i];
    gaussian->is_folded = 1;
    gaussian->n_rows = 0;
    if (gaussian->most_rows > pb_gaussian_rows_most(n, 1))
        gaussian->most_rows = pb_gaussian_rows_most(n, 1);
}

WIDE static void update_arms(pb_gaussian *gaussian, const double *v, double change)
{
    const int64_t n = gaussian->n_arms;
    double *restrict means = gaussian->means, *restrict variances = gaussian->variances;
    double *restrict deviations = gaussian->deviations;
    for (int64_t i = 0; i < n; i++) {
        means[i] += v[i] * change;
        variances[i] = above_zero(variances[i] - v[i] * v[i]);
    }
    for (int64_t i = 0; deviations && i < n; i++)
        deviations[i] = sqrt(variances[i]);
}

void pb_gaussian_rows_update(pb_gaussian *gaussian, int64_t arm, double reward,
                             double noise_variance)
{
    const double root = sqrt(gaussian->variances[arm] + noise_variance);
    const double change = (reward - gaussian->means[arm]) / root;
    if (gaussian->next_arm != arm)
        pb_gaussian_rows_next(gaussian, arm, noise_variance);
    update_arms(gaussian, gaussian->rows + gaussian->n_rows * gaussian->n_arms, change);
    gaussian->next_arm = -1;
    if (++gaussian->n_rows == gaussian->most_rows)
        fold(gaussian);
}
