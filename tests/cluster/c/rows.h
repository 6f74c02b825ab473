/* Random rows, shared by the C tests of medoids. */
#ifndef ROWS_H
#define ROWS_H

#include "../../_shared/c/check.h"

#include "pybandit/cluster/distance.h"

enum { MOST = 60, COLUMNS = 11 };

typedef struct {
    int64_t n, d;
    double doubles[MOST * COLUMNS], weights[MOST];
    float floats[MOST * COLUMNS];
} table;

/* Fills up to MOST rows with ties in every second table; weights have mean 1. */
static inline void fill_table(table *t, uint64_t *counter, int has_ties)
{
    t->n = 3 + (int64_t)(splitmix_next(counter) % (MOST - 2));
    t->d = 1 + (int64_t)(splitmix_next(counter) % COLUMNS);
    double sum = 0.0;
    for (int64_t i = 0; i < t->n * t->d; i++) {
        const double u = splitmix_double(counter);
        t->floats[i] = (float)(has_ties ? floor(3.0 * u) : u);
        t->doubles[i] = (double)t->floats[i];
    }
    for (int64_t i = 0; i < t->n; i++)
        sum += t->weights[i] = splitmix_double(counter) + (i == 0);
    for (int64_t i = 0; i < t->n; i++)
        t->weights[i] *= (double)t->n / sum;
}

static inline pb_distances points_of(const table *t, pb_metric metric, int is_single)
{
    return (pb_distances){metric, t->n, t->d, is_single ? t->floats : NULL,
                          is_single ? NULL : t->doubles, NULL, NULL, NULL, NULL};
}

/* Returns sum_j w_j d(i, j) in double precision. */
static inline double sum_of(const pb_distances *points, const double *weights, int64_t i)
{
    double sum = 0.0;
    for (int64_t j = 0; j < points->n; j++)
        sum += (weights ? weights[j] : 1.0) * pb_distance_between(points, i, j);
    return sum;
}

#endif
