/* Points, tiles and sums of a stage of k-medoids (pybandit/cluster/kmedoids.h). */
#include <math.h>

#include "pybandit/cluster/kmedoids.h"

#include "nearest.h"

static int64_t tiles_of(int64_t n) { return (n + PB_TILE - 1) / PB_TILE; }

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

void pb_kmedoids_arrange(pb_kmedoids *km, const int64_t *order, const int32_t *stratum)
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
    for (int64_t t = 0; t < tiles_of(km->n_mixed); t++) {
        const int64_t first = t * PB_TILE, left = km->n_mixed - first;
        km->mixed_tiles[t].n = left < PB_TILE ? left : PB_TILE;
        km->mixed_tiles[t].references = km->mixed_rows + first;
        for (int64_t j = 0; j < PB_TILE; j++) {
            km->mixed_rows[first + j] = j < left ? order[first + j] : 0;
            km->mixed_stratum[first + j] = j < left ? stratum[first + j] : -1;
        }
    }
}

void pb_kmedoids_fill(const pb_kmedoids *km, const pb_tile *tiles, int64_t first, int64_t last)
{
    if (!holds_rows(&km->distances))
        return;
    for (int64_t t = first; t < last; t++)
        pb_tile_fill(tiles + t, &km->distances);
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
    for (int64_t i = 0; i < tiles_of(km->n_mixed) * PB_TILE; i++) {
        const int is_pad = i >= km->n_mixed;
        const int64_t slot = is_pad ? 0 : km->slots[i];
        km->mixed_d1[i] = is_pad ? 0.0 : km->d1[slot];
        km->mixed_d2[i] = is_pad ? 0.0 : km->d2[slot];
        km->mixed_nearest[i] = is_pad ? 0 : km->nearest[slot];
        if (km->weights)
            km->mixed_weights[i] = is_pad ? 0.0 : km->weights[slot];
    }
}
