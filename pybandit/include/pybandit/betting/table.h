#ifndef PYBANDIT_TABLE_H
#define PYBANDIT_TABLE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Types of cells; booleans are PB_CELL_UINT8. */
typedef enum {
    PB_CELL_FLOAT64 = 0,
    PB_CELL_FLOAT32 = 1,
    PB_CELL_UINT8 = 2,
    PB_CELL_INT8 = 3,
    PB_CELL_INT32 = 4,
    PB_CELL_INT64 = 5
} pb_cell;

/* A table of rewards in memory, one row per item, and the limits of valid rewards. */
typedef struct {
    const char *cells;    /* of item 0 and arm 0, aligned; owned by the caller */
    int64_t item_stride;  /* bytes from an item to the next */
    int64_t arm_stride;   /* bytes from an arm to the next */
    pb_cell cell;
    double low, high;     /* of a reward */
    double most;          /* largest difference of two rewards of one item */
} pb_table;

/*
 * Copies the rewards of n_arms >= 1 arms on n_items items to `out`, one row per item. Returns the
 * number of items before the first one with a reward that is NaN or outside the limits.
 */
int64_t pb_table_gather(const pb_table *table, const int64_t *items, int64_t n_items,
                        const int64_t *arms, int64_t n_arms, double *out);

#ifdef __cplusplus
}
#endif

#endif
