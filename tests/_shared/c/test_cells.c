#include "../../_shared/c/check.h"

#include "pybandit/_shared/cells.h"

enum { MOST = 2000, N_TYPES = 4 };

static const int64_t SIZES[] = {8, 4, 1, 1};

static void reads_and_finds_limits(void *const *tables, const int *values, int64_t n)
{
    for (int k = 0; k < N_TYPES; k++) {
        double low, high, least = INFINITY, most = -INFINITY;
        double *read = allocate(n, sizeof *read);
        assert(pb_cells_size((pb_cell_type)k) == SIZES[k]);
        pb_cells_read(tables[k], (pb_cell_type)k, n, read);
        for (int64_t i = 0; i < n; i++) {
            const double cell = pb_cells_at(tables[k], (pb_cell_type)k, i);
            assert(read[i] == cell && cell == values[i]);
            least = fmin(least, cell);
            most = fmax(most, cell);
        }
        assert(pb_cells_range(tables[k], (pb_cell_type)k, n, &low, &high));
        assert(low == least && high == most);
        free(read);
    }
}

static void finds_nan(int64_t n)
{
    double *cells = allocate(n, sizeof *cells), low, high;
    cells[n - 1] = -INFINITY;
    cells[0] = INFINITY;
    assert(pb_cells_range(cells, PB_FLOAT64, n, &low, &high) && high == INFINITY);
    assert(n == 1 || low == -INFINITY);
    for (int64_t at = 0; at < n; at += 3) {
        const double before = cells[at];
        cells[at] = NAN;
        assert(!pb_cells_range(cells, PB_FLOAT64, n, &low, &high));
        cells[at] = before;
    }
    free(cells);
}

int main(void)
{
    uint64_t counter = 3;
    pb_bitgen bitgen = splitmix(&counter);
    static double doubles[MOST];
    static float floats[MOST];
    static uint8_t bytes[MOST];
    static int8_t small[MOST];
    static int values[MOST];
    void *const tables[N_TYPES] = {doubles, floats, bytes, small};
    for (int i = 0; i < MOST; i++) {
        values[i] = (int)floor(128.0 * bitgen.next_double(bitgen.state));
        doubles[i] = values[i];
        floats[i] = (float)values[i];
        bytes[i] = (uint8_t)values[i];
        small[i] = (int8_t)values[i];
    }
    for (int64_t n = 1; n < MOST; n = 2 * n + 1)
        reads_and_finds_limits(tables, values, n);
    for (int64_t n = 1; n < 40; n++)
        finds_nan(n);
    bytes[7] = 255;
    small[7] = -128;
    assert(pb_cells_at(bytes, PB_UINT8, 7) == 255.0 && pb_cells_at(small, PB_INT8, 7) == -128.0);
    return 0;
}
