/* The strongest rival of an arm (pybandit/policies/stopping/glr_rival.h). */
#include <math.h>

#include "pybandit/policies/stopping/glr_rival.h"
#include "pybandit/policies/protocol/scan.h"
#include "../../_shared/wide.h"

/* Computes minus the Gaussian statistics: exactly as pb_glr_statistic, arm by arm. */
WIDE static void gaussian(const pb_glr *glr, const pb_glr_rivals *arms, int64_t best,
                          double *restrict out)
{
    const double mean = arms->means[best], own = 1.0 / arms->counts[best];
    const double precision = glr->precision, epsilon = glr->epsilon;
    for (int64_t b = 0; b < arms->n; b++) {
        const double gap = mean - arms->means[b] + epsilon;
        const double z = precision * gap * gap / (own + 1.0 / arms->counts[b]);
        out[b] = gap > 0.0 ? -z : -0.0;
    }
    for (int64_t b = 0; arms->extra && b < arms->n; b++)
        out[b] -= arms->extra[b];
}

static double bernoulli(const pb_glr *glr, const pb_glr_rivals *arms, int64_t best, int64_t b)
{
    const pb_glr_arm leader = {arms->counts[best], arms->means[best], 0.0};
    const pb_glr_arm rival = {arms->counts[b], arms->means[b], 0.0};
    const double z = pb_glr_statistic(glr, &leader, &rival);
    return arms->extra ? z + arms->extra[b] : z;
}

/* Returns 1 if an arm after the found one has the same statistics, hence the same Z. */
static int is_tied(const pb_glr_rivals *arms, int64_t b, int64_t found)
{
    return b > found && arms->means[b] == arms->means[found] &&
           arms->counts[b] == arms->counts[found];
}

/* Eases minus lower bounds, so that rounding errors of the statistics do not matter. */
WIDE static void ease(const pb_glr_rivals *arms, int64_t best, double *restrict out)
{
    const double own = arms->counts[best];
    for (int64_t b = 0; b < arms->n; b++) {
        const double eased = out[b] + 1e-9 * fabs(out[b]) + 1e-14 * (own + arms->counts[b]);
        out[b] = out[b] > -INFINITY ? eased : out[b];
    }
}

/* Returns the position of the largest entry, ties to the lowest; `best` if all are -INFINITY. */
static int64_t position(const double *values, int64_t n, int64_t best)
{
    const double largest = pb_scan_largest(values, n);
    return largest > -INFINITY ? pb_scan_position(values, n, largest, -1) : best;
}

int64_t pb_glr_rival(const pb_glr *glr, const pb_glr_rivals *arms, int64_t best)
{
    const int64_t n = arms->n;
    double *bounds = arms->memory;
    pb_glr squares = *glr;
    if (glr->law == PB_GLR_BERNOULLI)
        squares.precision = 2.0;  /* the divergence is at least 2 (p - q)^2 */
    gaussian(&squares, arms, best, bounds);
    bounds[best] = -INFINITY;
    if (glr->law == PB_GLR_GAUSSIAN)
        return position(bounds, n, best);
    ease(arms, best, bounds);
    const int64_t first = position(bounds, n, best);
    if (first == best)
        return best;
    int64_t found = first;
    double least = bernoulli(glr, arms, best, first);
    for (int64_t b = pb_scan_above(bounds, n, 0, -least); b < n;
         b = pb_scan_above(bounds, n, b + 1, -least)) {
        if (b == first || bounds[b] == -INFINITY || is_tied(arms, b, found))
            continue;
        const double here = bernoulli(glr, arms, best, b);
        if (here < least || (here == least && b < found)) {
            least = here;
            found = b;
        }
    }
    return least < INFINITY ? found : best;
}
