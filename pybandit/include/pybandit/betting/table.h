#ifndef PYBANDIT_TABLE_H
#define PYBANDIT_TABLE_H

#include <stdint.h>

#include "pybandit/_shared/cells.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A table of rewards in memory, one row per item, and the limits of valid rewards. */
typedef struct {
    const char *cells;    /* of item 0 and arm 0, aligned; owned by the caller */
    int64_t item_stride;  /* bytes from an item to the next */
    int64_t arm_stride;   /* bytes from an arm to the next */
    pb_cell_type type;    /* of the cells */
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
