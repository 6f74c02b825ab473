#ifndef PYBANDIT_COLUMN_H
#define PYBANDIT_COLUMN_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The values of one population that were read so far. Sums are of value - shift,
 * where shift is an early value: raw second moments would cancel.
 */
typedef struct {
    int64_t count;
    double shift;
    double sum, square, cube;
    double low, high;  /* the least and the largest value */
    int64_t others;    /* values that differ from the first */
} pb_column;

/* Nothing was read. */
void pb_column_begin(pb_column *column);

/* Reads n values more; the first ever read becomes the shift. */
void pb_column_add(pb_column *column, const double *values, int64_t n);

/*
 * Forgets what was read and takes the whole population, in one pass: its sum, a tile at
 * a time, and its extremes.
 */
void pb_column_fill(pb_column *column, const double *values, int64_t n);

/* The position of the first value that is NaN, infinite or outside [low, high]; -1: none. */
int64_t pb_column_find_bad(const double *values, int64_t n, double low, double high);

/* Whether all that was read, and its squares, are finite. */
static inline int pb_column_is_finite(const pb_column *column)
{
    /* NaN and infinity survive being multiplied by zero */
    return 0.0 * column->sum + 0.0 * column->square == 0.0;
}

/* The mean minus `value`; count >= 1. */
static inline double pb_column_excess(const pb_column *column, double value)
{
    return (column->shift - value) + column->sum / (double)column->count;
}

/* Natural (1/count) variance. */
static inline double pb_column_variance(const pb_column *column)
{
    const double n = (double)column->count, mean = column->sum / n;
    const double variance = column->square / n - mean * mean;
    return variance > 0.0 ? variance : 0.0;
}

/* Natural third central moment. */
static inline double pb_column_third(const pb_column *column)
{
    const double n = (double)column->count, mean = column->sum / n;
    return column->cube / n - mean * (3.0 * (column->square / n) - 2.0 * mean * mean);
}

#ifdef __cplusplus
}
#endif

#endif
