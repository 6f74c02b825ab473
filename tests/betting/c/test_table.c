#include "betting_check.h"

#include "pybandit/betting/table.h"

enum { ITEMS = 40, ARMS = 7 };

static pb_table table_of(const void *cells, pb_cell_type type, int64_t size)
{
    return (pb_table){.cells = cells, .item_stride = ARMS * size, .arm_stride = size,
                      .type = type, .low = -3.0, .high = 100.0, .most = 50.0};
}

/* Every type of cell gives the values of its cells, in the order of items and arms. */
static void types_are_read(void)
{
    double doubles[ITEMS * ARMS];
    float floats[ITEMS * ARMS];
    uint8_t bytes[ITEMS * ARMS];
    int8_t signed_bytes[ITEMS * ARMS];
    int32_t ints[ITEMS * ARMS];
    int64_t longs[ITEMS * ARMS];
    for (int i = 0; i < ITEMS * ARMS; i++) {
        const int value = i % 23;
        doubles[i] = floats[i] = (float)(bytes[i] = (uint8_t)value);
        signed_bytes[i] = (int8_t)(value - 3);
        ints[i] = value;
        longs[i] = value;
    }
    const pb_table tables[] = {
        table_of(doubles, PB_FLOAT64, 8), table_of(floats, PB_FLOAT32, 4),
        table_of(bytes, PB_UINT8, 1), table_of(signed_bytes, PB_INT8, 1),
        table_of(ints, PB_INT32, 4), table_of(longs, PB_INT64, 8)};
    const int64_t items[] = {39, 0, 17, 17, 5}, arms[] = {0, 2, 6};
    double out[15];
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++) {
        assert(pb_table_gather(&tables[t], items, 5, arms, 3, out) == 5);
        for (int i = 0; i < 15; i++) {
            const int64_t value = (items[i / 3] * ARMS + arms[i % 3]) % 23;
            assert(out[i] == (double)value - (t == 3 ? 3.0 : 0.0));
        }
    }
}

/* The first item with an invalid reward ends the copy; other columns do not count. */
static void invalid_rewards_are_found(void)
{
    double cells[ITEMS * ARMS] = {0.0};
    const pb_table table = table_of(cells, PB_FLOAT64, 8);
    int64_t items[ITEMS];
    double out[ITEMS * 2];
    const int64_t arms[] = {1, 4}, others[] = {1, 5};
    const double bad[] = {NAN, INFINITY, -INFINITY, 100.5, -3.5, 51.0};
    for (int i = 0; i < ITEMS; i++)
        items[i] = ITEMS - 1 - i;
    for (size_t b = 0; b < sizeof bad / sizeof *bad; b++) {
        cells[10 * ARMS + 4] = bad[b];
        assert(pb_table_gather(&table, items, ITEMS, arms, 2, out) == ITEMS - 1 - 10);
        assert(pb_table_gather(&table, items, ITEMS, others, 2, out) == ITEMS);
    }
}

/* Strides may be negative. */
static void strides_are_followed(void)
{
    int32_t cells[ITEMS * ARMS];
    for (int i = 0; i < ITEMS * ARMS; i++)
        cells[i] = i % 31;
    const pb_table turned = {.cells = (const char *)(cells + ITEMS * ARMS - 1),
                             .item_stride = -ARMS * 4, .arm_stride = -4, .type = PB_INT32,
                             .low = 0.0, .high = 31.0, .most = 31.0};
    const int64_t items[] = {0, 39, 20}, arms[] = {0, 3, 6};
    double out[9];
    assert(pb_table_gather(&turned, items, 3, arms, 3, out) == 3);
    for (int i = 0; i < 9; i++)
        assert(out[i] == (double)((ITEMS * ARMS - 1 - items[i / 3] * ARMS - arms[i % 3]) % 31));
}

int main(void)
{
    types_are_read();
    invalid_rewards_are_found();
    strides_are_followed();
    return 0;
}
