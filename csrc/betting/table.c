/*
 * Cells of a table in memory, for races by betting (pybandit/betting/table.h). Items come in random
 * order, so each row is a miss of the cache: rows are prefetched some items ahead.
 */
#include "pybandit/betting/table.h"

#include "../_shared/minimum.h"
#include "../_shared/prefetch.h"
#include "../_shared/wide.h"

enum {
    ITEMS_AHEAD = 12,
    LINE_BYTES = 64,
    /* lines per item that are prefetched; then the processor sees the sequence itself */
    MOST_LINES = 6,
};

/* Prefetches the cells of an item, from the first arm to the last. */
static void prefetch_item(const pb_table *t, int64_t item, int64_t first, int64_t last)
{
    const char *const row = t->cells + item * t->item_stride;
    if (t->arm_stride < 0 || t->arm_stride > LINE_BYTES) {
        for (int64_t arm = first; arm <= minimum(last, first + MOST_LINES); arm++)
            PREFETCH(row + arm * t->arm_stride);
        return;
    }
    const char *const from = row + first * t->arm_stride;
    const int64_t span = minimum((last - first) * t->arm_stride, MOST_LINES * LINE_BYTES);
    for (int64_t at = 0; at < span; at += LINE_BYTES)
        PREFETCH(from + at);
    PREFETCH(from + span);
}

/* Defines a function that copies one item's rewards, and returns 1 if all of them are valid. */
#define DEFINE_GATHER(name, type)                                                         \
    static int name(const pb_table *t, int64_t item, const int64_t *arms, int64_t n,      \
                    double *out)                                                          \
    {                                                                                     \
        const char *const row = t->cells + item * t->item_stride;                         \
        const int64_t stride = t->arm_stride;                                             \
        const double low = t->low, high = t->high;                                        \
        double least = (double)*(const type *)(row + arms[0] * stride), most = least;     \
        int64_t good = 1;                                                                 \
        for (int64_t i = 0; i < n; i++) {                                                 \
            const double value = (double)*(const type *)(row + arms[i] * stride);         \
            good &= (int64_t)(value >= low) & (int64_t)(value <= high);                   \
            least = smaller(least, value);                                                \
            most = larger(most, value);                                                   \
            out[i] = value;                                                               \
        }                                                                                 \
        return (int)good && most - least <= t->most;                                      \
    }

DEFINE_GATHER(gather_float64, double)
DEFINE_GATHER(gather_float32, float)
DEFINE_GATHER(gather_uint8, uint8_t)
DEFINE_GATHER(gather_int8, int8_t)
DEFINE_GATHER(gather_int32, int32_t)
DEFINE_GATHER(gather_int64, int64_t)

static int gather(const pb_table *t, int64_t item, const int64_t *arms, int64_t n, double *out)
{
    switch (t->type) {
    case PB_FLOAT32: return gather_float32(t, item, arms, n, out);
    case PB_UINT8: return gather_uint8(t, item, arms, n, out);
    case PB_INT8: return gather_int8(t, item, arms, n, out);
    case PB_INT32: return gather_int32(t, item, arms, n, out);
    case PB_INT64: return gather_int64(t, item, arms, n, out);
    default: return gather_float64(t, item, arms, n, out);
    }
}

int64_t pb_table_gather(const pb_table *table, const int64_t *items, int64_t n_items,
                        const int64_t *arms, int64_t n_arms, double *out)
{
    const int64_t first = arms[0], last = arms[n_arms - 1];
    for (int64_t i = 0; i < minimum(ITEMS_AHEAD, n_items); i++)
        prefetch_item(table, items[i], first, last);
    for (int64_t i = 0; i < n_items; i++) {
        if (i + ITEMS_AHEAD < n_items)
            prefetch_item(table, items[i + ITEMS_AHEAD], first, last);
        if (!gather(table, items[i], arms, n_arms, out + i * n_arms))
            return i;
    }
    return n_items;
}
