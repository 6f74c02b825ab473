/* Moments and extremes of one column: four values at a time (pybandit/column.h). */
#include "pybandit/racing/column.h"

#include <math.h>

#include "../_shared/wide.h"

#define MOST(a, b)                                                   \
    ((vector){(a)[0] > (b)[0] ? (a)[0] : (b)[0], (a)[1] > (b)[1] ? (a)[1] : (b)[1], \
              (a)[2] > (b)[2] ? (a)[2] : (b)[2], (a)[3] > (b)[3] ? (a)[3] : (b)[3]})

void pb_column_begin(pb_column *column)
{
    *column = (pb_column){.low = INFINITY, .high = -INFINITY};
}

static void add_one(pb_column *column, double value)
{
    const double d = value - column->shift;
    column->sum += d;
    column->square += d * d;
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
    vector sum = {0.0}, square = {0.0};
    vector low = {column->low, column->low, column->low, column->low};
    vector high = {column->high, column->high, column->high, column->high};
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        const vector value = *(const unaligned *)(values + i);
        const vector d = value - shift;
        sum += d;
        square += d * d;
        low = LEAST(value, low);
        high = MOST(value, high);
    }
    column->sum += (sum[0] + sum[1]) + (sum[2] + sum[3]);
    column->square += (square[0] + square[1]) + (square[2] + square[3]);
    add_extremes(column, &low, &high);
    for (; i < n; i++)
        add_one(column, values[i]);
    column->count += n;
}

WIDE void pb_column_fill(pb_column *column, const double *values, int64_t n)
{
    pb_column_begin(column);
    const double shift = column->shift = values[0];
    /* two chains hide the latency of an addition */
    vector even = {0.0}, odd = {0.0};
    vector low = {shift, shift, shift, shift}, high = low;
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
    even += odd;
    column->sum = (even[0] + even[1]) + (even[2] + even[3]);
    add_extremes(column, &low, &high);
    for (; i < n; i++)
        add_one(column, values[i]);
    column->square = 0.0;
    column->count = n;
}

int64_t pb_column_find_bad(const double *values, int64_t n, double low, double high)
{
    for (int64_t i = 0; i < n; i++)
        if (!isfinite(values[i]) || values[i] < low || values[i] > high)
            return i;
    return -1;
}
