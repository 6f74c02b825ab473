#ifndef PYBANDIT_PLANES_H
#define PYBANDIT_PLANES_H

#include <stdint.h>

#include "pybandit/cluster/distance.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Cutting planes for the Euclidean medoid of rows. The mean distance
 * theta(x) = (1/N) sum_j w_j |x - x_j| is convex. One pass over the rows from an anchor a gives
 * theta(a) and the slope s = (1/N) sum_j w_j (x_j - a) / |x_j - a|, and for every row
 * theta(x_i) >= theta(a) - <x_i - a, s>. Weights have mean 1, or are NULL if all are 1.
 */
typedef struct {
    int64_t anchor;     /* set by the caller */
    double near_below;  /* set by the caller: rows at most this far from the anchor are near */
    double theta;       /* theta(a) */
    double near_share;  /* sum of w_j / N over near rows */
    double inverse;     /* sum of w_j / (N |x_j - a|) over the other rows */
    double *distances;  /* n: |x_j - a|; owned by the caller, as the next three */
    double *far;        /* n_columns: the part of s of the rows that are not near */
    double *near;       /* n_columns: the part of s of the near rows; 0 at distance 0 */
    double *scratch;    /* 2 n_columns: the anchor, and workspace */
} pb_plane;

/* Computes the plane of an anchor. O(n n_columns). */
void pb_plane_pass(pb_plane *plane, const pb_distances *rows, const double *weights);

/*
 * The next two functions use the distances and the scratch of the last pass; no two threads may
 * call them for one plane.
 *
 * Adds the terms of s, not divided by N, of the references that are not near to
 * far[n_columns], and their counterparts to *weight_near, the sum of w_j of near references,
 * and *distance, the sum of w_j |x_j - a|.
 */
void pb_plane_part(const pb_plane *plane, const pb_distances *rows, const double *weights,
                   const int64_t *references, int64_t n, double *far, double *weight_near,
                   double *distance);

/* Writes products[i] = <x_k - a, vector> for k = indices[i]. O(n n_columns). */
void pb_plane_products(const pb_plane *plane, const pb_distances *rows, const double *vector,
                       const int64_t *indices, int64_t n, double *products);

/*
 * Raises the lower bounds of the surviving rows to those of the plane, and eliminates the anchor,
 * its copies, and rows whose bound exceeds `best`, the smallest theta found, by more than
 * rounding. `products` is from pb_plane_products with s = far + near. Returns the number of
 * survivors, in increasing order, and writes the position of the smallest bound.
 */
int64_t pb_plane_cut(const pb_plane *plane, double best, const double *products, int64_t *alive,
                     double *bounds, int64_t n_alive, int64_t *lowest);

#ifdef __cplusplus
}
#endif

#endif
