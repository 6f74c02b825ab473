/*
 * Scores of the arms (pybandit/policies/gaussian_scores.h). A maximum over the other arms is the
 * largest of all, and for the arm that holds it the second largest.
 */
#include <math.h>

#include "pybandit/policies/gaussian_scores.h"
#include "pybandit/policies/scan.h"
#include "../_shared/wide.h"

ALWAYS_INLINE double larger(double a, double b) { return b > a ? b : a; }

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

/* (means[k] - level) / std_k, where no mean is above the level. */
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

static const double DENSITY = 0.39894228040143267794;  /* of the standard normal at 0 */

/*
 * Above E max(Z + z, 0) for z <= 0: density(z) / (1 + z^2) by the bound of Mills' ratio, and
 * exp(-q) at most one over its series' first terms. The margin is for rounding.
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
    /* exp and erfc only where the bound is not below the value of a promising arm */
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

WIDE static void intervals(const double *means, const double *deviations, int64_t n,
                           double factor, double *restrict upper, double *restrict lower)
{
    for (int64_t k = 0; k < n; k++) {
        upper[k] = means[k] + factor * deviations[k];
        lower[k] = means[k] - factor * deviations[k];
    }
}

ALWAYS_INLINE double term(double over, double under, double epsilon)
{
    const double gap = larger(epsilon, 0.5 * (larger(over, under) + epsilon));
    return 1.0 / (gap * gap);
}

WIDE static void gap_terms(const double *upper, const double *lower, int64_t n, double high,
                           double low, double epsilon, double *restrict out)
{
    for (int64_t k = 0; k < n; k++)
        out[k] = term(high - lower[k], upper[k] - low, epsilon);
}

/* H of the largest gaps that three standard deviations to either side leave. */
static double complexity(const double *upper, const double *lower, int64_t n, double epsilon,
                         double *out)
{
    const pb_two high = pb_scan_two(upper, n), low = pb_scan_two(lower, n);
    const int64_t top = pb_scan_position(upper, n, high.first, -1);
    const int64_t floor = pb_scan_position(lower, n, low.first, -1);
    gap_terms(upper, lower, n, high.first, low.first, epsilon, out);
    for (int pass = 0; pass < 2; pass++) {
        const int64_t k = pass ? floor : top;
        out[k] = term((k == top ? high.second : high.first) - lower[k],
                      upper[k] - (k == floor ? low.second : low.first), epsilon);
    }
    return pb_scan_sum(out, n);
}

pb_gaussian_gap pb_gaussian_scores_gap(const double *means, const double *variances, int64_t n,
                                       double numerator, double epsilon, double scale,
                                       double *memory)
{
    double *upper = memory, *lower = upper + n, *deviations = lower + n;
    double *bounds = deviations + n;
    pb_gaussian_gap round;
    for (int64_t k = 0; k < n; k++)
        deviations[k] = scale * sqrt(variances[k]);
    intervals(means, deviations, n, 3.0, upper, lower);
    /* the root of a tiny H, kept finite */
    round.beta = fmin(1e150, sqrt(numerator / (4.0 * complexity(upper, lower, n, epsilon,
                                                               bounds))));
    intervals(means, deviations, n, round.beta, upper, lower);
    const pb_two two = pb_scan_two(upper, n);
    const int64_t first = pb_scan_position(upper, n, two.first, -1);
    const int64_t second = pb_scan_position(upper, n, two.second, first);
    for (int64_t k = 0; k < n; k++)
        bounds[k] = two.first - lower[k];
    bounds[first] = two.second - lower[first];
    round.bound = pb_scan_least(bounds, n);
    round.best = pb_scan_position(bounds, n, round.bound, -1);
    round.rival = round.best == first ? second : first;
    const double best = deviations[round.best], rival = deviations[round.rival];
    const int rival_wins = rival > best || (rival == best && round.rival < round.best);
    round.chosen = rival_wins ? round.rival : round.best;
    return round;
}
