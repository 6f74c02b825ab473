/* The arm of the largest KL bound, without solving for most (pybandit/kl_index.h). */
#include <math.h>

#include "pybandit/kl.h"
#include "pybandit/kl_index.h"
#include "pybandit/scan.h"

/* Many times what rounding can take from a tangent: a solution and its slope are good to a
 * few units of 1.1e-16, and slope * f is below 40 times that. A tie is never missed. */
static const double MARGIN = 4e-14;

static void put(pb_kl_index *index, int64_t arm, double base, double root, double slope)
{
    const double scale = index->scales ? index->scales[arm] : 1.0;
    index->bases[arm] = index->scales ? scale * (base + MARGIN - 1.0) : base + MARGIN;
    index->roots[arm] = scale * root;
    index->slopes[arm] = scale * slope;
}

void pb_kl_index_begin(pb_kl_index *index)
{
    for (int64_t arm = 0; arm < index->n; arm++) {
        index->means[arm] = index->pulls[arm] = index->roots[arm] = index->slopes[arm] = 0.0;
        index->bases[arm] = -INFINITY;
    }
}

/* Pinsker's bound mean + sqrt(f / (2 pulls)), which costs no solution. */
void pb_kl_index_update(pb_kl_index *index, int64_t arm, double mean, double pulls)
{
    index->means[arm] = mean;
    index->pulls[arm] = pulls;
    put(index, arm, mean, sqrt(0.5 / pulls), 0.0);
}

/* The index of an arm, and its tangent there. */
static double solve(pb_kl_index *index, int64_t arm, double f)
{
    const double mean = index->means[arm], pulls = index->pulls[arm];
    const double bound = pb_kl_upper(mean, f / pulls), over = bound - mean;
    if (bound >= 1.0) {
        put(index, arm, 1.0, 0.0, 0.0);
    } else if (over > 0.0) {
        const double slope = bound * (1.0 - bound) / (over * pulls);
        put(index, arm, bound - slope * f, 0.0, slope);
    }
    return index->scales ? index->scales[arm] * (bound - 1.0) : bound;
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
        const double value = solve(index, arm, f);
        if (value > largest || (value == largest && arm < best)) {
            largest = value;
            best = arm;
        }
    }
    return best;
}
