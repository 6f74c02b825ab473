#ifndef PYBANDIT_ALIAS_H
#define PYBANDIT_ALIAS_H

#include <stdint.h>

#include "pybandit/_shared/bitgen.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Draws of an index with given weights in O(1) (Walker 1977, Vose 1991): a column is taken
 * at random; it holds its own index with probability `share`, else `other`.
 */
typedef struct {
    double share;
    int64_t other;
} pb_alias;

/*
 * Of weights[0], weights[stride], ..., n of them, 1 <= n < 2^32, each finite and at least 0;
 * returns their sum, and leaves the table alone where that is 0. `work` holds n. O(n).
 */
double pb_alias_build(const double *weights, int64_t stride, int64_t n, pb_alias *table,
                      int64_t *work);

/* An index with probability proportional to its weight, of a table of n. */
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
