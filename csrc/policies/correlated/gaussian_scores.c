/*
 * Scores of the arms (pybandit/policies/correlated/gaussian_scores.h).
 */
#include <math.h>

#include "pybandit/policies/correlated/gaussian_scores.h"
#include "pybandit/policies/protocol/scan.h"
#include "../../_shared/wide.h"

WIDE static void uppers(const double *means, const double *variances, int64_t n, double factor,
                        double *restrict out)
{
    for (int64_t k = 0; k < n; k++)
        out[k] = means[k] + factor * sqrt(variances[k]);
}

int64_t pb_gaussian_scores_upper(const double *means, const double *variances, int64_t n,
                                 double factor, double *out)
{
    uppers(means, variances, n, factor, out);
    return pb_scan_position(out, n, pb_scan_largest(out, n), -1);
}

/* Computes (means[k] - level) / std_k; no mean is above the level. */
WIDE static void distances(const double *means, const double *variances, int64_t n,
                           double level, double scale, double *restrict out)
{
    for (int64_t k = 0; k < n; k++) {
        const double std = scale * sqrt(variances[k]);
        const double distance = (means[k] - level) / std;
        out[k] = std > 0.0 ? distance : -INFINITY;
    }
}

int64_t pb_gaussian_scores_probable(const double *means, const double *variances, int64_t n,
                                    double xi, double scale, double *out)
{
    distances(means, variances, n, pb_scan_largest(means, n) + xi, scale, out);
    return pb_scan_position(out, n, pb_scan_largest(out, n), -1);
}

static const double DENSITY = 0.39894228040143267794;  /* density of the standard normal at 0 */

/*
 * Upper bounds of E max(Z + z, 0) for z <= 0: density(z) / (1 + z^2), from the bound of Mills'
 * ratio, with exp(-q) at most 1 / (first terms of the series of exp(q)). The factor 1 + 1e-9
 * covers rounding.
 */
WIDE static void bound_expected(const double *variances, const double *distances, int64_t n,
                                double scale, double *restrict out)
{
    for (int64_t k = 0; k < n; k++) {
        const double z = larger(-1e9, distances[k]), q = 0.5 * z * z;
        const double series = 1.0 + q * (1.0 + q * (1.0 / 2.0 + q * (1.0 / 6.0 + q / 24.0)));
        out[k] = scale * sqrt(variances[k]) * (DENSITY * (1.0 + 1e-9))
                 / ((1.0 + 2.0 * q) * series);
    }
}

static double expected(double variance, double z, double scale)
{
    if (z < -40.0)
        return 0.0;
    const double gain = DENSITY * exp(-0.5 * z * z) + z * 0.5 * erfc(-z * 0.70710678118654752440);
    return scale * sqrt(variance) * larger(0.0, gain);
}

int64_t pb_gaussian_scores_expected(const double *means, const double *variances, int64_t n,
                                    double xi, double scale, double *memory)
{
    double *z = memory, *bounds = memory + n;
    distances(means, variances, n, pb_scan_largest(means, n) + xi, scale, z);
    bound_expected(variances, z, n, scale, bounds);
    /* evaluate exp and erfc only for arms whose bound reaches the value of a promising arm */
    int64_t best = pb_scan_position(bounds, n, pb_scan_largest(bounds, n), -1);
    double most = expected(variances[best], z[best], scale);
    for (int64_t k = pb_scan_above(bounds, n, 0, most); k < n;
         k = pb_scan_above(bounds, n, k + 1, most)) {
        const double here = expected(variances[k], z[k], scale);
        if (here > most || (here == most && k < best)) {
            most = here;
            best = k;
        }
    }
    return most > 0.0 ? best : pb_scan_position(z, n, pb_scan_largest(z, n), -1);
}
