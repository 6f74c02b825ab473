/* Swaps of k-medoids: exact gains, and the update (pybandit/cluster/swaps.h). */
#include <math.h>
#include <string.h>

#include "pybandit/cluster/swaps.h"

#include "tile_gains.h"
#include "nearest.h"

/* Adds the gains of one tile: sums[0] whichever medoid is removed, sums[1 + l] for cluster l. */
WIDE static void add_gains(const pb_kmedoids *km, const double *d, int64_t slot, double *sums)
{
    double u[PB_TILE], o[PB_TILE], moments[2] = {0.0, 0.0};
    int lanes[PB_TILE];
    find_gains(d, km->d1 + slot, km->d2 + slot, at_slot(km->weights, slot), u, o);
    add_moments(u, moments);
    sums[0] += moments[0];
    const int n = find_lanes(o, lanes);
    for (int i = 0; i < n; i++)
        sums[1 + km->nearest[slot + lanes[i]]] += o[lanes[i]];
}

pb_status pb_swap_measure(pb_kmedoids *km, int64_t row, int64_t first, int64_t last,
                          pb_tile *scratch, double *d, double *sums)
{
    for (int64_t l = 0; l <= km->k; l++)
        sums[l] = 0.0;
    for (int64_t t = first; t < last; t++) {
        const int64_t slot = t * PB_TILE;
        const pb_status status = read_rows(km, km->tiles + t, &row, 1, scratch, d);
        if (status != PB_OK)
            return status;
        memcpy(km->measured + slot, d, PB_TILE * sizeof *d);
        add_gains(km, d, slot, sums);
    }
    return PB_OK;
}

pb_status pb_swap_measure_many(const pb_kmedoids *km, const int64_t *rows, int64_t n,
                               int64_t first, int64_t last, pb_tile *scratch, double *out,
                               double *sums)
{
    const int64_t size = 1 + km->k;
    for (int64_t i = 0; i < n * size; i++)
        sums[i] = 0.0;
    for (int64_t t = first; t < last; t++) {
        const pb_status status = read_rows(km, km->tiles + t, rows, n, scratch, out);
        if (status != PB_OK)
            return status;
        for (int64_t i = 0; i < n; i++)
            add_gains(km, out + i * PB_TILE, t * PB_TILE, sums + i * size);
    }
    return PB_OK;
}

double pb_swap_gain(const pb_kmedoids *km, double *parts, int64_t n_parts, int64_t *cluster)
{
    const int64_t size = 1 + km->k;
    for (int64_t p = 1; p < n_parts; p++)
        for (int64_t l = 0; l < size; l++)
            parts[l] += parts[p * size + l];
    double most = -INFINITY;
    *cluster = 0;
    for (int64_t l = 0; l < km->k; l++) {
        const double gain = parts[0] + parts[1 + l] - km->removal[l];
        if (gain > most) {
            most = gain;
            *cluster = l;
        }
    }
    return most;
}

int pb_swap_is_gain(const pb_kmedoids *km, double gain)
{
    return gain > km->tolerance * km->loss;
}

void pb_swap_make(pb_kmedoids *km, int64_t row, int64_t cluster)
{
    /* take the cluster out of by_row and insert it at its new place */
    int64_t at = 0;
    while (km->by_row[at] != cluster)
        at++;
    km->medoids[cluster] = row;
    for (; at + 1 < km->k && km->medoids[km->by_row[at + 1]] < row; at++)
        km->by_row[at] = km->by_row[at + 1];
    for (; at > 0 && km->medoids[km->by_row[at - 1]] > row; at--)
        km->by_row[at] = km->by_row[at - 1];
    km->by_row[at] = cluster;
}

/*
 * Updates one point to which the new medoid of cluster l has distance d. Returns 0 if its second
 * medoid is unknown: l was one of its two, and the new medoid is farther than the other clusters
 * may be.
 */
static int update_point(pb_kmedoids *km, int64_t slot, int32_t l, double d)
{
    double *const d1 = km->d1 + slot, *const d2 = km->d2 + slot;
    int32_t *const nearest = km->nearest + slot, *const second = km->second + slot;
    if (*nearest == l) {
        if (is_nearer(d, l, *d2, *second)) {
            *d1 = d;
            return 1;
        }
        return 0;
    }
    if (is_nearer(d, l, *d1, *nearest)) {
        *d2 = *d1;
        *second = *nearest;
        *d1 = d;
        *nearest = l;
        return 1;
    }
    if (*second == l) {
        if (d > *d2)
            return 0;
        *d2 = d;
    } else if (is_nearer(d, l, *d2, *second)) {
        *d2 = d;
        *second = l;
    }
    return 1;
}

/* Compares the collected slots with all medoids. */
static pb_status search_again(pb_kmedoids *km, const int64_t *slots, int64_t n, pb_tile *tile,
                              int64_t *rows, double *out)
{
    int64_t references[PB_TILE];
    for (int64_t j = 0; j < n; j++)
        references[j] = km->rows[slots[j]];
    tile->n = n;
    tile->references = references;
    pb_tile_fill(tile, &km->distances);
    const pb_status status = read_medoids(km, tile, rows, out);
    for (int64_t j = 0; j < n && status == PB_OK; j++) {
        const two_medoids two = nearest_two(km, out, j);
        km->d1[slots[j]] = two.d1;
        km->d2[slots[j]] = two.d2;
        km->nearest[slots[j]] = two.nearest;
        km->second[slots[j]] = two.second;
    }
    return status;
}

pb_status pb_swap_update(pb_kmedoids *km, int64_t cluster, int64_t first, int64_t last,
                         pb_tile *tile, int64_t *rows, double *out)
{
    int64_t slots[PB_TILE], n = 0;
    pb_status status = PB_OK;
    for (int64_t t = first; t < last && status == PB_OK; t++)
        for (int64_t j = 0; j < km->tiles[t].n && status == PB_OK; j++) {
            const int64_t slot = t * PB_TILE + j;
            if (!update_point(km, slot, (int32_t)cluster, km->measured[slot]))
                slots[n++] = slot;
            if (n == PB_TILE) {
                status = search_again(km, slots, n, tile, rows, out);
                n = 0;
            }
        }
    if (n && status == PB_OK)
        status = search_again(km, slots, n, tile, rows, out);
    return status;
}
