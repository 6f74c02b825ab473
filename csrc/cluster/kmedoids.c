/* Points, tiles and sums of a stage of k-medoids (pybandit/cluster/kmedoids.h). */
#include <math.h>

#include "pybandit/cluster/kmedoids.h"

#include "../_shared/minimum.h"
#include "../_shared/wide.h"
#include "bounds.h"
#include "nearest.h"

int64_t pb_kmedoids_tiles(const int64_t *sizes, int64_t k)
{
    int64_t n_tiles = 0;
    for (int64_t s = 0; s < k; s++)
        n_tiles += tiles_of(sizes[s]);
    return n_tiles;
}

static void find_starts(pb_kmedoids *km)
{
    km->starts[0] = 0;
    for (int64_t s = 0; s < km->k; s++)
        km->starts[s + 1] = km->starts[s] + tiles_of(km->sizes[s]);
}

/*
 * Orders the clusters so that neighbours are near: from the first one, always the nearest medoid
 * that is left. Writes the place of each.
 */
static void chain(const pb_kmedoids *km, int64_t *place)
{
    const int64_t k = km->k;
    for (int64_t l = 0; l < k; l++)
        place[l] = km->between ? -1 : l;
    for (int64_t at = 0, l = 0; km->between && at < k; at++) {
        place[l] = at;
        int64_t next = l;
        double least = INFINITY;
        for (int64_t other = 0; other < k; other++)
            if (place[other] < 0 && (km->between[l * k + other] < least || next == l)) {
                least = km->between[l * k + other];
                next = other;
            }
        l = next;
    }
}

/*
 * Sorts points first to last - 1 of the mixed sample by the place of their stratum. `next` has k
 * entries.
 */
static void sort_mixed(pb_kmedoids *km, const int32_t *stratum, const int64_t *place,
                       int64_t first, int64_t last, int64_t *next, int64_t *points)
{
    for (int64_t l = 0; l < km->k; l++)
        next[l] = 0;
    for (int64_t i = first; i < last; i++)
        next[place[stratum[i]]]++;
    for (int64_t l = 0, start = first; l < km->k; l++) {
        const int64_t size = next[l];
        next[l] = start;
        start += size;
    }
    for (int64_t i = first; i < last; i++)
        points[next[place[stratum[i]]]++] = i;
}

/* Lists the mixed sample; the samples of each look are sorted by themselves. */
static void arrange_mixed(pb_kmedoids *km, const int64_t *order, const int32_t *stratum,
                          int64_t *workspace)
{
    const int64_t n = km->n_mixed, n_slots = tiles_of(n) * PB_TILE;
    int64_t *const points = km->mixed_slots;  /* until they are replaced by slots */
    chain(km, workspace);
    for (int64_t first = 0, last = FIRST_MIXED; first < n; first = last, last *= 2)
        sort_mixed(km, stratum, workspace, first, minimum(last, n), workspace + km->k, points);
    for (int64_t i = 0; i < n_slots; i++) {
        const int64_t point = i < n ? points[i] : 0;
        km->mixed_rows[i] = i < n ? order[point] : 0;
        km->mixed_stratum[i] = i < n ? stratum[point] : -1;
        km->mixed_slots[i] = i < n ? km->slots[point] : 0;
    }
    for (int64_t t = 0; t < tiles_of(n); t++) {
        km->mixed_tiles[t].n = minimum(PB_TILE, n - t * PB_TILE);
        km->mixed_tiles[t].references = km->mixed_rows + t * PB_TILE;
    }
}

void pb_kmedoids_arrange(pb_kmedoids *km, const int64_t *order, const int32_t *stratum,
                         int64_t *workspace)
{
    for (int64_t t = 0; t < km->n_tiles; t++)
        km->tiles[t].n = 0;
    for (int64_t i = 0; i < km->n_tiles * PB_TILE; i++)
        km->rows[i] = 0;
    find_starts(km);
    for (int64_t s = 0; s < km->k; s++)
        km->starts[s] *= PB_TILE;  /* now the next slot of each stratum */
    for (int64_t i = 0; i < km->n; i++) {
        const int64_t slot = km->slots[i] = km->starts[stratum[i]]++;
        km->rows[slot] = order[i];
        km->tiles[slot / PB_TILE].n++;
    }
    find_starts(km);
    for (int64_t t = 0; t < km->n_tiles; t++)
        km->tiles[t].references = km->rows + t * PB_TILE;
    arrange_mixed(km, order, stratum, workspace);
}

void pb_kmedoids_fill(const pb_kmedoids *km, const pb_tile *tiles, int64_t first, int64_t last)
{
    if (!holds_rows(&km->distances))
        return;
    for (int64_t t = first; t < last; t++)
        pb_tile_fill(tiles + t, &km->distances);
}

/* Returns the length between two rows, or 0 if it overflows. */
static double length_between(const pb_kmedoids *km, int64_t a, int64_t b)
{
    const pb_distances *const d = &km->distances;
    const double length = length_of(d->metric, pb_distance_between(d, a, b));
    return length < INFINITY ? length : 0.0;
}

void pb_kmedoids_bound(pb_kmedoids *km)
{
    for (int64_t a = 0; a < km->k; a++) {
        km->pivots[a] = km->medoids[a];
        for (int64_t b = 0; b <= a; b++)
            km->between[a * km->k + b] = km->between[b * km->k + a] =
                length_between(km, km->medoids[a], km->medoids[b]);
    }
}

void pb_kmedoids_rebound(pb_kmedoids *km, int64_t cluster)
{
    for (int64_t l = 0; l < km->k; l++)
        km->between[cluster * km->k + l] = km->between[l * km->k + cluster] =
            length_between(km, km->medoids[cluster], km->medoids[l]);
}

void pb_kmedoids_surround(pb_kmedoids *km)
{
    for (int64_t t = 0; t < km->n_tiles; t++) {
        double most = 0.0;
        for (int64_t j = 0; j < PB_TILE; j++)
            most = larger(most, km->d1[t * PB_TILE + j]);
        km->radius[t] = length_of(km->distances.metric, most);
    }
}

void pb_kmedoids_apart(const pb_kmedoids *km, int64_t row, double *apart)
{
    for (int64_t s = 0; s < km->k; s++)
        apart[s] = length_between(km, row, km->pivots[s]);
}

pb_status pb_kmedoids_nearest(const pb_kmedoids *km, const pb_tile *tile, int64_t *rows,
                              double *out, double *d1, double *d2, int32_t *nearest,
                              int32_t *second)
{
    const pb_status status = read_medoids(km, tile, rows, out);
    for (int64_t j = 0; j < PB_TILE && status == PB_OK; j++) {
        const two_medoids two = nearest_two(km, out, j);
        d1[j] = two.d1;
        d2[j] = two.d2;
        nearest[j] = two.nearest;
        second[j] = two.second;
    }
    return status;
}

/* The order changes little from swap to swap. */
static void sort_by_removal(pb_kmedoids *km)
{
    for (int64_t i = 1; i < km->k; i++) {
        const int64_t l = km->by_removal[i];
        int64_t at = i;
        for (; at > 0 && km->removal[km->by_removal[at - 1]] > km->removal[l]; at--)
            km->by_removal[at] = km->by_removal[at - 1];
        km->by_removal[at] = l;
    }
}

static void copy_mixed(pb_kmedoids *km)
{
    for (int64_t i = 0; i < tiles_of(km->n_mixed) * PB_TILE; i++) {
        const int is_pad = i >= km->n_mixed;
        const int64_t slot = km->mixed_slots[i];
        km->mixed_d1[i] = is_pad ? 0.0 : km->d1[slot];
        km->mixed_d2[i] = is_pad ? 0.0 : km->d2[slot];
        km->mixed_nearest[i] = is_pad ? 0 : km->nearest[slot];
        if (km->weights)
            km->mixed_weights[i] = is_pad ? 0.0 : km->weights[slot];
    }
}

/* Writes how far from a pivot, or from its own medoid, a reference still counts. */
static void find_reach(pb_kmedoids *km)
{
    const pb_metric metric = km->distances.metric;
    for (int64_t t = 0; t < km->n_tiles; t++) {
        double most = 0.0;
        for (int64_t j = 0; j < PB_TILE; j++)
            most = larger(most, km->d2[t * PB_TILE + j]);
        km->reach[t] = enlarged(&km->distances, km->radius[t] + length_of(metric, most));
    }
    for (int64_t i = 0; i < tiles_of(km->n_mixed) * PB_TILE; i++)
        km->mixed_reach[i] = i >= km->n_mixed
                                 ? -INFINITY
                                 : enlarged(&km->distances, length_of(metric, km->mixed_d1[i]) +
                                                                length_of(metric, km->mixed_d2[i]));
}

void pb_kmedoids_sum(pb_kmedoids *km)
{
    const int64_t k = km->k;
    for (int64_t i = 0; i < k * k; i++)
        km->removal_in[i] = 0.0;
    km->loss = 0.0;
    for (int64_t s = 0; s < k; s++)
        for (int64_t i = km->starts[s] * PB_TILE; i < km->starts[s + 1] * PB_TILE; i++) {
            const double weight = km->weights ? km->weights[i] : 1.0;
            km->removal_in[s * k + km->nearest[i]] += weight * (km->d2[i] - km->d1[i]);
            km->loss += weight * km->d1[i];
        }
    for (int64_t l = 0; l < k; l++) {
        km->removal[l] = 0.0;
        for (int64_t s = 0; s < k; s++)
            km->removal[l] += km->removal_in[s * k + l];
    }
    sort_by_removal(km);
    copy_mixed(km);
    km->version++;
    if (km->between)
        find_reach(km);
}
