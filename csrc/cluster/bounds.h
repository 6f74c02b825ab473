#ifndef BOUNDS_H
#define BOUNDS_H

/*
 * References that a candidate c cannot gain from, by the triangle inequality. Private to
 * csrc/cluster.
 *
 * If p is near to c or to reference j, then d(c, j) >= d(p, q) - d(p, c) - d(q, j) > d2_j for
 * medoids or pivots p and q that are far apart: j gains nothing, and is not measured. Results are
 * the same, so bounds must cover the rounding of measured distances: relative errors are at most
 * (n_columns + 4) units in the last place each.
 */
#include <math.h>

#include "pybandit/cluster/kmedoids.h"

enum { FIRST_MIXED = 2 * PB_TILE };  /* points of the mixed sample read before a decision */

/* Returns a distance in a unit in which it satisfies the triangle inequality. */
static inline double length_of(pb_metric metric, double distance)
{
    return metric == PB_SQEUCLIDEAN || metric == PB_COSINE ? sqrt(distance) : distance;
}

/* Returns at least a sum of three lengths, from the sum of measured ones. Squares below the
   smallest number err by more than their share: at most by 1e-18 per root of a column. */
static inline double enlarged(const pb_distances *d, double length)
{
    const double columns = (double)d->n_columns, unit = d->floats ? 0x1p-24 : 0x1p-53;
    return length * (1.0 + 8.0 * unit * (columns + 4.0)) + 1e-18 * columns;
}

#endif
