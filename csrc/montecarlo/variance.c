/* Variances of arms, cleared of rounding errors (pybandit/montecarlo/variance.h). */
#include "pybandit/montecarlo/variance.h"

#include <math.h>

/* A standard deviation below this times the mean counts as a rounding error. */
static const double ROUNDING = 1e-14;

double pb_variance(int64_t pulls, double sum, double deviation)
{
    if (pulls < 2)
        return 0.0;
    const double n = (double)pulls, mean = sum / n, least = ROUNDING * mean;
    const double variance = deviation / (n - 1.0);
    return variance > least * least ? variance : 0.0;
}

double pb_variance_least(const int64_t *pulls, const double *sums, const double *deviations,
                         int64_t n_arms)
{
    double least = 0.0;
    for (int64_t arm = 0; arm < n_arms; arm++) {
        const double variance = pb_variance(pulls[arm], sums[arm], deviations[arm]);
        if (variance > 0.0 && (least == 0.0 || variance < least))
            least = variance;
    }
    return least;
}

/* Returns variance times mean cost. */
static double spread_of(const pb_spreads *s, int64_t arm)
{
    return pb_variance(s->pulls[arm], s->sums[arm], s->deviations[arm]) * s->cost_sums[arm] /
           (double)s->pulls[arm];
}

int64_t pb_spreads_optimistic(const pb_spreads *spreads, double t)
{
    const double width = sqrt(4.0 * log(t));
    double least = INFINITY;
    int64_t best = -1;
    for (int64_t arm = 0; arm < spreads->n_arms; arm++) {
        if (spreads->pulls[arm] < 2)
            continue;
        const double index =
            log(spread_of(spreads, arm)) - width / sqrt((double)spreads->pulls[arm]);
        if (index < least) {
            least = index;
            best = arm;
        }
    }
    return best;
}

int64_t pb_spreads_drawn(const pb_spreads *spreads, pb_gamma_source gamma, void *state)
{
    double least = INFINITY;
    int64_t best = -1;
    for (int64_t arm = 0; arm < spreads->n_arms; arm++) {
        if (spreads->pulls[arm] < 2)
            continue;
        const double half = 0.5 * (double)(spreads->pulls[arm] - 1);
        const double drawn = spread_of(spreads, arm) * half / gamma(state, half);
        if (drawn < least) {
            least = drawn;
            best = arm;
        }
    }
    return best;
}

int64_t pb_spreads_lacking(const pb_spreads *spreads, const int64_t *asked, int64_t n_decisions)
{
    for (int64_t arm = 0; arm < spreads->n_arms; arm++)
        if (spreads->pulls[arm] < 2 && asked[arm] * spreads->n_arms <= n_decisions)
            return arm;
    return -1;
}
