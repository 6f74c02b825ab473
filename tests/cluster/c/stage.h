#ifndef STAGE_H
#define STAGE_H

/* A stage of k-medoids on random rows, for C tests. */
#include "../../_shared/c/check.h"

#include "pybandit/cluster/gains.h"

typedef struct {
    pb_kmedoids km;
    int64_t n, d, k;
    double *rows;
    int64_t *order;
    double *weights;  /* by row, or NULL */
} stage;

static pb_tile *make_tiles(const pb_distances *distances, int64_t n)
{
    pb_tile *const tiles = allocate(n, sizeof *tiles);
    for (int64_t t = 0; t < n; t++)
        tiles[t].memory = allocate(pb_tile_memory(distances, 1), sizeof(double));
    return tiles;
}

static void free_tiles(pb_tile *tiles, int64_t n)
{
    for (int64_t t = 0; t < n; t++)
        free(tiles[t].memory);
    free(tiles);
}

/* Rows on a grid have many ties. */
static void make_points(stage *s, uint64_t *counter, int64_t n, int64_t d, int64_t k,
                        int is_grid, int has_weights)
{
    *s = (stage){.n = n, .d = d, .k = k};
    s->rows = allocate(n * d, sizeof *s->rows);
    s->order = allocate(n, sizeof *s->order);
    s->weights = has_weights ? allocate(n, sizeof *s->weights) : NULL;
    for (int64_t i = 0; i < n * d; i++) {
        s->rows[i] = 10.0 * splitmix_double(counter);
        s->rows[i] = is_grid ? floor(0.4 * s->rows[i]) : s->rows[i];
    }
    for (int64_t i = 0; i < n; i++) {
        if (has_weights)
            s->weights[i] = floor(3.0 * splitmix_double(counter));
        const int64_t other = (int64_t)(splitmix_next(counter) % (uint64_t)(i + 1));
        s->order[i] = s->order[other];
        s->order[other] = i;
    }
    s->km.distances = (pb_distances){.metric = is_grid ? PB_MANHATTAN : PB_EUCLIDEAN, .n = n,
                                     .n_columns = d, .doubles = s->rows};
}

/* Makes the last k rows of the order medoids, and arranges all points. */
static void make_stage(stage *s, int64_t n_mixed)
{
    pb_kmedoids *const km = &s->km;
    const int64_t n = s->n, k = s->k;
    km->k = k;
    km->n = n;
    km->n_mixed = n_mixed;
    km->tolerance = 1e-3 / (double)k;
    km->medoids = allocate(k, sizeof(int64_t));
    km->by_row = allocate(k, sizeof(int64_t));
    for (int64_t l = 0; l < k; l++) {
        km->medoids[l] = s->order[n - 1 - l];
        int64_t at = l;
        for (; at > 0 && km->medoids[km->by_row[at - 1]] > km->medoids[l]; at--)
            km->by_row[at] = km->by_row[at - 1];
        km->by_row[at] = l;
    }
    km->between = allocate(k * k, sizeof(double));
    km->pivots = allocate(k, sizeof(int64_t));
    pb_kmedoids_bound(km);
    km->sizes = allocate(k, sizeof(int64_t));
    km->starts = allocate(k + 1, sizeof(int64_t));
    km->slots = allocate(n, sizeof(int64_t));
    memset(km->sizes, 0, (size_t)k * sizeof(int64_t));
    int64_t *const rows = allocate(k, sizeof(int64_t));
    double *const out = allocate(k * PB_TILE, sizeof(double));
    int32_t *const stratum = allocate(n, sizeof(int32_t));
    pb_tile *const tile = make_tiles(&km->distances, 1);
    double d1[PB_TILE], d2[PB_TILE];
    int32_t nearest[PB_TILE], second[PB_TILE];
    for (int64_t i = 0; i < n; i++) {
        tile->n = 1;
        tile->references = s->order + i;
        pb_tile_fill(tile, &km->distances);
        assert(pb_kmedoids_nearest(km, tile, rows, out, d1, d2, nearest, second) == PB_OK);
        stratum[i] = nearest[0];
        km->sizes[nearest[0]]++;
    }
    km->n_tiles = pb_kmedoids_tiles(km->sizes, k);
    const int64_t n_slots = km->n_tiles * PB_TILE, mixed = (n_mixed + PB_TILE - 1) / PB_TILE;
    km->tiles = make_tiles(&km->distances, km->n_tiles);
    km->rows = allocate(n_slots, sizeof(int64_t));
    km->mixed_rows = allocate(mixed * PB_TILE, sizeof(int64_t));
    km->mixed_tiles = make_tiles(&km->distances, mixed);
    km->mixed_stratum = allocate(mixed * PB_TILE, sizeof(int32_t));
    km->mixed_nearest = allocate(mixed * PB_TILE, sizeof(int32_t));
    km->mixed_d1 = allocate(mixed * PB_TILE, sizeof(double));
    km->mixed_d2 = allocate(mixed * PB_TILE, sizeof(double));
    km->mixed_slots = allocate(mixed * PB_TILE, sizeof(int64_t));
    km->mixed_reach = allocate(mixed * PB_TILE, sizeof(double));
    int64_t *const workspace = allocate(2 * k, sizeof(int64_t));
    pb_kmedoids_arrange(km, s->order, stratum, workspace);
    free(workspace);
    pb_kmedoids_fill(km, km->tiles, 0, km->n_tiles);
    pb_kmedoids_fill(km, km->mixed_tiles, 0, mixed);
    km->d1 = allocate(n_slots, sizeof(double));
    km->d2 = allocate(n_slots, sizeof(double));
    km->nearest = allocate(n_slots, sizeof(int32_t));
    km->second = allocate(n_slots, sizeof(int32_t));
    km->measured = allocate(n_slots, sizeof(double));
    if (s->weights) {
        km->weights = allocate(n_slots, sizeof(double));
        km->mixed_weights = allocate(mixed * PB_TILE, sizeof(double));
    }
    for (int64_t t = 0; t < km->n_tiles; t++) {
        const int64_t slot = t * PB_TILE;
        assert(pb_kmedoids_nearest(km, km->tiles + t, rows, out, km->d1 + slot, km->d2 + slot,
                                   km->nearest + slot, km->second + slot) == PB_OK);
        for (int64_t j = 0; j < PB_TILE; j++) {
            const int is_pad = j >= km->tiles[t].n;
            if (is_pad)
                km->d1[slot + j] = km->d2[slot + j] = 0.0;
            if (s->weights)
                km->weights[slot + j] = is_pad ? 0.0 : s->weights[km->rows[slot + j]];
        }
    }
    km->radius = allocate(km->n_tiles, sizeof(double));
    km->reach = allocate(km->n_tiles, sizeof(double));
    pb_kmedoids_surround(km);
    km->by_removal = allocate(k, sizeof(int64_t));
    for (int64_t l = 0; l < k; l++)
        km->by_removal[l] = l;
    km->removal = allocate(k, sizeof(double));
    km->removal_in = allocate(k * k, sizeof(double));
    pb_kmedoids_sum(km);
    free(rows);
    free(out);
    free(stratum);
    free_tiles(tile, 1);
}

static void free_stage(stage *s)
{
    pb_kmedoids *const km = &s->km;
    void *const all[] = {s->rows, s->order, s->weights, km->medoids, km->by_row, km->sizes,
                         km->starts, km->slots, km->d1, km->d2, km->nearest, km->second,
                         km->measured, km->weights, km->mixed_weights, km->mixed_stratum,
                         km->mixed_nearest, km->mixed_d1, km->mixed_d2, km->removal,
                         km->removal_in, km->rows, km->mixed_rows, km->mixed_slots,
                         km->mixed_reach, km->between, km->pivots, km->radius, km->reach,
                         km->by_removal};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    free_tiles(km->tiles, km->n_tiles);
    free_tiles(km->mixed_tiles, (km->n_mixed + PB_TILE - 1) / PB_TILE);
}

static inline void start_trial(pb_swap_trial *t, int64_t k)
{
    t->memory = allocate(4 * k, sizeof(double));
    t->touched = allocate(2 * k, sizeof(int32_t));
    memset(t->touched, 0, (size_t)(2 * k) * sizeof(int32_t));
    t->n_touched = 0;
}

static inline void free_trial(pb_swap_trial *t)
{
    free(t->memory);
    free(t->touched);
}

static double between(const stage *s, int64_t i, int64_t j)
{
    return pb_distance_between(&s->km.distances, i, j);
}

static double weight_of(const stage *s, int64_t row) { return s->weights ? s->weights[row] : 1.0; }

/* Finds the two nearest medoids of a row by the plain rule. */
static inline void plain_two(const stage *s, int64_t row, int64_t *first, int64_t *second)
{
    *first = *second = -1;
    for (int64_t l = 0; l < s->k; l++) {
        const double d = between(s, s->km.medoids[l], row);
        if (*first < 0 || d < between(s, s->km.medoids[*first], row)) {
            *second = *first;
            *first = l;
        } else if (*second < 0 || d < between(s, s->km.medoids[*second], row)) {
            *second = l;
        }
    }
}

/* Compares the points and the sums of a stage with the plain formulas. */
static inline void check_stage(const stage *s)
{
    const pb_kmedoids *const km = &s->km;
    const int64_t k = s->k;
    double *const removal = allocate(k, sizeof(double));
    double loss = 0.0;
    for (int64_t l = 0; l < k; l++)
        removal[l] = 0.0;
    for (int64_t i = 0; i < s->n; i++) {
        const int64_t slot = km->slots[i], row = s->order[i];
        int64_t first, second;
        plain_two(s, row, &first, &second);
        assert(km->rows[slot] == row);
        const double d1 = between(s, km->medoids[first], row);
        const double d2 = second < 0 ? INFINITY : between(s, km->medoids[second], row);
        assert(close_to(km->d1[slot], d1, 1e-12) && (k == 1 || close_to(km->d2[slot], d2, 1e-12)));
        assert(km->nearest[slot] == first && (k == 1 || km->second[slot] == second));
        loss += weight_of(s, row) * d1;
        if (k > 1)
            removal[first] += weight_of(s, row) * (d2 - d1);
    }
    assert(close_to(km->loss, loss, 1e-9 * (1.0 + loss)));
    for (int64_t l = 0; l < k && k > 1; l++) {
        double sum = 0.0;
        for (int64_t t = 0; t < k; t++)
            sum += km->removal_in[t * k + l];
        assert(close_to(km->removal[l], removal[l], 1e-9 * (1.0 + loss)));
        assert(close_to(sum, removal[l], 1e-9 * (1.0 + loss)));
    }
    free(removal);
}

#endif
