/* Swaps of k-medoids: exact gains, and the update (pybandit/cluster/swaps.h). */
#include <math.h>
#include <string.h>

#include "pybandit/cluster/swaps.h"

#include "tile_gains.h"
#include "nearest.h"

/* Adds the gains of one tile: sums[0] whichever medoid is removed, sums[1 + l] for cluster l. */
WIDE static void add_gains(const pb_kmedoids *km, const double *d, uint64_t near, int64_t slot,
                           double *sums)
{
    if (near == PB_ALL_NEAR) {
        double u[PB_TILE], o[PB_TILE], moments[2] = {0.0, 0.0};
        int lanes[PB_TILE];
        find_gains(d, km->d1 + slot, km->d2 + slot, at_slot(km->weights, slot), u, o);
        add_moments(u, moments);
        sums[0] += moments[0];
        const int n = find_lanes(o, lanes);
        for (int i = 0; i < n; i++)
            sums[1 + km->nearest[slot + lanes[i]]] += o[lanes[i]];
        return;
    }
    double sum = 0.0, o;
    for (; near; near &= near - 1) {
        const int64_t j = lowest_bit(near), at = slot + j;
        const double weight = km->weights ? km->weights[at] : 1.0;
        sum += gains_of(d[j], km->d1[at], km->d2[at], weight, &o);
        sums[1 + km->nearest[at]] += o;
    }
    sums[0] += sum;
}

/* Keeps the distances of near references; others are so far that the swap does not change them. */
static void keep(double *measured, const double *d, uint64_t near)
{
    if (near == PB_ALL_NEAR) {
        memcpy(measured, d, PB_TILE * sizeof *d);
        return;
    }
    for (int j = 0; j < PB_TILE; j++)
        measured[j] = INFINITY;
    for (; near; near &= near - 1)
        measured[lowest_bit(near)] = d[lowest_bit(near)];
}

/* Returns the stratum of a tile, at least that of the tile before it. */
static int64_t stratum_of(const pb_kmedoids *km, int64_t tile, int64_t stratum)
{
    while (km->starts[stratum + 1] <= tile)
        stratum++;
    return stratum;
}

pb_status pb_swap_measure(pb_kmedoids *km, int64_t row, const double *apart, int64_t first,
                          int64_t last, pb_tile *scratch, double *d, double *sums)
{
    double *const n_measured = sums + 1 + km->k;
    for (int64_t l = 0; l < km->k + 2; l++)
        sums[l] = 0.0;
    for (int64_t t = first, s = 0; t < last; t++) {
        const int64_t slot = t * PB_TILE;
        uint64_t near = 0;
        s = stratum_of(km, t, s);
        if (!(apart && apart[s] > km->reach[t])) {
            const pb_status status = read_near(km, km->tiles + t, &row, 1, NULL, km->d2 + slot,
                                               scratch, d, &near);
            if (status != PB_OK)
                return status;
            *n_measured += (double)km->tiles[t].n;
            add_gains(km, d, near, slot, sums);
        }
        keep(km->measured + slot, d, near);
    }
    return PB_OK;
}

pb_status pb_swap_measure_many(const pb_kmedoids *km, const int64_t *rows, const double *apart,
                               int64_t n, int64_t first, int64_t last, pb_tile *scratch,
                               double *out, double *sums)
{
    const int64_t size = 2 + km->k;
    int64_t some[PB_SWAP_MOST], of[PB_SWAP_MOST];
    uint64_t near[PB_SWAP_MOST];
    for (int64_t i = 0; i < n * size; i++)
        sums[i] = 0.0;
    for (int64_t t = first, s = 0; t < last; t++) {
        int64_t count = 0;
        s = stratum_of(km, t, s);
        for (int64_t i = 0; i < n; i++) {
            some[count] = rows[i];
            of[count] = i;
            count += !(apart && apart[i * km->k + s] > km->reach[t]);
        }
        if (!count)
            continue;
        const pb_status status = read_near(km, km->tiles + t, some, count, NULL,
                                           km->d2 + t * PB_TILE, scratch, out, near);
        if (status != PB_OK)
            return status;
        for (int64_t i = 0; i < count; i++) {
            double *const own = sums + of[i] * size;
            add_gains(km, out + i * PB_TILE, near[i], t * PB_TILE, own);
            own[1 + km->k] += (double)km->tiles[t].n;
        }
    }
    return PB_OK;
}

double pb_swap_gain(const pb_kmedoids *km, double *parts, int64_t n_parts, int64_t *cluster)
{
    const int64_t size = 2 + km->k;
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
    if (km->between)
        pb_kmedoids_rebound(km, cluster);
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
