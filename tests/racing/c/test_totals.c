#include "../../_shared/c/check.h"

#include <string.h>

#include "pybandit/racing/totals.h"

/* more rows than 255 groups of bytes, and a rest of every kind */
enum { MOST = 1 << 17, N_TYPES = 4 };

static const int64_t SIZES[] = {8, 4, 1, 1};

/* Sums of all columns, or of some, in long double. */
static void naive(const void *cells, pb_cell_type type, int64_t n, int64_t stride,
                  const int64_t *columns, int64_t n_columns, int64_t reference, double *sum)
{
    for (int64_t i = 0; i < n_columns; i++) {
        long double total = 1.0L;
        const int64_t column = columns ? columns[i] : i;
        for (int64_t r = 0; r < n; r++)
            total += (reference < 0 ? 0.0L : pb_cells_at(cells, type, r * stride + reference)) -
                     (long double)pb_cells_at(cells, type, r * stride + column);
        sum[i] = (double)total;
    }
}

static void sums_columns(const void *cells, pb_cell_type type, int64_t n, int64_t stride,
                         const int64_t *columns, int64_t n_columns, int64_t reference,
                         double tolerance)
{
    double *sum = allocate(2 * n_columns, sizeof *sum), *expected = sum + n_columns;
    for (int64_t i = 0; i < n_columns; i++)
        sum[i] = 1.0;
    pb_totals_add(cells, type, n, stride, columns, n_columns, reference, sum);
    naive(cells, type, n, stride, columns, n_columns, reference, expected);
    for (int64_t i = 0; i < n_columns; i++)
        assert(close_to(sum[i], expected[i], tolerance * (1.0 + fabs(expected[i]))));
    free(sum);
}

/* Writes values that every type can hold, or only doubles. */
static void fill(void *const *tables, pb_bitgen *bitgen, int low)
{
    for (int64_t i = 0; i < MOST; i++) {
        const int value = low + (int)floor(128.0 * bitgen->next_double(bitgen->state));
        ((double *)tables[PB_FLOAT64])[i] = value;
        ((float *)tables[PB_FLOAT32])[i] = (float)value;
        ((uint8_t *)tables[PB_UINT8])[i] = (uint8_t)value;
        ((int8_t *)tables[PB_INT8])[i] = (int8_t)value;
    }
}

/* Integers are added without rounding, so all types give the sums of doubles. */
static void adds_equal_values_equally(void *const *tables, int64_t n, int64_t stride, int wide)
{
    const int64_t some[] = {0, stride / 2, stride - 1};
    for (int k = 0; k < N_TYPES; k++) {
        if (wide && k == PB_INT8)
            continue;
        for (int64_t reference = -1; reference < stride; reference += 1 + stride / 3) {
            sums_columns(tables[k], (pb_cell_type)k, n, stride, NULL, stride, reference, 0.0);
            if (stride > 2)
                sums_columns(tables[k], (pb_cell_type)k, n, stride, some, 3, reference, 0.0);
        }
    }
}

static void adds_floats_as_doubles(pb_bitgen *bitgen, int64_t stride)
{
    enum { ROWS = 301 };
    double *doubles = allocate(ROWS * stride, sizeof *doubles);
    float *floats = allocate(ROWS * stride, sizeof *floats);
    double *sums = allocate(2 * stride, sizeof *sums);
    for (int64_t i = 0; i < ROWS * stride; i++)
        doubles[i] = floats[i] = (float)bitgen->next_double(bitgen->state);
    memset(sums, 0, sizeof *sums * (size_t)(2 * stride));
    pb_totals_add(doubles, PB_FLOAT64, ROWS, stride, NULL, stride, stride - 1, sums);
    pb_totals_add(floats, PB_FLOAT32, ROWS, stride, NULL, stride, stride - 1, sums + stride);
    for (int64_t i = 0; i < stride; i++)
        assert(sums[i] == sums[stride + i]);
    sums_columns(doubles, PB_FLOAT64, ROWS, stride, NULL, stride, 0, 1e-12);
    for (int64_t i = 0; i < ROWS * stride; i++)  /* totals would lose all digits */
        doubles[i] = 1e9 + floor(doubles[i] * 1024.0) / 1024.0;
    sums_columns(doubles, PB_FLOAT64, ROWS, stride, NULL, stride, 0, 1e-12);
    free(doubles);
    free(floats);
    free(sums);
}

/* 255 in every cell: the 16-bit sums of bytes reach their largest value. */
static void bytes_do_not_overflow(int64_t stride)
{
    uint8_t *largest = allocate(MOST, 1);
    int8_t *least = allocate(MOST, 1);
    memset(largest, 255, MOST);
    memset(least, -128, MOST);
    sums_columns(largest, PB_UINT8, MOST / stride, stride, NULL, stride, -1, 0.0);
    sums_columns(least, PB_INT8, MOST / stride, stride, NULL, stride, -1, 0.0);
    free(largest);
    free(least);
}

int main(void)
{
    uint64_t counter = 3;
    pb_bitgen bitgen = splitmix(&counter);
    void *tables[N_TYPES];
    for (int k = 0; k < N_TYPES; k++)
        tables[k] = allocate(MOST, (size_t)SIZES[k]);
    const int64_t strides[] = {1, 2, 3, 4, 7, 10, 16, 17, 100, 256, 257, 600};
    for (int low = 0; low <= 100; low += 100) {  /* 0 to 127, then 100 to 227 */
        fill(tables, &bitgen, low);
        for (size_t k = 0; k < sizeof strides / sizeof *strides; k++)
            for (int64_t n = 1; n <= MOST / strides[k] && n < 5000; n = 3 * n + 1)
                adds_equal_values_equally(tables, n, strides[k], low > 0);
    }
    for (size_t k = 0; k < sizeof strides / sizeof *strides; k++) {
        adds_floats_as_doubles(&bitgen, strides[k]);
        bytes_do_not_overflow(strides[k]);
    }
    for (int k = 0; k < N_TYPES; k++)
        free(tables[k]);
    return 0;
}
