/*
 * The alias table (pybandit/mcmc/alias.h), built with Vose's two stacks: each column with a
 * share below 1 is filled once, from a column with a share of at least 1.
 */
#include "pybandit/mcmc/alias.h"

/* Builds both stacks in `work`: shares below 1 from the left, the others from the right. */
static void sort_columns(const pb_alias *table, int64_t n, int64_t *work, int64_t *n_small,
                         int64_t *n_large)
{
    *n_small = *n_large = 0;
    for (int64_t i = 0; i < n; i++) {
        if (table[i].share < 1.0)
            work[(*n_small)++] = i;
        else
            work[n - ++*n_large] = i;
    }
}

double pb_alias_build(const double *weights, int64_t stride, int64_t n, pb_alias *table,
                      int64_t *work)
{
    double total = 0.0;
    int64_t n_small, n_large;
    for (int64_t i = 0; i < n; i++)
        total += weights[i * stride];
    if (!(total > 0.0))
        return 0.0;
    const double factor = (double)n / total;
    for (int64_t i = 0; i < n; i++)
        table[i] = (pb_alias){weights[i * stride] * factor, i};
    sort_columns(table, n, work, &n_small, &n_large);
    while (n_small && n_large) {
        const int64_t small = work[--n_small], large = work[n - n_large];
        table[small].other = large;
        table[large].share -= 1.0 - table[small].share;
        if (table[large].share < 1.0) {  /* now this column must be filled */
            n_large--;
            work[n_small++] = large;
        }
    }
    /* the remaining shares differ from 1 by rounding errors only */
    while (n_small)
        table[work[--n_small]].share = 1.0;
    while (n_large)
        table[work[n - n_large--]].share = 1.0;
    return total;
}
