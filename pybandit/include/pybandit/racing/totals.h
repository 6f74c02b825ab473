#ifndef PYBANDIT_TOTALS_H
#define PYBANDIT_TOTALS_H

#include <stdint.h>

#include "pybandit/_shared/cells.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Adds the d_i of n_rows consecutive rows of length `stride` to `sum`, in one pass over
 * memory. `columns`, `reference` and d_i have the same meaning as in pb_moments (moments.h).
 * Equal values of any type give equal sums. Cells of one byte are added as integers, which is
 * exact up to sums of 2^53: a pass over bytes takes an eighth of the memory of doubles.
 */
void pb_totals_add(const void *cells, pb_cell_type type, int64_t n_rows, int64_t stride,
                   const int64_t *columns, int64_t n_columns, int64_t reference, double *sum);

#ifdef __cplusplus
}
#endif

#endif
