/*
 * Cutting planes of the mean distance (pybandit/cluster/planes.h). Everything is in double
 * precision: a pass costs some ten tiles a row, and its bounds eliminate rows for certain.
 */
#include "pybandit/cluster/planes.h"

#include <math.h>
#include <stddef.h>

#include "../_shared/minimum.h"
#include "../_shared/wide.h"
#include "sparse.h"
#include "sums.h"

/* Relative rounding error of theta and of bounds, with a margin. */
#define ROUNDING 1e-12

enum { FEW_COLUMNS = 4, ROWS_AT_ONCE = 64 };  /* of a pass in blocks */

ALWAYS_INLINE double sum_of_squares(const double *values, int64_t n)
{
    double sums[8] = {0.0};
    int64_t c = 0;
    for (; c + 8 <= n; c += 8)
        for (int k = 0; k < 8; k++)
            sums[k] += values[c + k] * values[c + k];
    for (int k = 0; c < n; c++, k++)
        sums[k] += values[c] * values[c];
    return add_eight(sums);
}

#define REAL float
#define NAMED(name) name##_floats
#include "plane_rows.h"
#undef REAL
#undef NAMED

#define REAL double
#define NAMED(name) name##_doubles
#include "plane_rows.h"
#undef REAL
#undef NAMED

void pb_plane_pass(pb_plane *plane, const pb_distances *rows, const double *weights)
{
    if (rows->floats)
        pass_floats(plane, rows, rows->floats, weights);
    else
        pass_doubles(plane, rows, rows->doubles, weights);
}

void pb_plane_part(const pb_plane *plane, const pb_distances *rows, const double *weights,
                   const int64_t *references, int64_t n, double *far, double *weight_near,
                   double *distance)
{
    if (rows->floats)
        part_floats(plane, rows, rows->floats, weights, references, n, far, weight_near,
                    distance);
    else
        part_doubles(plane, rows, rows->doubles, weights, references, n, far, weight_near,
                     distance);
}

void pb_plane_products(const pb_plane *plane, const pb_distances *rows, const double *vector,
                       const int64_t *indices, int64_t n, double *products)
{
    if (rows->floats)
        products_floats(plane, rows, rows->floats, vector, indices, n, products);
    else
        products_doubles(plane, rows, rows->doubles, vector, indices, n, products);
}

int64_t pb_plane_cut(const pb_plane *plane, double best, const double *products, int64_t *alive,
                     double *bounds, int64_t n_alive, int64_t *lowest)
{
    int64_t n = 0;
    *lowest = 0;
    for (int64_t i = 0; i < n_alive; i++) {
        const int64_t k = alive[i];
        const double own = plane->theta - products[i];
        const double bound = own > bounds[i] ? own : bounds[i];
        const double error = ROUNDING * (best + plane->theta + plane->distances[k]);
        if (bound > best + error || plane->distances[k] == 0.0 || k == plane->anchor)
            continue;
        alive[n] = k;
        bounds[n] = bound;
        if (bound < bounds[*lowest])
            *lowest = n;
        n++;
    }
    return n;
}
