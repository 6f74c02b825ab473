#ifndef PYBANDIT_ALIAS_H
#define PYBANDIT_ALIAS_H

#include <stdint.h>

#include "pybandit/_shared/bitgen.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * One column of an alias table, which draws an index with given weights in O(1) (Walker
 * 1977, Vose 1991): a column is chosen uniformly at random. The draw is the column's own index
 * with probability `share`, and `other` otherwise.
 */
typedef struct {
    double share;
    int64_t other;
} pb_alias;

/*
 * Builds a table for the n weights weights[0], weights[stride], ...; 1 <= n < 2^32, each weight
 * finite and at least 0. Returns their sum; if it is 0, the table is not written. `work` has
 * room for n values. O(n).
 */
double pb_alias_build(const double *weights, int64_t stride, int64_t n, pb_alias *table,
                      int64_t *work);

/* Returns an index below n with probability proportional to its weight. */
static inline int64_t pb_alias_draw(const pb_alias *table, int64_t n, pb_bitgen *bitgen)
{
    const int64_t column = pb_bitgen_below(bitgen, (uint32_t)n);
    return bitgen->next_double(bitgen->state) < table[column].share ? column
                                                                    : table[column].other;
}

#ifdef __cplusplus
}
#endif

#endif
