/* Moments and extremes of one column: four values at a time (pybandit/racing/column.h). */
#include "pybandit/racing/column.h"

#include <math.h>

#include "../_shared/wide.h"

enum { TILE = 1024 };  /* values added up from 0 */

#define MOST(a, b)                                                   \
    ((vector){(a)[0] > (b)[0] ? (a)[0] : (b)[0], (a)[1] > (b)[1] ? (a)[1] : (b)[1], \
              (a)[2] > (b)[2] ? (a)[2] : (b)[2], (a)[3] > (b)[3] ? (a)[3] : (b)[3]})

/* 1 where d is 0 */
#define ALIKE(d)                                                     \
    ((vector){(d)[0] == 0.0 ? 1.0 : 0.0, (d)[1] == 0.0 ? 1.0 : 0.0,  \
              (d)[2] == 0.0 ? 1.0 : 0.0, (d)[3] == 0.0 ? 1.0 : 0.0})

void pb_column_begin(pb_column *column)
{
    *column = (pb_column){.low = INFINITY, .high = -INFINITY};
}

static void add_one(pb_column *column, double value)
{
    const double d = value - column->shift;
    column->sum += d;
    column->square += d * d;
    column->cube += d * d * d;
    column->others += d != 0.0;
    column->low = value < column->low ? value : column->low;
    column->high = value > column->high ? value : column->high;
}

static void add_extremes(pb_column *column, const vector *low, const vector *high)
{
    for (int lane = 0; lane < LANES; lane++) {
        column->low = (*low)[lane] < column->low ? (*low)[lane] : column->low;
        column->high = (*high)[lane] > column->high ? (*high)[lane] : column->high;
    }
}

WIDE void pb_column_add(pb_column *column, const double *values, int64_t n)
{
    if (column->count == 0 && n > 0)
        column->shift = values[0];
    const double shift = column->shift;
    vector sum = {0.0}, square = {0.0}, cube = {0.0}, alike = {0.0};
    vector low = {column->low, column->low, column->low, column->low};
    vector high = {column->high, column->high, column->high, column->high};
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        const vector value = *(const unaligned *)(values + i);
        const vector d = value - shift;
        sum += d;
        const vector dd = d * d;
        square += dd;
        cube += dd * d;
        alike += ALIKE(d);
        low = LEAST(value, low);
        high = MOST(value, high);
    }
    column->sum += (sum[0] + sum[1]) + (sum[2] + sum[3]);
    column->square += (square[0] + square[1]) + (square[2] + square[3]);
    column->cube += (cube[0] + cube[1]) + (cube[2] + cube[3]);
    column->others += i - (int64_t)((alike[0] + alike[1]) + (alike[2] + alike[3]));
    add_extremes(column, &low, &high);
    for (; i < n; i++)
        add_one(column, values[i]);
    column->count += n;
}

/* Adds the sum and the extremes of a tile. */
ALWAYS_INLINE void fill_tile(pb_column *column, const double *values, int64_t n)
{
    const double shift = column->shift;
    /* two chains hide the latency of an addition */
    vector even = {0.0}, odd = {0.0};
    vector low = {shift, shift, shift, shift}, high = low;
    double rest = 0.0;
    int64_t i = 0;
    for (; i + 2 * LANES <= n; i += 2 * LANES) {
        const vector a = *(const unaligned *)(values + i);
        const vector b = *(const unaligned *)(values + i + LANES);
        even += a - shift;
        odd += b - shift;
        low = LEAST(a, low);
        high = MOST(a, high);
        low = LEAST(b, low);
        high = MOST(b, high);
    }
    for (; i < n; i++) {
        rest += values[i] - shift;
        column->low = values[i] < column->low ? values[i] : column->low;
        column->high = values[i] > column->high ? values[i] : column->high;
    }
    even += odd;
    column->sum += ((even[0] + even[1]) + (even[2] + even[3])) + rest;
    add_extremes(column, &low, &high);
}

WIDE void pb_column_fill(pb_column *column, const double *values, int64_t n)
{
    pb_column_begin(column);
    column->shift = values[0];
    for (int64_t done = 0; done < n; done += TILE)
        fill_tile(column, values + done, n - done < TILE ? n - done : TILE);
    column->count = n;
}

int64_t pb_column_find_bad(const double *values, int64_t n, double low, double high)
{
    for (int64_t i = 0; i < n; i++)
        if (!isfinite(values[i]) || values[i] < low || values[i] > high)
            return i;
    return -1;
}
