/* Cells of any type are read as doubles; a table copies the rewards that are valid, and no other. */
#include "fuzz.h"

#include "pybandit/_shared/cells.h"
#include "pybandit/betting/table.h"

enum { MOST_ITEMS = 24, MOST_ARMS = 6 };

/* Writes any bytes as cells; integers and bytes have any value, floats also NaN and infinities. */
static void *choose_cells(choices *c, pool *p, int64_t n, int64_t size)
{
    unsigned char *cells = TAKE(p, n * size, unsigned char);
    for (int64_t i = 0; i < n * size; i++)
        cells[i] = choose_byte(c);
    return cells;
}

static void read_all(choices *c, pool *p)
{
    const pb_cell_type type = (pb_cell_type)choose(c, 0, 3);
    const int64_t n = choose(c, 1, 200);
    void *cells = choose_cells(c, p, n, pb_cells_size(type));
    double *out = TAKE(p, n, double), low, high, least = INFINITY, most = -INFINITY;
    int n_nan = 0;
    pb_cells_read(cells, type, n, out);
    for (int64_t i = 0; i < n; i++) {
        const double cell = pb_cells_at(cells, type, i);
        HOLDS(out[i] == cell || (isnan(out[i]) && isnan(cell)));
        n_nan += isnan(cell) != 0;
        least = cell < least ? cell : least;
        most = cell > most ? cell : most;
    }
    const int known = pb_cells_range(cells, type, n, &low, &high);
    HOLDS(known == (n_nan == 0) && (!known || (low == least && high == most)));
}

static double cell_at(const pb_table *t, int64_t item, int64_t arm)
{
    const char *cell = t->cells + item * t->item_stride + arm * t->arm_stride;
    if (t->type == PB_INT32)
        return (double)*(const int32_t *)cell;
    if (t->type == PB_INT64)
        return (double)*(const int64_t *)cell;
    return pb_cells_at(cell, t->type, 0);
}

static void gather(choices *c, pool *p)
{
    const pb_cell_type type = (pb_cell_type)choose(c, 0, 5);
    const int64_t size = type == PB_INT32 ? 4 : type == PB_INT64 ? 8 : pb_cells_size(type);
    const int64_t n = choose(c, 1, MOST_ITEMS), k = choose(c, 1, MOST_ARMS);
    const int by_arm = choose_byte(c) & 1;
    const pb_table t = {.cells = choose_cells(c, p, n * k, size),
                        .item_stride = by_arm ? size : k * size,
                        .arm_stride = by_arm ? n * size : size, .type = type,
                        .low = -choose_unit(c) * 300.0, .high = choose_unit(c) * 300.0,
                        .most = choose_unit(c) * 600.0};
    int64_t *items = TAKE(p, n, int64_t), *arms = TAKE(p, k, int64_t), n_arms = 0;
    for (int64_t i = 0; i < n; i++)
        items[i] = choose(c, 0, n - 1);
    for (int64_t arm = 0; arm < k; arm++)
        if (n_arms == 0 || choose_byte(c) & 1)
            arms[n_arms++] = arm;
    double *out = TAKE(p, n * n_arms, double);
    const int64_t n_read = pb_table_gather(&t, items, n, arms, n_arms, out);
    HOLDS(n_read >= 0 && n_read <= n);
    for (int64_t i = 0; i < n && i <= n_read; i++) {
        double least = INFINITY, most = -INFINITY;
        int good = 1;
        for (int64_t a = 0; a < n_arms; a++) {
            const double value = cell_at(&t, items[i], arms[a]);
            good &= value >= t.low && value <= t.high;
            least = value < least ? value : least;
            most = value > most ? value : most;
            HOLDS(i == n_read || out[i * n_arms + a] == value);
        }
        HOLDS((i < n_read) == (good && most - least <= t.most));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    choices c = {bytes, bytes + size};
    pool p = {.n = 0};
    if (choose_byte(&c) & 1)
        read_all(&c, &p);
    else
        gather(&c, &p);
    pool_free(&p);
    return 0;
}
