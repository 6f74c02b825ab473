#ifndef PYBANDIT_KMEDOIDS_H
#define PYBANDIT_KMEDOIDS_H

#include <stdint.h>

#include "pybandit/_shared/status.h"
#include "pybandit/cluster/distance.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * k-medoids by swaps. The loss is the sum of w_j d1_j, where d1_j is the distance from the
 * nearest medoid to point j. A swap replaces the medoid of one cluster by a candidate. Its gain
 * is estimated from a sample of the points, and computed from all points before it is made, so
 * every swap lowers the loss.
 *
 * A stage works on the first n points of a random order. Its strata are the clusters at its
 * start; they do not change during the stage. Points are stored stratum by stratum, in random
 * order within each, and each stratum is padded to whole tiles. A slot is a place in these tiles.
 * The first n_mixed points of the random order are stored a second time, as the mixed sample.
 *
 * Arrays by slot have n_tiles * PB_TILE entries; `d1` and `d2` of pads are 0. Distances are
 * those from a candidate or medoid to a reference, in this order.
 */
typedef struct {
    pb_distances distances;
    int64_t k;
    int64_t *medoids;      /* k rows */
    int64_t *by_row;       /* k clusters, by increasing row of their medoids */
    double tolerance;      /* a swap must gain more than this share of the loss */

    /* the points of the stage */
    int64_t n, n_tiles;
    pb_tile *tiles;        /* their references are parts of `rows` */
    int64_t *rows;         /* by slot; those of pads are 0 */
    int64_t *starts;       /* k + 1: first tile of each stratum, then n_tiles */
    int64_t *sizes;        /* k: number of points of each stratum */
    int64_t *slots;        /* n: slot of each point, in random order */
    double *weights;       /* by slot; NULL if all weights are 1 */
    double *d1, *d2;    /* by slot: distance from the nearest and the second medoid */
    int32_t *nearest, *second;  /* by slot: clusters of these medoids */
    double *measured;      /* by slot: distance from the candidate that is being verified */

    /* the mixed sample; arrays padded to whole tiles */
    int64_t n_mixed;
    pb_tile *mixed_tiles;
    int64_t *mixed_rows, *mixed_slots;  /* of pads: 0 */
    double *mixed_weights, *mixed_d1, *mixed_d2;
    int32_t *mixed_nearest, *mixed_stratum;  /* stratum -1 of pads */

    /* sums, by pb_kmedoids_sum */
    double *removal;       /* k: sum of w (d2 - d1) in each cluster, the cost of removing it */
    double *removal_in;    /* k * k: the part of stratum s in removal[l], at s * k + l */
    int64_t *by_removal;   /* k: clusters by increasing cost of removing them */
    double loss;
    int64_t version;       /* number of times that the sums were computed */

    /*
     * Bounds by the triangle inequality, of lengths: distances, or square roots of squared ones.
     * `between` is NULL if distances are not known to satisfy it; then no reference is left out.
     */
    double *between;       /* k * k: at most the length between two medoids; by row */
    int64_t *pivots;       /* k: medoids at the start of the stage */
    double *radius;        /* n_tiles: largest length from the pivot of the stratum */
    double *reach;         /* n_tiles: at most this far from the pivot, a candidate may gain */
    double *mixed_reach;   /* by mixed reference: the same for its nearest medoid */
} pb_kmedoids;

/* Returns the number of tiles of strata with these sizes. O(k). */
int64_t pb_kmedoids_tiles(const int64_t *sizes, int64_t k);

/*
 * Writes starts, slots, rows, mixed_rows, mixed_slots, mixed_stratum, and the references of all
 * tiles, from `sizes` and the stratum of each point: order[i] is the row of point i. Parts of the
 * mixed sample that are read at once are sorted, so that a tile has references of few strata, near
 * to each other. `workspace` has 2 k entries. O(n + n_tiles PB_TILE + k^2).
 */
void pb_kmedoids_arrange(pb_kmedoids *km, const int64_t *order, const int32_t *stratum,
                         int64_t *workspace);

/* Writes `pivots` and `between`. Call it before pb_kmedoids_arrange. O(k^2 n_columns). */
void pb_kmedoids_bound(pb_kmedoids *km);

/* Updates `between` after the medoid of a cluster has changed. O(k n_columns). */
void pb_kmedoids_rebound(pb_kmedoids *km, int64_t cluster);

/* Writes `radius`, from d1 at the start of a stage. O(n_tiles PB_TILE). */
void pb_kmedoids_surround(pb_kmedoids *km);

/* Writes at most the length from a row to each pivot, k entries. O(k n_columns). */
void pb_kmedoids_apart(const pb_kmedoids *km, int64_t row, double *apart);

/*
 * Fills `tiles` first to last - 1, whose references and memory are set. Tiles of a function or of
 * rows in CSR need no memory: nothing is filled, and a dense copy of sparse rows never exists.
 */
void pb_kmedoids_fill(const pb_kmedoids *km, const pb_tile *tiles, int64_t first, int64_t last);

/*
 * Writes the nearest and the second medoid of the references of a filled tile, and their
 * distances: PB_TILE entries each. Ties go to the lowest cluster. With k = 1, d2 is infinite and
 * second is 0. `rows` (k) and `out` (k * PB_TILE) are workspace. O(k PB_TILE n_columns).
 */
pb_status pb_kmedoids_nearest(const pb_kmedoids *km, const pb_tile *tile, int64_t *rows,
                              double *out, double *d1, double *d2, int32_t *nearest,
                              int32_t *second);

/* Computes removal, removal_in, by_removal, loss, reach, and the mixed copies of d1, d2 and
   nearest. `by_removal` must be a permutation. O(n_tiles PB_TILE + k^2). */
void pb_kmedoids_sum(pb_kmedoids *km);

#ifdef __cplusplus
}
#endif

#endif
