/* Distances of rows, matrices and functions, in exactly the memory that they require. */
#include "fuzz.h"

#include "pybandit/cluster/distance.h"

typedef struct {
    const double *values;
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
            out[f * n_states + i] = s->values[states[i] * s->n + factors[f]];
        }
    return 0;
}

/* Rows in CSR have the bits of dense rows, and odd columns are ignored. */
static void compare_sparse(choices *c, pool *p, const pb_distances *points, int64_t n_candidates,
                           const int64_t *candidates, const pb_tile *tile, const double *expected)
{
    const int64_t n = points->n, d = points->n_columns;
    const int is_odd = choose(c, 0, 7) == 0;
    int64_t *const starts = TAKE(p, n + 1, int64_t), size = 0;
    int32_t *const columns = TAKE(p, n * d, int32_t);
    double *const doubles = TAKE(p, n * d, double);
    float *const floats = TAKE(p, n * d, float);
    for (int64_t i = 0; i < n * d; i++) {
        const double value = points->floats ? (double)points->floats[i] : points->doubles[i];
        if (i % d == 0)
            starts[i / d] = size;
        if (value == 0.0)
            continue;
        columns[size] = is_odd ? (int32_t)choose_bits(c) : (int32_t)(i % d);
        floats[size] = (float)value;
        doubles[size++] = value;
    }
    starts[n] = size;
    pb_distances rows = *points;
    rows.starts = starts;
    rows.columns = columns;
    rows.floats = points->floats ? floats : NULL;
    rows.doubles = points->floats ? NULL : doubles;
    const pb_tile own = {tile->n, tile->references,
                         TAKE(p, pb_tile_memory(&rows, n_candidates), double)};
    double *const out = TAKE(p, n_candidates * PB_TILE, double);
    pb_tile_fill(&own, &rows);
    HOLDS(pb_tile_read(&own, &rows, candidates, n_candidates, out) == PB_OK);
    HOLDS(is_odd || !memcmp(out, expected, (size_t)(n_candidates * PB_TILE) * sizeof *out));
    const double found = pb_distance_between(&rows, 0, n - 1);
    HOLDS(is_odd || found == pb_distance_between(points, 0, n - 1));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    choices c = {bytes, bytes + size};
    pool p = {.n = 0};
    const pb_metric metric = (pb_metric)choose(&c, 0, 5);
    const int64_t n = choose(&c, 1, 40), flags = choose(&c, 0, 255);
    const int64_t d = metric == PB_PRECOMPUTED ? n : choose(&c, 1, 20);
    const int is_function = metric == PB_PRECOMPUTED && flags & 2;
    double *doubles = TAKE(&p, n * d, double);
    float *floats = TAKE(&p, n * d, float);
    choose_numbers(&c, doubles, n * d, 1e3);
    for (int64_t i = 0; i < n * d; i++) {
        floats[i] = (float)doubles[i];
        if (flags & 1)
            doubles[i] = (double)floats[i];
    }
    source s = {doubles, n, 0, flags & 4 ? choose(&c, 0, 2) : -1};
    const pb_distances points = {metric, n, d, !is_function && flags & 1 ? floats : NULL,
                                 is_function || flags & 1 ? NULL : doubles,
                                 is_function ? look_up : NULL, &s, NULL, NULL};
    const int64_t n_candidates = choose(&c, 1, n);
    int64_t candidates[40], references[PB_TILE];
    for (int64_t i = 0; i < n_candidates; i++)
        candidates[i] = i;
    pb_tile tile = {.references = references,
                    .memory = TAKE(&p, pb_tile_memory(&points, n_candidates), double)};
    double *out = TAKE(&p, n_candidates * PB_TILE, double);
    for (int round = 0; round < 3; round++) {
        const int64_t n_references = tile.n = choose(&c, 1, PB_TILE);
        for (int64_t r = 0; r < n_references; r++)
            references[r] = choose(&c, 0, n - 1);
        pb_tile_fill(&tile, &points);
        const pb_status status = pb_tile_read(&tile, &points, candidates, n_candidates, out);
        HOLDS((status == PB_CALLBACK) == (is_function && s.n_calls == s.fails_at + 1));
        if (status == PB_CALLBACK)
            continue;
        HOLDS((status == PB_OK) == (pb_tile_find_bad(out, n_candidates) == -1));
        HOLDS(status == PB_OK || metric == PB_PRECOMPUTED);
        for (int64_t i = 0; i < n_candidates; i++)
            for (int64_t r = 0; r < n_references; r++) {
                const double found = out[i * PB_TILE + r];
                const double own = is_function
                    ? doubles[candidates[i] * n + references[r]]
                    : pb_distance_between(&points, candidates[i], references[r]);
                HOLDS(fabs(found - own) <= 1e-5 * fabs(own) + 1e-18);  /* squares underflow */
            }
        if (metric != PB_PRECOMPUTED)
            compare_sparse(&c, &p, &points, n_candidates, candidates, &tile, out);
    }
    pool_free(&p);
    return 0;
}
