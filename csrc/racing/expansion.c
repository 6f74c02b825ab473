/*
 * Expansions of factors (pybandit/racing/expansion.h). From a to a + s, h changes by
 * (g + H m)'s, where m = a + s / 2 and a is relative to the center.
 */
#include "pybandit/racing/expansion.h"

#include <stddef.h>

/* Computes v's and v'm for a direction v. */
static void along(const pb_expansion *e, const double *v, double *step, double *middle)
{
    const double *from = e->points, *to = e->points + e->n_parameters;
    double s = 0.0, m = 0.0;
    for (int64_t i = 0; i < e->n_parameters; i++) {
        s += v[i] * (to[i] - from[i]);
        m += v[i] * ((to[i] - e->center[i]) + (from[i] - e->center[i]));
    }
    *step = s;
    *middle = 0.5 * m;
}

/* Returns m'H s for a matrix H. */
static double of_matrix(const pb_expansion *e, const double *matrix)
{
    const int64_t d = e->n_parameters;
    const double *from = e->points, *to = from + d;
    double sum = 0.0;
    for (int64_t i = 0; i < d; i++) {
        double step, middle;
        along(e, matrix + i * d, &step, &middle);
        sum += middle * (to[i] - from[i]);
    }
    return sum;
}

int pb_expansion_change(const int64_t *factors, int64_t n_factors, const int64_t *states,
                        int64_t n_states, double *out, void *data)
{
    const pb_expansion *e = data;
    const int64_t d = e->n_parameters;
    (void)states;
    for (int64_t f = 0; f < n_factors; f++) {
        const int64_t n = factors[f];
        double change, ignored;
        along(e, e->gradients + n * d, &change, &ignored);
        for (int64_t k = n * e->rank; k < (n + 1) * e->rank; k++) {
            double step, middle;
            along(e, e->directions + k * d, &step, &middle);
            change += e->weights[k] * step * middle;
        }
        if (e->matrices)
            change += of_matrix(e, e->matrices + n * d * d);
        out[f * n_states] -= change;
    }
    return 0;
}
