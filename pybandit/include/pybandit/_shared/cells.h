#ifndef PYBANDIT_CELLS_H
#define PYBANDIT_CELLS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Tables whose cells are not necessarily doubles. Every cell is converted to a double when it is
 * read, so the results are those of a table of doubles with the same values, bit for bit.
 */
typedef enum {
    PB_FLOAT64 = 0,
    PB_FLOAT32 = 1,
    PB_UINT8 = 2,  /* also for booleans, which are 0 or 1 */
    PB_INT8 = 3,
    PB_INT32 = 4,  /* PB_INT32 and PB_INT64 are for pb_table only (betting/table.h), */
    PB_INT64 = 5   /* not for the functions of this header and not for pb_factors */
} pb_cell_type;

/* Returns the size of a cell in bytes. */
static inline int64_t pb_cells_size(pb_cell_type type)
{
    return type == PB_FLOAT64 ? 8 : type == PB_FLOAT32 ? 4 : 1;
}

/* Returns the address of cell number `at`. */
static inline const void *pb_cells_from(const void *cells, pb_cell_type type, int64_t at)
{
    return (const char *)cells + at * pb_cells_size(type);
}

/* Returns cell number `at`. */
static inline double pb_cells_at(const void *cells, pb_cell_type type, int64_t at)
{
    switch (type) {
    case PB_FLOAT32: return (double)((const float *)cells)[at];
    case PB_UINT8: return (double)((const uint8_t *)cells)[at];
    case PB_INT8: return (double)((const int8_t *)cells)[at];
    default: return ((const double *)cells)[at];
    }
}

/* Writes cells 0 to n - 1. */
void pb_cells_read(const void *cells, pb_cell_type type, int64_t n, double *out);

/*
 * Writes the smallest and the largest of n >= 1 cells, in one pass over memory. Returns 1 if no
 * cell is NaN; otherwise returns 0, and the limits are undefined.
 */
int pb_cells_range(const void *cells, pb_cell_type type, int64_t n, double *low, double *high);

#ifdef __cplusplus
}
#endif

#endif
