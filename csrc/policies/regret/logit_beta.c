/* The logit of a Beta variable: distribution and draws (pybandit/policies/regret/logit_beta.h). */
#include "pybandit/policies/regret/logit_beta.h"

#include <math.h>

pb_logit pb_logit_at(double t)
{
    const double small = exp(-fabs(t)), sum = 1.0 + small;
    const pb_logit point = {t, (t < 0.0 ? small : 1.0) / sum, (t < 0.0 ? 1.0 : small) / sum};
    return point;
}

static double stirling_series(double z)
{
    const double s = 1.0 / (z * z);
    return (1.0 / 12.0 - s * (1.0 / 360.0 - s * (1.0 / 1260.0 - s * (1.0 / 1680.0 -
            s * (1.0 / 1188.0))))) / z;
}

/* Returns log Gamma(z) minus Stirling's formula, (z - 1/2) log z - z + log(2 pi) / 2. */
static double stirling_error(double z)
{
    double shifted = z, product = 1.0;
    for (; shifted < 16.0; shifted += 1.0)
        product *= shifted;
    if (shifted == z)
        return stirling_series(z);
    return (shifted - 0.5) * log(shifted) - shifted + stirling_series(shifted) - log(product) -
           (z - 0.5) * log(z) + z;
}

/* Returns log(1 + u) - u, given above = 1 + u to full relative precision. */
static double log_less(double u, double above)
{
    return (u > -0.5 ? log1p(u) : log(above)) - u;
}

/*
 * Loader 2000: the large terms of a log x + b log y - log B(a, b) cancel analytically. The
 * relative error is then about 1e-16 (n x - a) / a instead of 1e-16 n.
 */
double pb_logit_beta_density(double a, double b, const pb_logit *point)
{
    const double n = a + b;
    const double surplus = point->x < point->y ? n * point->x - a : b - n * point->y;
    const double u = surplus / a, v = -surplus / b;
    return sqrt(a / n * b * 0.15915494309189533577) *
           exp(a * log_less(u, n / a * point->x) + b * log_less(v, n / b * point->y) +
               stirling_error(n) - stirling_error(a) - stirling_error(b));
}

/* Returns I_x(a, b) a / (x^a (1 - x)^b / B(a, b)), a continued fraction, by Lentz's method. */
static double fraction(double a, double b, double x)
{
    double c = 1.0, d = 1.0 / (1.0 - (a + b) * x / (a + 1.0)), value = d;
    for (double m = 1.0; m < 1e7; m += 1.0) {
        const double even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 / (1.0 + even * d);
        c = 1.0 + even / c;
        value *= c * d;
        const double odd =
            -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 / (1.0 + odd * d);
        c = 1.0 + odd / c;
        value *= c * d;
        if (fabs(c * d - 1.0) < 4e-16)
            break;
    }
    return value;
}

double pb_logit_beta_below(double a, double b, const pb_logit *point, double density)
{
    if (density == 0.0)
        return (a + b) * point->x > a ? 1.0 : 0.0;
    if ((a + b + 2.0) * point->x < a + 1.0)
        return fmin(1.0, density / a * fraction(a, b, point->x));
    return fmax(0.0, 1.0 - density / b * fraction(b, a, point->y));
}

void pb_logit_beta_moments(double a, double b, double *mean, double *variance)
{
    /* digamma and trigamma of a and b, from approximations at a + 1 and b + 1 */
    const double above_a = a + 1.0, above_b = b + 1.0;
    *mean = log(above_a / above_b) - 0.5 / above_a + 0.5 / above_b - 1.0 / a + 1.0 / b;
    *variance = (1.0 + 0.5 / above_a) / above_a + 1.0 / (a * a) +
                (1.0 + 0.5 / above_b) / above_b + 1.0 / (b * b);
}

/*
 * Cheng 1978, algorithm BA with the squeezes of BB: proposals from a logistic distribution of
 * scale 1 / lambda about the mode, with lambda <= min(a, b) and lambda^2 <= 2 a b / (a + b).
 */
double pb_logit_beta_draw(double a, double b, pb_bitgen *bitgen)
{
    const double low = fmin(a, b), high = fmax(a, b), n = a + b;
    const double lambda = low < 1.001 ? fmin(low, 1.0) : sqrt((2.0 * a * b - n) / (n - 2.0));
    for (;;) {
        const double u = pb_bitgen_open(bitgen), z = u * u * pb_bitgen_open(bitgen);
        const double v = log(u / (1.0 - u)) / lambda;
        const double w = low * exp(v);
        const double r = (low + lambda) * v - 1.38629436111989061883; /* log 4 */
        const double s = low + r - w;
        int accepted = s + 2.60943791243410037460 >= 5.0 * z; /* 1 + log 5 */
        if (!accepted) {
            const double log_z = log(z);
            accepted = s >= log_z || r + n * log(n / (high + w)) >= log_z;
        }
        if (accepted)
            return a < b ? v + log(low / high) : -v - log(low / high);
    }
}

/*
 * Draws the distance beyond a point, given the slope of the log density, which decreases there.
 * Exponential draws from the tangent are thinned. `shape` and `share` are a and x above the
 * point, b and y below it. The second derivative is -n x y, at most `bend` in size beyond it.
 */
static double beyond(double shape, double n, double share, double slope, pb_bitgen *bitgen)
{
    const double bend = share < 0.5 ? 0.25 * n : n * share * (1.0 - share);
    for (;;) {
        const double step = -log(pb_bitgen_open(bitgen)) / slope, u = pb_bitgen_open(bitgen);
        if (u <= 1.0 - 0.5 * bend * step * step ||
            log(u) <= (shape + slope) * step - n * log1p(share * expm1(step)))
            return step;
    }
}

double pb_logit_beta_draw_beyond(double a, double b, const pb_logit *point, double density,
                                 int above, pb_bitgen *bitgen)
{
    const double n = a + b, shape = above ? a : b, share = above ? point->x : point->y;
    const double slope = n * share - shape;
    /*
     * Let P be the probability beyond the point. A draw from the tangent is accepted with
     * probability P slope / density, and a draw from the whole distribution with probability P.
     * If the latter is used, P is at least 1/8, and 1/4 for a, b > 1.
     */
    if (slope > density) {
        const double step = beyond(shape, n, share, slope, bitgen);
        return above ? point->at + step : point->at - step;
    }
    for (;;) {
        const double value = pb_logit_beta_draw(a, b, bitgen);
        if ((value > point->at) == !!above)
            return value;
    }
}
