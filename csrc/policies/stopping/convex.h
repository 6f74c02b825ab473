/*
 * Minimises a convex function.
 *
 * Tangents bound the function from below; the next evaluation is where two of them meet.
 */
#ifndef PB_POLICIES_CONVEX_H
#define PB_POLICIES_CONVEX_H

#include <math.h>

typedef struct {
    double x, value, slope;
} pb_tangent;

typedef pb_tangent (*pb_convex)(const void *function, double x);

/*
 * Returns the minimum between `low`, where the function decreases, and `high`, where it increases,
 * given its tangent at `here`. If `enough` is not NaN, the result may differ from the minimum but
 * is on the same side of `enough`: at most `enough`, or above it and no larger than the minimum.
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
        /* far apart, steep tangents may meet at a point that is only rounding error */
        const int is_lost = !(bound <= seen + tolerance);
        if (!is_lost && (bound > enough || seen - bound <= tolerance))
            break;
        /* bisect if the tangents are of no use, and at every third step */
        here = at(function, low.x + (is_lost || step % 3 == 2 ? 0.5 * wide : move));
    }
    return fmin(bound, seen);
}

#endif
