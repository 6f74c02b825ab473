/*
 * The least value of a convex function.
 *
 * Tangents bound it from below, and where two of them meet is where to look next.
 */
#ifndef PB_POLICIES_CONVEX_H
#define PB_POLICIES_CONVEX_H

#include <math.h>

typedef struct {
    double x, value, slope;
} pb_tangent;

typedef pb_tangent (*pb_convex)(const void *function, double x);

/*
 * Between `low`, where it falls, and `high`, where it rises, looking at `here` first. Where
 * `enough` is a number, any value on the same side of it as the least: at most `enough`, or above
 * it and no larger than the least.
 */
static inline double pb_convex_least(pb_convex at, const void *function, pb_tangent low,
                                     pb_tangent high, pb_tangent here, double enough)
{
    enum { MOST_STEPS = 100 };
    double bound = -INFINITY, seen = INFINITY;
    for (int step = 0; step < MOST_STEPS; step++) {
        if (here.value <= enough)
            return here.value;
        if (here.slope < 0.0)
            low = here;
        else
            high = here;
        const double wide = high.x - low.x, steep = high.slope - low.slope;
        double move = (low.value - high.value + high.slope * wide) / steep;
        move = fmin(fmax(move, 0.0), wide);
        bound = low.value + low.slope * move;
        seen = fmin(low.value, high.value);
        const double tolerance = 1e-12 * (1.0 + fabs(seen));
        /* of steep tangents from far off only rounding may be left */
        const int is_lost = !(bound <= seen + tolerance);
        if (!is_lost && (bound > enough || seen - bound <= tolerance))
            break;
        /* where the tangents are far off, halves are sure */
        here = at(function, low.x + (is_lost || step % 3 == 2 ? 0.5 * wide : move));
    }
    return fmin(bound, seen);
}

#endif
