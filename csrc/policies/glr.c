/* Generalised likelihood ratios (pybandit/policies/glr.h). */
#include "pybandit/policies/glr.h"

#include <math.h>

#include "pybandit/policies/kl.h"

/* p log(p / q) - p + q, without loss where p and q are near. */
static double poisson(double p, double q)
{
    if (p == 0.0)
        return q;
    const double value = q > 0.5 * p ? (q - p) - p * log1p((q - p) / p)
                                     : p * log(p / q) - (p - q);
    return value > 0.0 ? value : 0.0;
}

double pb_glr_divergence(const pb_glr *glr, double p, double q)
{
    if (glr->law == PB_GLR_GAUSSIAN)
        return glr->precision * (p - q) * (p - q);
    return glr->law == PB_GLR_BERNOULLI ? pb_kl(p, q) : poisson(p, q);
}

double pb_glr_slope(const pb_glr *glr, double p, double q)
{
    if (glr->law == PB_GLR_GAUSSIAN)
        return 2.0 * glr->precision * (q - p);
    return (q - p) / (glr->law == PB_GLR_BERNOULLI ? q * (1.0 - q) : q);
}

double pb_glr_statistic(const pb_glr *glr, double n_a, double mean_a, double n_b, double mean_b)
{
    const double gap = mean_a - mean_b + glr->epsilon;
    if (!(gap > 0.0))
        return 0.0;
    if (glr->law == PB_GLR_GAUSSIAN)
        return glr->precision * gap * gap / (1.0 / n_a + 1.0 / n_b);
    const double both = (n_a * mean_a + n_b * mean_b) / (n_a + n_b);
    return n_a * pb_glr_divergence(glr, mean_a, both) + n_b * pb_glr_divergence(glr, mean_b, both);
}

double pb_glr_threshold(const pb_glr *glr, double n_a, double n_b, double t)
{
    if (!glr->is_proven)
        return glr->level + log(1.0 + log(t));
    if (glr->law == PB_GLR_GAUSSIAN)
        return (1.0 + 1.0 / fmin(n_a, n_b)) *
               (glr->level + 0.5 * (log1p(n_a) + log1p(n_b)));
    if (glr->law == PB_GLR_BERNOULLI)
        return glr->level + 0.5 * (log(4.0 * n_a) + log(4.0 * n_b));
    return glr->level + 3.0 * (log(1.0 + log(n_a)) + log(1.0 + log(n_b)));
}

static int is_doubt(const pb_glr *glr, const int64_t *pulls, const double *sums, int64_t best,
                    int64_t arm, double t)
{
    if (arm == best)
        return 0;
    const double n_a = (double)pulls[best], n_b = (double)pulls[arm];
    return n_a < 1.0 || n_b < 1.0 ||
           pb_glr_statistic(glr, n_a, sums[best] / n_a, n_b, sums[arm] / n_b) <=
               pb_glr_threshold(glr, n_a, n_b, t);
}

int64_t pb_glr_doubt(const pb_glr *glr, const int64_t *pulls, const double *sums, int64_t n_arms,
                     int64_t best, int64_t doubt, double t)
{
    if (doubt >= 0 && is_doubt(glr, pulls, sums, best, doubt, t))
        return doubt;
    for (int64_t arm = 0; arm < n_arms; arm++)
        if (is_doubt(glr, pulls, sums, best, arm, t))
            return arm;
    return -1;
}
