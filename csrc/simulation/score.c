/* Comparison of answers with the means (pybandit/simulation/score.h). */
#include "pybandit/simulation/score.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Flags the arms of an answer; returns 1 if one is named twice. */
static int mark(const int64_t *chosen, int64_t n_chosen, unsigned char *marks, int64_t n_arms)
{
    int twice = 0;
    memset(marks, 0, (size_t)n_arms);
    for (int64_t i = 0; i < n_chosen; i++) {
        twice |= marks[chosen[i]];
        marks[chosen[i]] = 1;
    }
    return twice;
}

/* Returns 1 if `high` is above `low` by more than epsilon. */
static int exceeds(double high, double low, double epsilon)
{
    if (epsilon <= 0.0)
        return high > low;
    return high - low > epsilon + 4.0 * DBL_EPSILON * fmax(fabs(high), fabs(low));
}

int pb_score_best(const double *means, int64_t n_arms, const int64_t *chosen, int64_t n_chosen,
                  int64_t k, double epsilon, unsigned char *marks)
{
    double worst_in = INFINITY, best_out = -INFINITY;
    if (mark(chosen, n_chosen, marks, n_arms) || n_chosen != k)
        return 1;
    for (int64_t arm = 0; arm < n_arms; arm++) {
        if (marks[arm])
            worst_in = fmin(worst_in, means[arm]);
        else
            best_out = fmax(best_out, means[arm]);
    }
    return k > 0 && k < n_arms && exceeds(best_out, worst_in, epsilon);
}

int pb_score_above(const double *means, int64_t n_arms, const int64_t *chosen, int64_t n_chosen,
                   double threshold, double epsilon, unsigned char *marks, double *furthest)
{
    int error = mark(chosen, n_chosen, marks, n_arms);
    *furthest = 0.0;
    for (int64_t arm = 0; arm < n_arms; arm++) {
        const double mean = means[arm];
        if (marks[arm] ? mean >= threshold : mean <= threshold)
            continue;
        *furthest = fmax(*furthest, fabs(mean - threshold));
        error |= exceeds(fmax(mean, threshold), fmin(mean, threshold), epsilon);
    }
    return error;
}

int pb_score_set(const unsigned char *right, int64_t n_arms, const int64_t *chosen,
                 int64_t n_chosen, unsigned char *marks, double *n_wrong)
{
    const int twice = mark(chosen, n_chosen, marks, n_arms);
    int64_t wrong = 0;
    for (int64_t arm = 0; arm < n_arms; arm++)
        wrong += marks[arm] != right[arm];
    *n_wrong = (double)wrong;
    return twice || wrong > 0;
}

double pb_score_gap(const double *means, const int64_t *chosen, int64_t n_chosen, double best)
{
    double total = 0.0;
    for (int64_t i = 0; i < n_chosen; i++)
        total += means[chosen[i]];
    if (isfinite(total))
        return best - total / (double)n_chosen;
    total = 0.0;
    for (int64_t i = 0; i < n_chosen; i++) /* means near the largest double: divide first */
        total += means[chosen[i]] / (double)n_chosen;
    return best - total;
}

double pb_score_lost(const double *gaps, const int64_t *pulls, int64_t n_arms)
{
    double total = 0.0;
    for (int64_t arm = 0; arm < n_arms; arm++)
        total += (double)pulls[arm] * gaps[arm];
    return total;
}
