/* The arm of the extreme KL bound (pybandit/policies/confidence/kl_bounds.h). */
#include <math.h>

#include "pybandit/policies/confidence/kl_bounds.h"
#include "pybandit/policies/protocol/kl.h"
#include "pybandit/policies/protocol/scan.h"
#include "../../_shared/wide.h"

enum { SEEN = 8 };

/* Relative amounts by which tangents are raised and the best bound is eased, so that no tie is
 * missed: many times their rounding errors. */
static const double MARGIN = 4e-14, EASE = 4e-15;

void pb_kl_bounds_set(pb_kl_bounds *bounds, int64_t arm, double mean, double pulls)
{
    bounds->means[arm] = mean;
    bounds->pulls[arm] = pulls;
    bounds->bases[arm] = INFINITY;  /* computed when the arm may be chosen */
    bounds->slopes[arm] = 0.0;
}

/* Computes an arm's bound and its tangent. */
static double solve(pb_kl_bounds *bounds, int64_t arm, double rate)
{
    const double mean = bounds->means[arm], pulls = bounds->pulls[arm], level = rate / pulls;
    const double bound = bounds->is_lower ? pb_kl_lower(mean, level) : pb_kl_upper(mean, level);
    /* near 1 the bound has too few digits left */
    const double tail = bounds->is_lower ? -log(bound)
                        : bound < 0.9    ? -log1p(-bound)
                                         : pb_kl_upper_tail(mean, level);
    const double over = bounds->is_lower ? mean - bound : bound - mean;
    const double far = bounds->is_lower ? 1.0 - bound : bound;
    bounds->bases[arm] = INFINITY;
    bounds->slopes[arm] = 0.0;
    if (tail < INFINITY && over > 0.0) {
        const double slope = far / (over * pulls);
        bounds->slopes[arm] = slope;
        bounds->bases[arm] = tail - slope * rate + MARGIN * (tail + slope * rate);
    }
    return bound;
}

WIDE static void draw_tangents(const pb_kl_bounds *bounds, double rate, const unsigned char *skip,
                               double *restrict tangents)
{
    for (int64_t i = 0; i < bounds->n; i++) {
        const double tangent = bounds->bases[i] + bounds->slopes[i] * rate;
        tangents[i] = skip[i] ? -INFINITY : tangent;
    }
}

/* Returns a value that the tangent of any arm with a bound at least as good reaches. */
static double tail_of(const pb_kl_bounds *bounds, double bound)
{
    if (bounds->is_lower)
        return bound > 0.0 ? -log(bound) - EASE : INFINITY;
    return bound < 1.0 - EASE ? -log1p(-bound) - EASE / (1.0 - bound) - EASE : -log(2.0 * EASE);
}

/* Returns 1 if a bound is better than the best so far, ties to the lowest arm. */
static int is_better(const pb_kl_bounds *bounds, double bound, int64_t arm, double best_bound,
                     int64_t best)
{
    if (bound == best_bound)
        return arm < best;
    return bounds->is_lower ? bound < best_bound : bound > best_bound;
}

/* Arms whose bounds were computed last, at the same rate. */
typedef struct {
    int64_t arms[SEEN];
    int64_t n;
} recent;

static void note(recent *seen, int64_t arm)
{
    seen->arms[seen->n++ % SEEN] = arm;
}

/*
 * Returns 1 if an arm has the statistics of a lower arm seen, hence the same bound and tangent: it
 * is not better. With few pulls per arm, hundreds of arms share a few pairs of statistics.
 */
static int is_tied(pb_kl_bounds *bounds, int64_t arm, const recent *seen)
{
    const double mean = bounds->means[arm], pulls = bounds->pulls[arm];
    for (int64_t i = 0; i < SEEN && i < seen->n; i++) {
        const int64_t other = seen->arms[i];
        if (other < arm && bounds->means[other] == mean && bounds->pulls[other] == pulls) {
            bounds->bases[arm] = bounds->bases[other];
            bounds->slopes[arm] = bounds->slopes[other];
            return 1;
        }
    }
    return 0;
}

int64_t pb_kl_bounds_choose(pb_kl_bounds *bounds, double rate, const unsigned char *skip,
                            double *bound)
{
    const int64_t n = bounds->n;
    double *tangents = bounds->tangents;
    draw_tangents(bounds, rate, skip, tangents);
    const double highest = pb_scan_largest(tangents, n);
    if (highest == -INFINITY)
        return -1;
    const int64_t first = pb_scan_position(tangents, n, highest, -1);
    int64_t best = first;
    *bound = solve(bounds, best, rate);
    double level = tail_of(bounds, *bound);
    /* no bound is beyond 0 or 1: then only lower arms may be chosen */
    const double limit = bounds->is_lower ? 0.0 : 1.0;
    int64_t end = *bound == limit ? first : n;
    recent seen = {{first}, 1};
    for (int64_t arm = pb_scan_above(tangents, n, 0, level); arm < end;
         arm = pb_scan_above(tangents, n, arm + 1, level)) {
        if (arm == first || is_tied(bounds, arm, &seen))
            continue;
        const double here = solve(bounds, arm, rate);
        note(&seen, arm);
        if (is_better(bounds, here, arm, *bound, best)) {
            *bound = here;
            best = arm;
            level = tail_of(bounds, here);
            end = here == limit ? best : end;
        }
    }
    return best;
}
