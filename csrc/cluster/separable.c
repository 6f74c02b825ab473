/* Sums of distances that separate by column (pybandit/cluster/separable.h). */
#include "pybandit/cluster/separable.h"

#include <math.h>
#include <stddef.h>

#include "../_shared/wide.h"
#include "sums.h"

static double weight_of(const double *weights, int64_t i) { return weights ? weights[i] : 1.0; }

static double total_weight(const double *weights, int64_t n)
{
    double total = 0.0;
    for (int64_t i = 0; i < n; i++)
        total += weight_of(weights, i);
    return total;
}

#define REAL float
#define NAMED(name) name##_floats
#include "separable_rows.h"
#undef REAL
#undef NAMED

#define REAL double
#define NAMED(name) name##_doubles
#include "separable_rows.h"
#undef REAL
#undef NAMED

void pb_separable_squares(const pb_distances *rows, const double *weights, double *mean,
                          double *totals)
{
    const double scale = rows->metric == PB_COSINE ? 0.5 : 1.0;
    const double total = total_weight(weights, rows->n);
    if (rows->floats)
        squares_floats(rows->floats, rows->n, rows->n_columns, weights, total, mean, totals);
    else
        squares_doubles(rows->doubles, rows->n, rows->n_columns, weights, total, mean, totals);
    double spread = 0.0;
    for (int64_t i = 0; i < rows->n; i++)
        spread += weight_of(weights, i) * totals[i];
    for (int64_t i = 0; i < rows->n; i++)
        totals[i] = scale * (total * totals[i] + spread);
}

void pb_separable_column(const pb_distances *rows, const double *weights, int64_t column,
                         const int64_t *order, double *totals)
{
    const int is_hamming = rows->metric == PB_HAMMING;
    if (rows->floats)
        column_floats(is_hamming, rows->floats + column, rows->n, rows->n_columns, weights, order,
                      totals);
    else
        column_doubles(is_hamming, rows->doubles + column, rows->n, rows->n_columns, weights,
                       order, totals);
}

void pb_separable_two_values(const pb_distances *rows, const double *weights, double *memory,
                             unsigned char *is_done, double *totals)
{
    if (rows->floats)
        two_values_floats(rows->floats, rows->n, rows->n_columns, weights, memory, is_done,
                          totals);
    else
        two_values_doubles(rows->doubles, rows->n, rows->n_columns, weights, memory, is_done,
                           totals);
}
