#ifndef PYBANDIT_SWAPS_H
#define PYBANDIT_SWAPS_H

#include <stdint.h>

#include "pybandit/_shared/status.h"
#include "pybandit/cluster/kmedoids.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { PB_SWAP_MOST = 64 };  /* rows that are verified at once, at most */

/*
 * Verification. Measures the distances from `row` to the points of tiles first to last - 1, and
 * writes their part of the gains: sums[0] whichever medoid is removed, sums[1 + l] in addition if
 * it is that of cluster l, and sums[1 + k], the number of distances measured. `apart` has the k
 * lengths of pb_kmedoids_apart: tiles out of reach gain nothing, and are not measured. It is NULL
 * if `between` is. `scratch` and d are as in pb_swap_try. Calls for different tiles may run in
 * parallel.
 */
pb_status pb_swap_measure(pb_kmedoids *km, int64_t row, const double *apart, int64_t first,
                          int64_t last, pb_tile *scratch, double *d, double *sums);

/*
 * Writes these sums for at most PB_SWAP_MOST increasing rows, 2 + k each, and changes nothing
 * else: a tile is read once for all rows, while it is in the cache. `apart` has k lengths per row.
 * `scratch` has memory for n candidates, and `out` n * PB_TILE entries. The sums have the same bits
 * as those of pb_swap_measure.
 */
pb_status pb_swap_measure_many(const pb_kmedoids *km, const int64_t *rows, const double *apart,
                               int64_t n, int64_t first, int64_t last, pb_tile *scratch,
                               double *out, double *sums);

/*
 * Adds n_parts arrays of 2 + k sums in order to the first one, and returns the largest gain;
 * *cluster is the lowest cluster with this gain. O(n_parts k).
 */
double pb_swap_gain(const pb_kmedoids *km, double *parts, int64_t n_parts, int64_t *cluster);

/* Returns 1 if a gain is large enough for a swap. */
int pb_swap_is_gain(const pb_kmedoids *km, double gain);

/* Makes `row` the medoid of `cluster`. Then call pb_swap_update for all tiles. O(k). */
void pb_swap_make(pb_kmedoids *km, int64_t row, int64_t cluster);

/*
 * Updates d1, d2, nearest and second of tiles first to last - 1 after a swap, from
 * `measured`. Points that lost one of their two medoids are compared with all k: `tile` has
 * memory for k candidates, `rows` and `out` are as in pb_kmedoids_nearest. Then call
 * pb_kmedoids_sum.
 */
pb_status pb_swap_update(pb_kmedoids *km, int64_t cluster, int64_t first, int64_t last,
                         pb_tile *tile, int64_t *rows, double *out);

#ifdef __cplusplus
}
#endif

#endif
