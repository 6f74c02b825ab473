/* The arm of the largest KL bound, computing few bounds (pybandit/policies/regret/kl_index.h). */
#include <math.h>

#include "pybandit/policies/protocol/kl.h"
#include "pybandit/policies/regret/kl_index.h"
#include "pybandit/policies/protocol/scan.h"

/* Amount by which tangents are raised, relative to their terms, so that no tie is missed. It is
 * many times their rounding error: solutions and slopes are accurate to a few units of 1.1e-16,
 * and f grows by a factor below 40. */
static const double MARGIN = 4e-14;

void pb_kl_index_begin(pb_kl_index *index)
{
    for (int64_t arm = 0; arm < index->n; arm++) {
        index->means[arm] = index->pulls[arm] = index->slopes[arm] = index->roots[arm] = 0.0;
        index->bases[arm] = -INFINITY;
    }
}

/* Computes the compared value of an arm and its tangent at f. */
static double solve(pb_kl_index *index, int64_t arm, double f)
{
    const double mean = index->means[arm], pulls = index->pulls[arm];
    const double tail = pb_kl_upper_tail(mean, f / pulls);
    const double offset = index->scales ? log(index->scales[arm]) : 0.0;
    const double bound = -expm1(-tail), over = bound - mean;
    index->slopes[arm] = 0.0;
    if (mean < 1.0 && over > 0.0)
        index->slopes[arm] = bound / (over * pulls);
    index->bases[arm] = tail < INFINITY && over > 0.0
                            ? tail - offset - index->slopes[arm] * f +
                                  MARGIN * (tail + fabs(offset))
                            : INFINITY;
    return tail - offset;
}

void pb_kl_index_update(pb_kl_index *index, int64_t arm, double mean, double pulls, double f)
{
    index->means[arm] = mean;
    index->pulls[arm] = pulls;
    solve(index, arm, f);
}

/* Returns 1 if two arms have the same index for every f. */
static int are_twins(const pb_kl_index *index, int64_t arm, int64_t other)
{
    return index->means[arm] == index->means[other] && index->pulls[arm] == index->pulls[other] &&
           (!index->scales || index->scales[arm] == index->scales[other]);
}

int64_t pb_kl_index_choose(pb_kl_index *index, double f)
{
    const double *const bounds = index->bounds;
    const int64_t n = index->n;
    const int64_t first = pb_scan_index(index->bases, index->roots, index->slopes, f, 0.0, n,
                                        index->bounds);
    int64_t best = first;
    double largest = solve(index, best, f);
    for (int64_t arm = pb_scan_above(bounds, n, 0, largest); arm < n;
         arm = pb_scan_above(bounds, n, arm + 1, largest)) {
        if (arm == first)
            continue;
        if (are_twins(index, arm, best)) {
            index->bases[arm] = index->bases[best];
            index->slopes[arm] = index->slopes[best];
            best = arm < best ? arm : best;
            continue;
        }
        const double value = solve(index, arm, f);
        if (value > largest || (value == largest && arm < best)) {
            largest = value;
            best = arm;
        }
    }
    return best;
}
