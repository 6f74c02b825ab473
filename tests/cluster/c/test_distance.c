#include "../../_shared/c/check.h"

#include "pybandit/cluster/distance.h"

static const pb_metric metrics[] = {PB_EUCLIDEAN, PB_SQEUCLIDEAN, PB_MANHATTAN, PB_HAMMING,
                                    PB_COSINE};

static double plain(pb_metric metric, const double *x, const double *y, int64_t d)
{
    double sum = 0.0;
    for (int64_t c = 0; c < d; c++) {
        const double t = x[c] - y[c];
        sum += metric == PB_MANHATTAN ? fabs(t) : metric == PB_HAMMING ? (t != 0.0) : t * t;
    }
    return metric == PB_EUCLIDEAN ? sqrt(sum)
           : metric == PB_HAMMING ? sum / (double)d
           : metric == PB_COSINE  ? sum / 2.0
                                  : sum;
}

static pb_tile made(const pb_distances *d, int64_t n_candidates, const int64_t *references,
                    int64_t n)
{
    const pb_tile tile = {n, references,
                          allocate(pb_tile_memory(d, n_candidates), sizeof(double))};
    pb_tile_fill(&tile, d);
    return tile;
}

/* Rows of both types, any number of columns and references, far from 0 or not. */
static void equals_the_formula(void)
{
    enum { N = 70, C = 5 };
    uint64_t counter = 3;
    for (int run = 0; run < 300; run++) {
        const int64_t d = 1 + (int64_t)(splitmix_next(&counter) % 37);
        const int64_t n = 1 + (int64_t)(splitmix_next(&counter) % PB_TILE);
        const double offset = run % 2 ? 300.0 : 0.0;
        float *floats = allocate(N * d, sizeof *floats);
        double *doubles = allocate(N * d, sizeof *doubles);
        for (int64_t i = 0; i < N * d; i++) {
            const double u = splitmix_double(&counter) - 0.5;
            floats[i] = (float)(offset + (run % 3 ? u : floor(4.0 * u)));
            doubles[i] = (double)floats[i];
        }
        int64_t references[PB_TILE], candidates[C];
        for (int64_t r = 0; r < n; r++)
            references[r] = (int64_t)(splitmix_next(&counter) % N);
        for (int64_t c = 0; c < C; c++)
            candidates[c] = (int64_t)(splitmix_next(&counter) % N);
        for (int k = 0; k < 10; k++) {
            const pb_metric metric = metrics[k / 2];
            const int single = k % 2;
            const pb_distances points = {metric, N, d, single ? floats : NULL,
                                         single ? NULL : doubles, NULL, NULL, NULL, NULL};
            pb_tile tile = made(&points, C, references, n);
            double *out = allocate(C * PB_TILE, sizeof *out);
            assert(pb_tile_read(&tile, &points, candidates, C, out) == PB_OK);
            assert(pb_tile_find_bad(out, C) == -1);
            for (int64_t c = 0; c < C; c++)
                for (int64_t r = 0; r < n; r++) {
                    const double exact = plain(metric, doubles + candidates[c] * d,
                                               doubles + references[r] * d, d);
                    const double found = out[c * PB_TILE + r];
                    assert(close_to(found, exact, exact * (single ? 4e-6 : 1e-14)));
                    assert(close_to(pb_distance_between(&points, candidates[c], references[r]),
                                    exact, exact * 1e-14));
                    assert(candidates[c] != references[r] || found == 0.0);
                }
            free(out);
            free(tile.memory);
        }
        free(floats);
        free(doubles);
    }
}

static int square(const int64_t *factors, int64_t n_factors, const int64_t *states,
                  int64_t n_states, double *out, void *user_data)
{
    const double *scale = user_data;
    for (int64_t f = 0; f < n_factors; f++)
        for (int64_t s = 0; s < n_states; s++)
            if (factors[f] != 9 || states[s] != 4)  /* one entry is not written */
                out[f * n_states + s] = *scale * (double)(100 * states[s] + factors[f]);
    return *scale > 5.0;
}

/* Candidates are rows of a matrix and states of a function. */
static void reads_matrices_and_functions(void)
{
    enum { N = 12 };
    double matrix[N * N], scale = 1.0, out[4 * PB_TILE];
    float floats[N * N];
    for (int64_t i = 0; i < N * N; i++)
        floats[i] = (float)(matrix[i] = (double)(100 * (i / N) + i % N));
    const int64_t references[] = {7, 2, 2, 11}, candidates[] = {0, 4, 9};
    const pb_distances kinds[] = {{PB_PRECOMPUTED, N, N, NULL, matrix, NULL, NULL, NULL, NULL},
                                  {PB_PRECOMPUTED, N, N, floats, NULL, NULL, NULL, NULL, NULL},
                                  {PB_PRECOMPUTED, N, N, NULL, NULL, square, &scale, NULL, NULL}};
    for (int k = 0; k < 3; k++) {
        pb_tile tile = made(&kinds[k], 3, references, 4);
        assert(pb_tile_read(&tile, &kinds[k], candidates, 3, out) == PB_OK);
        for (int64_t c = 0; c < 3; c++)
            for (int64_t r = 0; r < 4; r++)
                assert(out[c * PB_TILE + r] == (double)(100 * candidates[c] + references[r]));
        assert(k == 2 || pb_distance_between(&kinds[k], 3, 5) == 305.0);
        free(tile.memory);
    }
    const pb_distances *own = &kinds[2];
    const int64_t unwritten[] = {1, 9};
    pb_tile tile = made(own, 3, unwritten, 2);
    assert(pb_tile_read(&tile, own, candidates, 3, out) == PB_NOT_FINITE);
    assert(pb_tile_find_bad(out, 3) == PB_TILE + 1);  /* from 4 to 9 */
    scale = -1.0;
    assert(pb_tile_read(&tile, own, candidates, 1, out) == PB_RANGE);
    assert(pb_tile_find_bad(out, 1) == 0);
    scale = 6.0;
    assert(pb_tile_read(&tile, own, candidates, 1, out) == PB_CALLBACK);
    free(tile.memory);
    matrix[4 * N + 2] = INFINITY;
    tile = made(&kinds[0], 3, references, 4);
    assert(pb_tile_read(&tile, &kinds[0], candidates, 3, out) == PB_NOT_FINITE);
    free(tile.memory);
}

int main(void)
{
    equals_the_formula();
    reads_matrices_and_functions();
    return 0;
}
