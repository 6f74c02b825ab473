/* Variances of arms, and what rounding may not pass for one (pybandit/variance.h). */
#include "pybandit/variance.h"

/* Standard deviations below this part of the mean are rounding. */
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
