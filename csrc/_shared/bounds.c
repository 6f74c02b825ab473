#include "pybandit/_shared/bounds.h"

#include <math.h>

double pb_bounds_normal(double n, double population, double std, double boundary)
{
    if (n >= population)
        return 0.0;
    return std / sqrt(n) * sqrt(1.0 - (n - 1.0) / (population - 1.0)) * boundary;
}

void pb_bounds_bernstein_serfling_terms(double n, double population, double delta,
                                        double *scale, double *slack)
{
    if (n >= population) {  /* by definition; the formula would leave the slack term */
        *scale = *slack = 0.0;
        return;
    }
    const double log_term = log(5.0 / delta);
    const double rho = n <= population / 2.0
                           ? 1.0 - (n - 1.0) / population
                           : (1.0 - n / population) * (1.0 + 1.0 / n);
    const double kappa = 7.0 / 3.0 + 3.0 / sqrt(2.0);
    *scale = sqrt(2.0 * rho * log_term / n);
    *slack = kappa * log_term / n;
}

double pb_bounds_bernstein_serfling(double n, double population, double std,
                                    double value_range, double delta)
{
    double scale, slack;
    pb_bounds_bernstein_serfling_terms(n, population, delta, &scale, &slack);
    return std * scale + value_range * slack;
}

double pb_bounds_normal_tail(double z)
{
    return 0.5 * erfc(z * 0.70710678118654752440);
}

/*
 * Newton's method on log P(Z > z) for p <= 1/2. The function is concave, so the iterates decrease
 * to the root from any start above it; P(Z > z) <= exp(-z^2/2) / 2 provides one.
 */
static double upper_quantile(double p)
{
    double z = sqrt(-2.0 * log(2.0 * p));
    for (int step = 0; step < 60; step++) {
        const double tail = pb_bounds_normal_tail(z);
        const double density = 0.39894228040143267794 * exp(-0.5 * z * z);
        const double change = tail / density * log(tail / p);
        z += change;
        if (fabs(change) <= 1e-16 * z)
            break;
    }
    return z;
}

double pb_bounds_normal_tail_inverse(double p)
{
    return p <= 0.5 ? upper_quantile(p) : -upper_quantile(1.0 - p);
}
