/* Stages of k-medoids in exactly the memory that they require: a swap lowers the loss. */
#include "fuzz.h"

#include "pybandit/cluster/gains.h"
#include "pybandit/cluster/swaps.h"
#include "pybandit/cluster/trials.h"

enum { MOST_N = 150, MOST_K = 6, TOGETHER = 8 };

typedef struct {
    const double *values;  /* (n, n) */
    int64_t n, n_calls, fails_at;
} source;

static int look_up(const int64_t *factors, int64_t n_factors, const int64_t *states,
                   int64_t n_states, double *out, void *user_data)
{
    source *s = user_data;
    if (s->n_calls++ == s->fails_at)
        return 1;
    for (int64_t f = 0; f < n_factors; f++)
        for (int64_t i = 0; i < n_states; i++) {
            HOLDS(factors[f] >= 0 && factors[f] < s->n && states[i] >= 0 && states[i] < s->n);
            HOLDS(i == 0 || states[i] > states[i - 1]);
            out[f * n_states + i] = s->values[states[i] * s->n + factors[f]];
        }
    return 0;
}

static pb_tile *take_tiles(pool *p, const pb_distances *distances, int64_t n)
{
    pb_tile *const tiles = TAKE(p, n, pb_tile);
    for (int64_t t = 0; t < n; t++)
        tiles[t].memory = distances->function
                              ? NULL : TAKE(p, pb_tile_memory(distances, 1), double);
    return tiles;
}

static void take_points(pool *p, pb_kmedoids *km, int64_t n_slots, int64_t n_mixed)
{
    km->rows = TAKE(p, n_slots, int64_t);
    km->d1 = ZEROS(p, n_slots, double);
    km->d2 = ZEROS(p, n_slots, double);
    km->nearest = ZEROS(p, n_slots, int32_t);
    km->second = ZEROS(p, n_slots, int32_t);
    km->measured = TAKE(p, n_slots, double);
    km->mixed_rows = TAKE(p, n_mixed, int64_t);
    km->mixed_d1 = TAKE(p, n_mixed, double);
    km->mixed_d2 = TAKE(p, n_mixed, double);
    km->mixed_nearest = TAKE(p, n_mixed, int32_t);
    km->mixed_stratum = TAKE(p, n_mixed, int32_t);
    km->mixed_slots = TAKE(p, n_mixed, int64_t);
    km->mixed_reach = TAKE(p, n_mixed, double);
    km->by_removal = TAKE(p, km->k, int64_t);
    for (int64_t l = 0; l < km->k; l++)
        km->by_removal[l] = l;
    km->removal = TAKE(p, km->k, double);
    km->removal_in = TAKE(p, km->k * km->k, double);
}

/* Memory of the functions that compare with all medoids. */
typedef struct {
    pb_tile tile;
    int64_t *rows;
    double *out;
} workspace;

static pb_status nearest_of(const pb_kmedoids *km, workspace *w, const int64_t *references,
                            int64_t n, double *d1, double *d2, int32_t *nearest, int32_t *second)
{
    w->tile.n = n;
    w->tile.references = references;
    pb_tile_fill(&w->tile, &km->distances);
    return pb_kmedoids_nearest(km, &w->tile, w->rows, w->out, d1, d2, nearest, second);
}

static pb_status begin(pool *p, pb_kmedoids *km, const int64_t *order, workspace *w)
{
    int32_t stratum[MOST_N], nearest[PB_TILE], second[PB_TILE];
    double d1[PB_TILE], d2[PB_TILE];
    km->sizes = ZEROS(p, km->k, int64_t);
    if (!km->distances.function) {
        km->between = TAKE(p, km->k * km->k, double);
        km->pivots = TAKE(p, km->k, int64_t);
        pb_kmedoids_bound(km);
    }
    km->starts = TAKE(p, km->k + 1, int64_t);
    km->slots = TAKE(p, km->n, int64_t);
    for (int64_t i = 0; i < km->n; i++) {
        const pb_status status = nearest_of(km, w, order + i, 1, d1, d2, nearest, second);
        if (status != PB_OK)
            return status;
        stratum[i] = nearest[0];
        km->sizes[nearest[0]]++;
    }
    km->n_tiles = pb_kmedoids_tiles(km->sizes, km->k);
    const int64_t mixed = (km->n_mixed + PB_TILE - 1) / PB_TILE;
    km->tiles = take_tiles(p, &km->distances, km->n_tiles);
    km->mixed_tiles = take_tiles(p, &km->distances, mixed);
    take_points(p, km, km->n_tiles * PB_TILE, mixed * PB_TILE);
    pb_kmedoids_arrange(km, order, stratum, TAKE(p, 2 * km->k, int64_t));
    pb_kmedoids_fill(km, km->tiles, 0, km->n_tiles);
    pb_kmedoids_fill(km, km->mixed_tiles, 0, mixed);
    for (int64_t i = 0; i < km->n; i++) {
        const int64_t slot = km->slots[i];
        const pb_status status = nearest_of(km, w, order + i, 1, d1, d2, nearest, second);
        if (status != PB_OK)
            return status;
        HOLDS(km->rows[slot] == order[i]);
        km->d1[slot] = d1[0];
        km->d2[slot] = d2[0];
        km->nearest[slot] = nearest[0];
        km->second[slot] = second[0];
    }
    if (km->between) {
        km->radius = TAKE(p, km->n_tiles, double);
        km->reach = TAKE(p, km->n_tiles, double);
        pb_kmedoids_surround(km);
    }
    pb_kmedoids_sum(km);
    return PB_OK;
}

/* Returns the lengths of a row from all pivots, or NULL. */
static const double *apart(pool *p, const pb_kmedoids *km, const int64_t *rows, int64_t n)
{
    double *const lengths = km->between ? TAKE(p, n * km->k, double) : NULL;
    for (int64_t i = 0; i < n && lengths; i++)
        pb_kmedoids_apart(km, rows[i], lengths + i * km->k);
    return lengths;
}

static pb_swap_trial take_trial(pool *p, int64_t k)
{
    return (pb_swap_trial){.memory = TAKE(p, 4 * k, double), .touched = ZEROS(p, 2 * k, int32_t)};
}

/* Verifies a candidate, and makes the swap if it gains. */
static pb_status verify(pool *p, pb_kmedoids *km, int64_t row, workspace *w)
{
    double d[PB_TILE], *const sums = TAKE(p, km->k + 2, double), before = km->loss;
    int64_t cluster;
    pb_status status = pb_swap_measure(km, row, apart(p, km, &row, 1), 0, km->n_tiles,
                                       &w->tile, d, sums);
    if (status != PB_OK)
        return status;
    const double gain = pb_swap_gain(km, sums, 1, &cluster);
    HOLDS(cluster >= 0 && cluster < km->k && !isnan(gain));
    if (!pb_swap_is_gain(km, gain))
        return PB_OK;
    pb_swap_make(km, row, cluster);
    status = pb_swap_update(km, cluster, 0, km->n_tiles, &w->tile, w->rows, w->out);
    if (status != PB_OK)
        return status;
    pb_kmedoids_sum(km);
    HOLDS(fabs(before - gain - km->loss) <= 1e-9 * before);
    for (int64_t i = 0; i < km->n_tiles * PB_TILE; i++)
        HOLDS(km->d1[i] >= 0.0 && km->d1[i] <= km->d2[i] && km->nearest[i] < km->k);
    return PB_OK;
}

/* Writes the positions of candidates by increasing row. */
static void sort_by_row(const int64_t *rows, int64_t n, int64_t *by_row)
{
    for (int64_t i = 0; i < n; i++) {
        int64_t at = i;
        for (; at > 0 && rows[by_row[at - 1]] > rows[i]; at--)
            by_row[at] = by_row[at - 1];
        by_row[at] = i;
    }
}

/* Estimates and verifies several candidates at once: the results are those of each alone. */
static pb_status together(pool *p, pb_kmedoids *km, int64_t first, workspace *w)
{
    const int64_t n = km->n < TOGETHER ? km->n : TOGETHER, size = km->k + 2;
    pb_swap_trial trials[TOGETHER], one = take_trial(p, km->k);
    pb_swap_decision decisions[TOGETHER], alone;
    int64_t candidates[TOGETHER], by_row[TOGETHER],
        *const group = TAKE(p, 3 * n + km->k + 1, int64_t), rows[TOGETHER];
    pb_swap_limits limits = {-1, TAKE(p, 2 * PB_SWAP_LIMITS * km->k, double)};
    double d[PB_TILE], *const out = TAKE(p, n * PB_TILE, double);
    double *const sums = TAKE(p, n * size, double), *const own = TAKE(p, size, double);
    pb_tile scratch = {.memory = TAKE(p, pb_tile_memory(&km->distances, n), double)};
    for (int64_t i = 0; i < n; i++) {
        trials[i] = take_trial(p, km->k);
        decisions[i] = pb_swap_begin(km, trials + i, (first + i) % km->n);
        candidates[i] = km->rows[km->slots[(first + i) % km->n]];
    }
    sort_by_row(candidates, n, by_row);
    pb_status status = pb_swap_try_many(km, trials, decisions, n, by_row, &scratch, group, rows,
                                        &limits, out);
    for (int64_t i = 0; i < n && status == PB_OK; i++) {
        status = pb_swap_try(km, &one, (first + i) % km->n, &w->tile, d, &alone);
        if (status != PB_OK)
            return status;
        HOLDS(alone == decisions[i] && one.n_read == trials[i].n_read);
        HOLDS(alone == PB_SWAP_PASS || one.gain == trials[i].gain);
    }
    for (int64_t i = 0; i < n; i++)
        rows[i] = candidates[by_row[i]];
    if (status == PB_OK)
        status = pb_swap_measure_many(km, rows, apart(p, km, rows, n), n, 0, km->n_tiles, &scratch,
                                      out, sums);
    for (int64_t i = 0; i < n && status == PB_OK; i++) {
        status = pb_swap_measure(km, rows[i], apart(p, km, rows + i, 1), 0, km->n_tiles, &w->tile,
                                 d, own);
        HOLDS(status != PB_OK || !memcmp(own, sums + i * size, (size_t)size * sizeof *own));
    }
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    choices c = {bytes, bytes + size};
    pool p = {.n = 0};
    const int64_t n = choose(&c, 2, MOST_N), k = choose(&c, 2, n < MOST_K ? n : MOST_K);
    const int64_t flags = choose(&c, 0, 255), d = flags & 1 ? n : choose(&c, 1, 3);
    pb_kmedoids km = {.n = n, .k = k, .n_mixed = choose(&c, 1, n), .tolerance = 1e-3};
    double *values = TAKE(&p, n * d, double);
    choose_numbers(&c, values, n * d, 1e3);
    for (int64_t i = 0; i < n * d && flags & 1; i++)
        values[i] = flags & 2 && i % 97 == 5 ? -1.0 : fabs(values[i]);
    source s = {values, n, 0, flags & 4 ? choose(&c, 0, 400) : -1};
    km.distances = (pb_distances){flags & 1 ? PB_PRECOMPUTED : (pb_metric)(flags >> 4 & 3), n, d,
                                  NULL, flags & 1 ? NULL : values, flags & 1 ? look_up : NULL,
                                  &s, NULL, NULL};
    km.medoids = TAKE(&p, k, int64_t);
    km.by_row = TAKE(&p, k, int64_t);
    int64_t order[MOST_N];
    const int64_t step = choose(&c, 0, n - 1);
    for (int64_t i = 0; i < n; i++)
        order[i] = (i + step) % n;
    for (int64_t l = 0; l < k; l++)
        km.medoids[l] = km.by_row[l] = l;
    workspace w = {{.memory = TAKE(&p, pb_tile_memory(&km.distances, k), double)},
                   TAKE(&p, k, int64_t), TAKE(&p, k * PB_TILE, double)};
    pb_swap_trial t = take_trial(&p, k);
    pb_status status = begin(&p, &km, order, &w);
    for (int64_t i = 0; i < n && status == PB_OK; i += 1 + choose(&c, 0, 15)) {
        pb_swap_decision decision;
        double out[PB_TILE];
        status = pb_swap_try(&km, &t, i, &w.tile, out, &decision);
        if (status != PB_OK)
            break;
        HOLDS(decision == PB_SWAP_PASS || (t.n_read > 0 && !isnan(t.gain)));
        if (decision == PB_SWAP_ASK)
            status = verify(&p, &km, t.row, &w);
    }
    if (status == PB_OK)
        status = together(&p, &km, step, &w);
    HOLDS(status == PB_OK || flags & 1);
    HOLDS(status != PB_CALLBACK || flags & 4);
    pool_free(&p);
    return 0;
}
