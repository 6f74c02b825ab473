#ifndef PYBANDIT_MOMENTS_H
#define PYBANDIT_MOMENTS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Running moments of the differences between a reference state and the others.
 *
 * A row holds the rewards of all states for one factor. With reference r, column i
 * has d_i = row[r] - row[i]; with reference -1, d_i = -row[i]. The moments are of
 * d_i - shift[i], where the shift is d_i of the first row: variances from sums of raw squares
 * would lose digits.
 */
typedef struct {
    int64_t n_columns;
    int64_t count;          /* rows accumulated */
    int64_t reference;      /* entry of the row, or -1 */
    const int64_t *columns; /* entries of a row to use, increasing; NULL: 0 .. n_columns - 1 */
    double *shift;          /* these four: n_columns entries each, owned by the caller */
    double *sum;
    double *square;
    double *cube;           /* NULL if third moments are not needed */
} pb_moments;

/* Adds n_rows rows. If count is 0, resets the sums and sets the shift from the first row. */
void pb_moments_add(pb_moments *moments, const double *const *rows, int64_t n_rows);

/* Returns d_i of one row, where i is `column`. */
static inline double pb_moments_of(const pb_moments *moments, const double *row, int64_t column)
{
    const int64_t entry = moments->columns ? moments->columns[column] : column;
    return (moments->reference < 0 ? 0.0 : row[moments->reference]) - row[entry];
}

/* Returns the variance of d_i with divisor count. */
static inline double pb_moments_variance(const pb_moments *moments, int64_t column)
{
    const double n = (double)moments->count;
    const double mean = moments->sum[column] / n;
    const double variance = moments->square[column] / n - mean * mean;
    return variance > 0.0 ? variance : 0.0;
}

/* Returns the third central moment of d_i with divisor count; requires cube. */
static inline double pb_moments_third(const pb_moments *moments, int64_t column)
{
    const double n = (double)moments->count;
    const double mean = moments->sum[column] / n;
    return moments->cube[column] / n -
           mean * (3.0 * (moments->square[column] / n) - 2.0 * mean * mean);
}

/* Lowers low[i] and raises high[i] to include the d_i of the rows for this reference. */
void pb_moments_extremes(const double *const *rows, int64_t n_rows, int64_t reference,
                         const int64_t *columns, int64_t n_columns,
                         double *low, double *high);

#ifdef __cplusplus
}
#endif

#endif
