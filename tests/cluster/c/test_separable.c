#include "rows.h"

#include "pybandit/cluster/separable.h"

static const double *sorted_by;
static int64_t stride;

static int by_value(const void *a, const void *b)
{
    const double x = sorted_by[*(const int64_t *)a * stride];
    const double y = sorted_by[*(const int64_t *)b * stride];
    return (x > y) - (x < y);
}

static void totals_of(const table *t, const pb_distances *points, const double *weights,
                      double *totals)
{
    double memory[3 * COLUMNS];
    unsigned char is_done[COLUMNS] = {0};
    if (points->metric == PB_SQEUCLIDEAN || points->metric == PB_COSINE) {
        pb_separable_squares(points, weights, memory, totals);
        return;
    }
    for (int64_t i = 0; i < t->n; i++)
        totals[i] = 0.0;
    if (points->metric == PB_HAMMING)
        pb_separable_two_values(points, weights, memory, is_done, totals);
    for (int64_t c = 0; c < t->d; c++) {
        int64_t order[MOST];
        for (int64_t i = 0; i < t->n; i++)
            order[i] = i;
        sorted_by = t->doubles + c;
        stride = t->d;
        qsort(order, (size_t)t->n, sizeof *order, by_value);
        if (!is_done[c])
            pb_separable_column(points, weights, c, order, totals);
    }
}

int main(void)
{
    static const pb_metric metrics[] = {PB_SQEUCLIDEAN, PB_COSINE, PB_MANHATTAN, PB_HAMMING};
    uint64_t counter = 5;
    table t;
    for (int run = 0; run < 400; run++) {
        fill_table(&t, &counter, run % 2);
        for (int64_t i = 0; run % 4 == 1 && i < t.n; i++)  /* a column of two values, and of one */
            t.floats[i * t.d] = (float)(t.doubles[i * t.d] = run % 8 == 1 ? (double)(i % 2) : 7.0);
        const double *weights = run % 3 ? t.weights : NULL;
        for (int k = 0; k < 8; k++) {
            const pb_distances points = points_of(&t, metrics[k / 2], k % 2);
            double totals[MOST];
            totals_of(&t, &points, weights, totals);
            for (int64_t i = 0; i < t.n; i++) {
                const double sum = sum_of(&points, weights, i);
                assert(close_to(totals[i], sum, 1e-12 * (sum + (double)t.n)));
            }
        }
    }
    return 0;
}
