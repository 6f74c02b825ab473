/*
 * One pass over a kernel matrix (pybandit/policies/correlated/gaussian_kernel.h), by pairs of
 * tiles: mirrored tiles of 32 x 32 entries fit into the first cache.
 */
#include <math.h>

#include "pybandit/policies/correlated/gaussian_kernel.h"
#include "../../_shared/wide.h"

enum { TILE = 32 };

/* Copies the tile above the diagonal, transposed. */
static void take_mirrored(const double *kernel, int64_t n, int64_t row, int64_t column,
                          int64_t n_rows, int64_t n_columns, double mirrored[TILE][TILE])
{
    for (int64_t j = 0; j < n_columns; j++)
        for (int64_t i = 0; i < n_rows; i++)
            mirrored[i][j] = kernel[(column + j) * n + row + i];
}

/* Returns 1 if a pair of a row is further apart than any before. */
WIDE static int look_at(const double *restrict row, const double *restrict mirrored, int64_t size,
                        pb_gaussian_kernel *seen, double *restrict sums, double *own)
{
    double largest = seen->largest, apart = seen->apart, sum = 0.0, other = 0.0;
    for (int64_t j = 0; j < size; j++) {
        const double a = fabs(row[j]), b = fabs(mirrored[j]), gap = fabs(row[j] - mirrored[j]);
        largest = larger(larger(largest, a), b);
        apart = larger(apart, gap);
        sums[j] += a;
        sum += a;
        other += b - b;  /* NaN if b is not finite */
    }
    *own += sum + other;
    seen->largest = largest;
    const int found = apart > seen->apart;
    seen->apart = apart;
    return found;
}

static void look_at_tile(const double *kernel, int64_t n, int64_t row, int64_t column,
                         pb_gaussian_kernel *seen, double *sums)
{
    double mirrored[TILE][TILE];
    const int64_t n_rows = row + TILE < n ? TILE : n - row;
    const int64_t n_columns = column + TILE < n ? TILE : n - column;
    take_mirrored(kernel, n, row, column, n_rows, n_columns, mirrored);
    for (int64_t i = 0; i < n_rows; i++) {
        const double *entries = kernel + (row + i) * n + column;
        const int64_t size = row == column && i < n_columns ? i : n_columns;
        double own = row == column ? fabs(entries[i]) : 0.0;
        if (row == column)
            seen->largest = larger(seen->largest, own);
        if (look_at(entries, mirrored[i], size, seen, sums + column, &own)) {
            int64_t j = 0;
            while (fabs(entries[j] - mirrored[i][j]) != seen->apart)
                j++;
            seen->row = row + i;
            seen->column = column + j;
        }
        sums[row + i] += own;
    }
}

pb_gaussian_kernel pb_gaussian_kernel_check(const double *kernel, int64_t n, double *sums)
{
    pb_gaussian_kernel seen = {0.0, 0.0, 0, 0, 0.0};
    for (int64_t i = 0; i < n; i++)
        sums[i] = 0.0;
    for (int64_t row = 0; row < n; row += TILE)
        for (int64_t column = 0; column <= row; column += TILE)
            look_at_tile(kernel, n, row, column, &seen, sums);
    double odd = 0.0;
    for (int64_t i = 0; i < n; i++) {
        seen.row_sum = larger(seen.row_sum, sums[i]);
        odd += sums[i] - sums[i];  /* NaN if the sum is not finite */
    }
    seen.row_sum += odd;
    return seen;
}
