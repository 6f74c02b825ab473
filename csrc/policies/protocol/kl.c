/*
 * Bernoulli divergence and its inverses (pybandit/policies/protocol/kl.h).
 *
 * With w = log((1 - p) / (1 - q)) the divergence is (1 - p) w - p log(q / p): increasing
 * and convex in w, with derivative (q - p) / q, close to a parabola near 0 and to a line far
 * from it. Halley's method, started from the better of these two approximations, needs two or
 * three evaluations. A rounding error in the divergence causes one of the same relative size in
 * q, however small q - p is.
 */
#include <math.h>

#include "pybandit/policies/protocol/kl.h"

enum { MOST_STEPS = 30 };

/* Returns p log(p / q) to full precision, whether q is near p or far from it. */
static double term(double p, double q, double q_less_p)
{
    if (p == 0.0)
        return 0.0;
    return q > 0.5 * p ? -p * log1p(q_less_p / p) : -p * log(q / p);
}

double pb_kl(double p, double q)
{
    const double sum = term(p, q, q - p) + term(1.0 - p, 1.0 - q, p - q);
    return sum > 0.0 ? sum : 0.0;
}

/* Returns w for the upper bound of p, given gone = 1 - p; both must be above 0. */
static double solve(double p, double gone, double level)
{
    const double ratio = gone / p;
    const double step = sqrt(2.0 * level / ratio);
    const double skew = (1.0 + 2.0 * ratio) * step;
    double w = step + skew * step / 6.0;
    if (skew < 1e-7)
        return w;
    const double line = (level - p * log(p)) / gone;
    w = w < line ? w : line;
    for (int i = 0; i < MOST_STEPS; i++) {
        const double over = -gone * expm1(-w); /* q - p */
        const double q = p + over;
        const double excess = gone * w - p * log1p(over / p) - level;
        const double newton = excess * q / over;
        /* half the ratio of the second derivative to the first */
        const double bend = 0.5 * p * (gone - over) / (q * over);
        const double change = newton / (1.0 - newton * bend);
        w = w - change > 0.5 * w ? w - change : 0.5 * w;
        if (fabs(change) <= 1e-5 * w)
            break;
    }
    return w;
}

double pb_kl_upper(double mean, double level)
{
    const double gone = 1.0 - mean;
    if (gone <= 0.0)
        return 1.0;
    if (level <= 0.0)
        return mean;
    const double w = mean < 0x1p-1000 ? level : solve(mean, gone, level);
    const double q = mean - gone * expm1(-w);
    return q < 1.0 ? q : 1.0;
}

double pb_kl_upper_tail(double mean, double level)
{
    const double gone = 1.0 - mean;
    if (gone <= 0.0)
        return INFINITY;
    const double w = mean < 0x1p-1000 || level <= 0.0 ? level : solve(mean, gone, level);
    return w - log1p(-mean);
}

double pb_kl_lower(double mean, double level)
{
    const double gone = 1.0 - mean;
    if (mean < 0x1p-1000)
        return 0.0;
    if (level <= 0.0)
        return mean;
    const double w = gone <= 0.0 ? level : solve(gone, mean, level);
    return mean * exp(-w);
}

double pb_kl_round(double t)
{
    const double once = log(t < 3.0 ? 3.0 : t);
    return once + 3.0 * log(once);
}
