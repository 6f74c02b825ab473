/* Generalised likelihood ratios (pybandit/policies/stopping/glr.h). */
#include "pybandit/policies/stopping/glr.h"

#include <math.h>

#include "pybandit/policies/stopping/glr_gaussian.h"
#include "pybandit/policies/protocol/kl.h"

#define LOG_2 0.69314718055994530942

/* Returns p log(p / q) - p + q without cancellation for p near q. */
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

double pb_glr_cost(const pb_glr *glr, const pb_glr_arm *arm, double q)
{
    return glr->law == PB_GLR_UNKNOWN ? pb_glr_unknown_cost(arm, q)
                                      : arm->n * pb_glr_divergence(glr, arm->mean, q);
}

double pb_glr_meeting(const pb_glr *glr, const pb_glr_arm *a, const pb_glr_arm *b)
{
    if (glr->law == PB_GLR_UNKNOWN)
        return pb_glr_unknown_meeting(a, b, glr->epsilon);
    return (a->n * a->mean + b->n * (b->mean - glr->epsilon)) / (a->n + b->n);
}

double pb_glr_statistic(const pb_glr *glr, const pb_glr_arm *a, const pb_glr_arm *b)
{
    const double gap = a->mean - b->mean + glr->epsilon;
    if (!(gap > 0.0))
        return 0.0;
    if (glr->law == PB_GLR_GAUSSIAN)
        return glr->precision * gap * gap / (1.0 / a->n + 1.0 / b->n);
    if (glr->law == PB_GLR_UNKNOWN)
        return pb_glr_unknown_statistic(a, b, glr->epsilon);
    const double meeting = pb_glr_meeting(glr, a, b);
    return pb_glr_cost(glr, a, meeting) + pb_glr_cost(glr, b, meeting + glr->epsilon);
}

static double threshold(const pb_glr *glr, double n_a, double n_b, double t, double z)
{
    if (!glr->is_proven)
        return glr->level + log(1.0 + log(t));
    switch (glr->law) {
    case PB_GLR_BERNOULLI:
        return glr->level + 0.5 * (log(4.0 * n_a) + log(4.0 * n_b));
    case PB_GLR_POISSON:
        return glr->level + 3.0 * (log(1.0 + log(n_a)) + log(1.0 + log(n_b)));
    case PB_GLR_GAUSSIAN:
    case PB_GLR_UNKNOWN:
        break;
    }
    /* the costs are concave, so the worst split of z gives all of it to one arm */
    return glr->level + 0.5 * (log1p(n_a) + log1p(n_b)) +
           fmax(pb_glr_unknown_excess(n_a, z), pb_glr_unknown_excess(n_b, z));
}

double pb_glr_single(const pb_glr *glr, double n, double z)
{
    switch (glr->law) {
    case PB_GLR_GAUSSIAN:
        return (1.0 + 1.0 / n) * (glr->level + 0.5 * log1p(n));
    case PB_GLR_BERNOULLI:
        return glr->level + 0.5 * log(4.0 * n);
    case PB_GLR_POISSON:
        return glr->level + 3.0 * log(1.0 + log(n));
    case PB_GLR_UNKNOWN:
        break;
    }
    return glr->level + 0.5 * log1p(n) + pb_glr_unknown_excess(n, z);
}

static int is_mixed(const pb_glr *glr) { return glr->is_proven && glr->law == PB_GLR_GAUSSIAN; }

/* Returns the gap of the means plus epsilon, in standard deviations of a reward. */
static double deviations_between(const pb_glr *glr, const pb_glr_arm *a, const pb_glr_arm *b)
{
    return (a->mean - b->mean + glr->epsilon) * sqrt(2.0 * glr->precision);
}

double pb_glr_margin(const pb_glr *glr, const pb_glr_arm *a, const pb_glr_arm *b, double t)
{
    if (glr->law == PB_GLR_UNKNOWN && (a->variance == 0.0 || b->variance == 0.0))
        return -INFINITY;
    const double z = pb_glr_statistic(glr, a, b);
    if (!is_mixed(glr))
        return z - threshold(glr, a->n, b->n, t, z);
    return pb_glr_gaussian_least(a->n, b->n, deviations_between(glr, a, b), NAN) - glr->level;
}

int pb_glr_tell(const pb_glr *glr, const pb_glr_arm *a, const pb_glr_arm *b, double t)
{
    if (!is_mixed(glr))
        return pb_glr_margin(glr, a, b, t) > 0.0;
    /* the evidence is at most Z plus log 2 per arm: check that bound first */
    return pb_glr_statistic(glr, a, b) > glr->level - 2.0 * LOG_2 &&
           pb_glr_gaussian_least(a->n, b->n, deviations_between(glr, a, b), glr->level) > glr->level;
}

static int is_doubt(const pb_glr *glr, const int64_t *pulls, const double *sums,
                    const double *deviations, int64_t best, int64_t arm, double t)
{
    if (arm == best)
        return 0;
    if (pulls[best] < 1 || pulls[arm] < 1)
        return 1;
    const pb_glr_arm a = pb_glr_arm_of(pulls[best], sums[best], deviations[best]);
    const pb_glr_arm b = pb_glr_arm_of(pulls[arm], sums[arm], deviations[arm]);
    return !pb_glr_tell(glr, &a, &b, t);
}

int64_t pb_glr_doubt(const pb_glr *glr, const int64_t *pulls, const double *sums,
                     const double *deviations, int64_t n_arms, int64_t best, int64_t doubt,
                     double t)
{
    if (doubt >= 0 && is_doubt(glr, pulls, sums, deviations, best, doubt, t))
        return doubt;
    for (int64_t arm = 0; arm < n_arms; arm++)
        if (is_doubt(glr, pulls, sums, deviations, best, arm, t))
            return arm;
    return -1;
}
