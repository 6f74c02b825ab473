#ifndef PYBANDIT_COLUMN_H
#define PYBANDIT_COLUMN_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Statistics of the values of one population that were read so far. The sums are of
 * value - shift, where shift is the first value read: variances from sums of raw squares would
 * lose digits.
 */
typedef struct {
    int64_t count;
    double shift;
    double sum, square, cube;
    double low, high;  /* smallest and largest value */
    int64_t others;    /* number of values that differ from the first */
} pb_column;

/* Resets the statistics to those of no values. */
void pb_column_begin(pb_column *column);

/* Adds n values. The first value ever added becomes the shift. */
void pb_column_add(pb_column *column, const double *values, int64_t n);

/*
 * Resets the statistics and reads the whole population, n >= 1, in one pass. Sets only the
 * count, the shift, the sum and the extremes.
 */
void pb_column_fill(pb_column *column, const double *values, int64_t n);

/* Returns the position of the first value that is not finite or outside [low, high], or -1. */
int64_t pb_column_find_bad(const double *values, int64_t n, double low, double high);

/* Returns 1 if all values read and their squares are finite. */
static inline int pb_column_is_finite(const pb_column *column)
{
    /* NaN and infinity survive being multiplied by zero */
    return 0.0 * column->sum + 0.0 * column->square == 0.0;
}

/* Returns the mean minus `value`; requires count >= 1. */
static inline double pb_column_excess(const pb_column *column, double value)
{
    return (column->shift - value) + column->sum / (double)column->count;
}

/* Returns the variance with divisor count. */
static inline double pb_column_variance(const pb_column *column)
{
    const double n = (double)column->count, mean = column->sum / n;
    const double variance = column->square / n - mean * mean;
    return variance > 0.0 ? variance : 0.0;
}

/* Returns the third central moment with divisor count. */
static inline double pb_column_third(const pb_column *column)
{
    const double n = (double)column->count, mean = column->sum / n;
    return column->cube / n - mean * (3.0 * (column->square / n) - 2.0 * mean * mean);
}

#ifdef __cplusplus
}
#endif

#endif
