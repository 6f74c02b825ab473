#include "../../_shared/c/check.h"

#include "pybandit/racing/moments.h"

enum { ROWS = 301, STATES = 17 };

static double entry_of(const double *row, int64_t reference, int64_t column)
{
    return (reference < 0 ? 0.0 : row[reference]) - row[column];
}

/*
 * Computes the moments of the differences d of one column, in two passes with long double. If long
 * double is a double (valgrind, MSVC), the mean is rounded; the last lines correct for that error.
 */
static void naive(const double *matrix, int64_t reference, int64_t column, double *mean,
                  double *variance, double *third)
{
    long double sum = 0.0L, rest = 0.0L, square = 0.0L, cube = 0.0L;
    for (int r = 0; r < ROWS; r++)
        sum += entry_of(matrix + r * STATES, reference, column);
    *mean = (double)(sum / ROWS);
    for (int r = 0; r < ROWS; r++) {
        const long double d = entry_of(matrix + r * STATES, reference, column) - sum / ROWS;
        rest += d;
        square += d * d;
        cube += d * d * d;
    }
    rest /= ROWS;
    square /= ROWS;
    *variance = (double)(square - rest * rest);
    *third = (double)(cube / ROWS - 3.0L * rest * square + 2.0L * rest * rest * rest);
}

/* Adds the rows in calls of 1, 2, 4, ... rows and compares the moments with two passes. */
static void matches_two_passes(const double *matrix, int64_t n_columns,
                               const int64_t *columns, int64_t reference, int cubed)
{
    double *memory = allocate((cubed ? 4 : 3) * n_columns, sizeof *memory);
    const double *rows[ROWS];
    pb_moments m = {.n_columns = n_columns, .reference = reference, .columns = columns,
                    .shift = memory, .sum = memory + n_columns,
                    .square = memory + 2 * n_columns,
                    .cube = cubed ? memory + 3 * n_columns : NULL};
    for (int r = 0; r < ROWS; r++)
        rows[r] = matrix + r * STATES;
    pb_moments_add(&m, rows, 0);
    assert(m.count == 0);
    for (int64_t n = 1; m.count < ROWS; n *= 2)
        pb_moments_add(&m, rows + m.count, n < ROWS - m.count ? n : ROWS - m.count);
    for (int64_t i = 0; i < n_columns; i++) {
        double mean, variance, third;
        naive(matrix, reference, columns ? columns[i] : i, &mean, &variance, &third);
        assert(close_to(m.shift[i] + m.sum[i] / ROWS, mean, 1e-13 * (1.0 + fabs(mean))));
        assert(close_to(pb_moments_variance(&m, i), variance, 1e-11 * variance));
        assert(!cubed || close_to(pb_moments_third(&m, i), third, 1e-8 * pow(variance, 1.5)));
    }
    free(memory);
}

static void finds_extremes(const double *matrix)
{
    const int64_t columns[] = {0, 2, 16};
    const int64_t references[] = {-1, 2};
    const double *rows[ROWS];
    for (int r = 0; r < ROWS; r++)
        rows[r] = matrix + r * STATES;
    for (int k = 0; k < 2; k++) {
        double low[] = {INFINITY, INFINITY, -1e6}, high[] = {-INFINITY, -INFINITY, 1e6};
        pb_moments_extremes(rows, ROWS, references[k], columns, 3, low, high);
        for (int i = 0; i < 2; i++) {
            double smallest = INFINITY, largest = -INFINITY;
            for (int r = 0; r < ROWS; r++) {
                smallest = fmin(smallest, entry_of(rows[r], references[k], columns[i]));
                largest = fmax(largest, entry_of(rows[r], references[k], columns[i]));
            }
            assert(low[i] == smallest && high[i] == largest);
        }
        assert(low[2] == -1e6 && high[2] == 1e6);
    }
}

int main(void)
{
    uint64_t counter = 3;
    pb_bitgen bitgen = splitmix(&counter);
    double *matrix = allocate(ROWS * STATES, sizeof *matrix);
    for (int i = 0; i < ROWS * STATES; i++)
        matrix[i] = bitgen.next_double(bitgen.state);
    const int64_t columns[] = {0, 1, 3, 4, 6, 7, 9, 10, 11, 12, 14, 15, 16};
    for (int64_t n = 1; n <= STATES; n++)
        for (int64_t reference = -1; reference < STATES; reference += 6) {
            for (int cubed = 0; cubed < 2; cubed++) {
                matches_two_passes(matrix, n, NULL, reference, cubed);
                if (n <= 13)
                    matches_two_passes(matrix, n, columns, reference, cubed);
            }
        }
    finds_extremes(matrix);

    /* multiples of 1/1024 around 1e9: raw second moments would lose all digits */
    for (int i = 0; i < ROWS * STATES; i++)
        matrix[i] = 1e9 + floor(matrix[i] * 1024.0) / 1024.0;
    matches_two_passes(matrix, STATES, NULL, -1, 1);
    matches_two_passes(matrix, STATES, NULL, 3, 1);
    free(matrix);
    return 0;
}
