/*
 * Evidence of Gaussian rewards (pybandit/policies/stopping/glr_gaussian.h).
 *
 * Mixed over a half-normal distribution of standard deviation s above the true mean, the
 * likelihood ratio of n rewards whose mean is d above the true one is
 *     2 Phi(y) exp(y^2 / 2) / sqrt(1 + s^2 n),   y = n s d / sqrt(1 + s^2 n).
 */
#include "pybandit/policies/stopping/glr_gaussian.h"

#include "convex.h"

static const double widths[PB_WIDTHS] = {0x1p1, 0x1p-1, 0x1p-3, 0x1p-5, 0x1p-7};
static const double weights[PB_WIDTHS] = {0.25, 0.25, 0.25, 0.125, 0.125};

#define MOST 1e100 /* largest gap; its square does not overflow */
#define SQRT_HALF 0.70710678118654752440
#define DENSITY 0.79788456080286535588 /* of a half-normal distribution at 0 */

/* Returns 2 Phi(y) exp(y^2 / 2) for y <= 0, and its derivative, whose terms cancel for y << 0. */
static double tail(double y, double *slope)
{
    if (y > -36.0) {
        const double value = erfc(-SQRT_HALF * y) * exp(0.5 * y * y);
        *slope = fmax(y * value + DENSITY, 0.0);
        return value;
    }
    const double z = 1.0 / (y * y), rest = 1.0 - z * (3.0 - z * (15.0 - z * 105.0));
    *slope = DENSITY * z * rest;
    return -DENSITY / y * (1.0 - z * rest);
}

double pb_glr_gaussian_evidence(double n, double d, double *slope)
{
    double largest = 0.0, sum = 0.0, change = 0.0;
    for (int j = 0; j < PB_WIDTHS; j++) {
        const double rate = n * widths[j] / sqrt(1.0 + widths[j] * widths[j] * n), y = rate * d;
        if (j == 0 && y > 0.0)  /* the widest component has the largest y */
            largest = 0.5 * y * y;
        const double scale = exp(-largest), power = exp(0.5 * y * y - largest);
        double rise = 0.0;
        const double value = y <= 0.0 ? tail(y, &rise)
                                      : power * (y > 9.0 ? 2.0 : erfc(-SQRT_HALF * y));
        if (y > 0.0)
            rise = y * value + DENSITY * scale;
        const double weight = weights[j] * rate / (n * widths[j]);
        sum += weight * value;
        change += weight * rate * rise;
    }
    *slope = change / sum;
    return largest + log(sum);
}

/* Two arms; the mean of the first is `gap` above that of the second. */
typedef struct {
    double n_a, n_b, gap;
} arms;

static pb_tangent at(const void *function, double x)
{
    const arms *two = function;
    double above, below;
    pb_tangent t = {x, pb_glr_gaussian_evidence(two->n_a, two->gap - x, &above), 0.0};
    t.value += pb_glr_gaussian_evidence(two->n_b, x, &below);
    t.slope = below - above;
    return t;
}

double pb_glr_gaussian_least(double n_a, double n_b, double gap, double enough)
{
    const arms two = {n_a, n_b, fmin(gap, MOST)};
    const pb_tangent here = at(&two, n_a * two.gap / (n_a + n_b));
    if (here.value <= enough)
        return here.value;
    /* usually between the two means; beyond one of them if the other arm has far more rewards */
    const double step = fabs(two.gap) + 1.0 / sqrt(n_a + n_b);
    pb_tangent low = here, high = here;
    for (double move = step; low.slope > 0.0; move *= 2.0)
        low = at(&two, here.x - move);
    for (double move = step; high.slope < 0.0; move *= 2.0)
        high = at(&two, here.x + move);
    return pb_convex_least(at, &two, low, high, here, enough);
}
