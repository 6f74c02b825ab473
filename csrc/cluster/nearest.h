#ifndef NEAREST_H
#define NEAREST_H

/* Distances to tiles, and the two nearest of k medoids. Private to csrc/cluster. */
#include <math.h>

#include "pybandit/cluster/kmedoids.h"

/* Returns the number of tiles that n references fill. */
static inline int64_t tiles_of(int64_t n) { return (n + PB_TILE - 1) / PB_TILE; }

typedef struct {
    double d1, d2;
    int32_t nearest, second;
} two_medoids;

/* Measures the distances from all medoids to a tile, by increasing row as functions require. */
static inline pb_status read_medoids(const pb_kmedoids *km, const pb_tile *tile, int64_t *rows,
                                     double *out)
{
    for (int64_t at = 0; at < km->k; at++)
        rows[at] = km->medoids[km->by_row[at]];
    return pb_tile_read(tile, &km->distances, rows, km->k, out);
}

/* Returns 1 if the tiles of a stage hold their rows: not of functions, and not in CSR. */
static inline int holds_rows(const pb_distances *distances)
{
    return !distances->function && !distances->starts;
}

/*
 * Measures the distances from rows to a tile, as pb_tile_read_near. `scratch` has the memory of
 * tiles that do not hold their rows; after a failure, it has the references of the tile.
 */
static inline pb_status read_near(const pb_kmedoids *km, const pb_tile *tile, const int64_t *rows,
                                  int64_t n, const unsigned char *halves, const double *most,
                                  pb_tile *scratch, double *d, uint64_t *near)
{
    double *const memory = scratch->memory;
    pb_status status = PB_OK;
    if (holds_rows(&km->distances)) {
        status = pb_tile_read_near(tile, &km->distances, rows, n, halves, most, d, near);
        if (status == PB_OK)
            return status;
    }
    *scratch = *tile;
    scratch->memory = memory;
    if (status != PB_OK)
        return status;
    pb_tile_fill(scratch, &km->distances);
    return pb_tile_read_near(scratch, &km->distances, rows, n, halves, most, d, near);
}

/* Returns 1 if (d, cluster) comes before the other pair: ties go to the lowest cluster. */
static inline int is_nearer(double d, int32_t cluster, double other, int32_t other_cluster)
{
    return d < other || (d == other && cluster < other_cluster);
}

/*
 * Returns the two nearest medoids of lane j, from the output of read_medoids. Clusters are valid
 * for any distances: NaN, which rows have while another thread writes to them, is never near.
 */
static inline two_medoids nearest_two(const pb_kmedoids *km, const double *out, int64_t j)
{
    const int32_t none = INT32_MAX;
    two_medoids two = {INFINITY, INFINITY, none, none};
    for (int64_t at = 0; at < km->k; at++) {
        const double d = out[at * PB_TILE + j];
        const int32_t cluster = (int32_t)km->by_row[at];
        if (is_nearer(d, cluster, two.d1, two.nearest)) {
            two.d2 = two.d1;
            two.second = two.nearest;
            two.d1 = d;
            two.nearest = cluster;
        } else if (is_nearer(d, cluster, two.d2, two.second)) {
            two.d2 = d;
            two.second = cluster;
        }
    }
    if (two.nearest == none)
        two.nearest = 0;
    if (two.second == none)  /* k = 1, or NaN */
        two.second = 0;
    return two;
}

#endif
