#include "../../_shared/c/check.h"

#include "pybandit/racing/pairwise.h"

enum { N = 37, D = 3, LABELS = 4, V = 9 };

static double entry(int64_t label, int64_t state)
{
    return 0.5 * (double)(label * label) - 0.25 * (double)(state * label) + (double)state;
}

typedef struct {
    double *table, *weights;
    int64_t *labels;
    int32_t *members;
} arrays;

static arrays make(void)
{
    arrays a = {allocate(LABELS * D, sizeof(double)), allocate(N, sizeof(double)),
                allocate(V, sizeof(int64_t)), allocate(N, sizeof(int32_t))};
    for (int64_t i = 0; i < LABELS * D; i++)
        a.table[i] = entry(i / D, i % D);
    for (int64_t v = 0; v < V; v++)
        a.labels[v] = (7 * v + 2) % LABELS;
    for (int64_t n = 0; n < N; n++) {
        a.members[n] = (int32_t)(5 * n % V);
        a.weights[n] = 0.125 * (double)(n % 5) - 0.25;
    }
    return a;
}

static void clear(arrays a)
{
    free(a.table);
    free(a.weights);
    free(a.labels);
    free(a.members);
}

/* Factors and totals equal the formula of the header. */
static void reads_and_sums(int with_members, int with_weights)
{
    arrays a = make();
    pb_pairwise p = {D, LABELS, a.table, a.labels, with_members ? a.members : NULL,
                     with_weights ? a.weights : NULL};
    const int64_t n = with_members ? N : V, states[] = {0, 2};
    int64_t *factors = allocate(n, sizeof *factors);
    double *out = allocate(n * 2, sizeof *out), totals[D], wanted[D] = {0.0};
    double *work = allocate(pb_pairwise_memory(&p), sizeof *work);
    for (int64_t i = 0; i < n; i++)
        factors[i] = n - 1 - i;
    assert(pb_pairwise_read(factors, n, states, 2, out, &p) == 0);
    for (int64_t i = 0; i < n; i++) {
        const int64_t label = a.labels[with_members ? a.members[factors[i]] : factors[i]];
        const double weight = with_weights ? a.weights[factors[i]] : 1.0;
        for (int64_t s = 0; s < 2; s++)
            assert(out[2 * i + s] == weight * entry(label, states[s]));
        for (int64_t s = 0; s < D; s++)
            wanted[s] += weight * entry(label, s);
    }
    assert(pb_pairwise_totals(&p, n, work, totals) == -1);
    for (int64_t s = 0; s < D; s++)
        assert(close_to(totals[s], wanted[s], 1e-12));
    free(factors);
    free(out);
    free(work);
    clear(a);
}

/* A label out of range gives a NaN factor and is never used as an index. */
static void labels_out_of_range_give_nan(int64_t label)
{
    arrays a = make();
    pb_pairwise p = {D, LABELS, a.table, a.labels, NULL, NULL};
    const int64_t factors[] = {3, 4}, states[] = {1};
    double out[2], totals[D], work[4 * LABELS];
    a.labels[4] = label;
    assert(pb_pairwise_read(factors, 2, states, 1, out, &p) == 0);
    assert(isfinite(out[0]) && isnan(out[1]));
    assert(pb_pairwise_totals(&p, V, work, totals) == 4);
    assert(isnan(totals[0]) && isnan(totals[D - 1]));
    assert(pb_pairwise_totals(&p, 4, work, totals) == -1);
    clear(a);
}

int main(void)
{
    for (int kind = 0; kind < 4; kind++)
        reads_and_sums(kind & 1, kind >> 1);
    labels_out_of_range_give_nan(LABELS);
    labels_out_of_range_give_nan(-1);
    labels_out_of_range_give_nan(INT64_MIN);
    labels_out_of_range_give_nan(INT64_MAX);
    return 0;
}
