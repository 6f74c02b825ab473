#ifndef GAUSSIAN_CHECK_H
#define GAUSSIAN_CHECK_H

/* Arms of Gaussian posteriors for the C tests. */

#include "../../_shared/c/check.h"

typedef struct {
    int64_t n;
    double *means, *spreads;  /* standard deviations or variances */
} arms;

/*
 * Returns 1 to `most` random arms. In some runs, values lie on a grid, so that they tie and some
 * spreads are 0; in some runs, all spreads are multiplied by `small`.
 */
static inline arms some_arms(uint64_t *random, int run, uint64_t most, double small)
{
    arms a = {1 + (int64_t)(splitmix_next(random) % most), NULL, NULL};
    a.means = allocate(a.n, sizeof(double));
    a.spreads = allocate(a.n, sizeof(double));
    for (int64_t k = 0; k < a.n; k++) {
        const double u = splitmix_double(random), v = splitmix_double(random);
        a.means[k] = run % 2 ? u : floor(4.0 * u);
        a.spreads[k] = run % 3 ? v : floor(3.0 * v);
        if (run % 5 == 0)
            a.spreads[k] *= small;
    }
    return a;
}

static inline void free_arms(const arms *a)
{
    free(a->means);
    free(a->spreads);
}

static inline double largest(const double *values, int64_t n, int64_t but)
{
    double most = -INFINITY;
    for (int64_t k = 0; k < n; k++)
        if (k != but && values[k] > most)
            most = values[k];
    return most;
}

#endif
