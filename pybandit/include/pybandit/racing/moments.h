#ifndef PYBANDIT_MOMENTS_H
#define PYBANDIT_MOMENTS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Running moments of rewards against a reference.
 *
 * A row is one factor, its entries the rewards of the states. With reference
 * state r the quantity of column i is d_i = row[r] - row[i]; with reference -1
 * it is -row[i]. Moments are of d_i - shift[i], where shift is an early value
 * of d: raw second moments would cancel.
 */
typedef struct {
    int64_t n_columns;
    int64_t count;          /* rows accumulated */
    int64_t reference;      /* column of the row, or -1 */
    const int64_t *columns; /* which entries of a row, increasing; NULL: entries 0 .. n_columns-1 */
    double *shift;          /* n_columns each: the caller's */
    double *sum;
    double *square;
    double *cube;           /* NULL where nobody asks for third moments */
} pb_moments;

/* Adds rows[0 .. n_rows); sets the shift from the first row when count is 0. */
void pb_moments_add(pb_moments *moments, const double *const *rows, int64_t n_rows);

/* d_i of one row. */
static inline double pb_moments_of(const pb_moments *moments, const double *row, int64_t column)
{
    const int64_t entry = moments->columns ? moments->columns[column] : column;
    return (moments->reference < 0 ? 0.0 : row[moments->reference]) - row[entry];
}

/* Natural (1/count) variance of d_i. */
static inline double pb_moments_variance(const pb_moments *moments, int64_t column)
{
    const double n = (double)moments->count;
    const double mean = moments->sum[column] / n;
    const double variance = moments->square[column] / n - mean * mean;
    return variance > 0.0 ? variance : 0.0;
}

/* Natural third central moment of d_i; cube is not NULL. */
static inline double pb_moments_third(const pb_moments *moments, int64_t column)
{
    const double n = (double)moments->count;
    const double mean = moments->sum[column] / n;
    return moments->cube[column] / n -
           mean * (3.0 * (moments->square[column] / n) - 2.0 * mean * mean);
}

/*
 * Sums of the d_i of n_rows consecutive rows of length `stride`, added to sum, a tile
 * of rows at a time; columns and reference as above. One streaming pass.
 */
void pb_moments_stream(const double *matrix, int64_t n_rows, int64_t stride,
                       const int64_t *columns, int64_t n_columns, int64_t reference,
                       double *sum);

/* Widens low[i], high[i] to hold the d_i of the rows, against any reference. */
void pb_moments_extremes(const double *const *rows, int64_t n_rows, int64_t reference,
                         const int64_t *columns, int64_t n_columns,
                         double *low, double *high);

#ifdef __cplusplus
}
#endif

#endif
