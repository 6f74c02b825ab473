#ifndef SPARSE_H
#define SPARSE_H

/*
 * Rows in CSR. Private to csrc/cluster. Columns are read once and compared with the limits, so
 * that another thread that writes to them cannot move a write out of its array. Rows are spread
 * over a dense part of the columns: distances then have the bits of dense rows.
 */
#include "pybandit/cluster/distance.h"

enum { SPREAD = 256 };  /* columns spread at once; a multiple of 8 */

static inline int64_t column_at(const pb_distances *d, int64_t k)
{
    return *(const volatile int32_t *)(d->columns + k);
}

/* Position in the values of a CSR row, up to which it was spread. */
typedef struct {
    int64_t at, end;
} csr_row;

static inline csr_row start_of(const pb_distances *d, int64_t i)
{
    return (csr_row){d->starts[i], d->starts[i + 1]};
}

#endif
