/*
 * The alias table (pybandit/mcmc/alias.h), by Vose's two stacks: columns that hold too
 * little are filled up from one that holds too much, each once.
 */
#include "pybandit/mcmc/alias.h"

/* Both stacks in one array: what lacks from the left, what is over from the right. */
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
        if (table[large].share < 1.0) {  /* it lacks something itself now */
            n_large--;
            work[n_small++] = large;
        }
    }
    /* what is left lacks or exceeds 1 by rounding alone */
    while (n_small)
        table[work[--n_small]].share = 1.0;
    while (n_large)
        table[work[n - n_large--]].share = 1.0;
    return total;
}
