/* Moments and extremes of one column: four values at a time (pybandit/racing/column.h). */
#include "pybandit/racing/column.h"

#include <math.h>

#include "../_shared/wide.h"

enum { TILE = 1024 };  /* values per partial sum */

/* 1 if x is 0, else 0; lane by lane, without a mask */
#define IS_ZERO(x) ((x) == 0.0 ? 1.0 : 0.0)
#ifdef HAS_VECTORS
#define ALIKE(d) FOUR(IS_ZERO((d)[0]), IS_ZERO((d)[1]), IS_ZERO((d)[2]), IS_ZERO((d)[3]))
#else
#define ALIKE(d) IS_ZERO(d)
#endif

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
        column->low = LANE(*low, lane) < column->low ? LANE(*low, lane) : column->low;
        column->high = LANE(*high, lane) > column->high ? LANE(*high, lane) : column->high;
    }
}

/* Widens low and high to include `value`; with masks, because GCC 12 compares LEAST by lane. */
ALWAYS_INLINE void extend(vector *low, vector *high, const vector *value)
{
    EACH (*low) L = PICK((*value) L < (*low) L, (*value) L, (*low) L);
    EACH (*high) L = PICK((*value) L > (*high) L, (*value) L, (*high) L);
}

WIDE void pb_column_add(pb_column *column, const double *values, int64_t n)
{
    if (column->count == 0 && n > 0)
        column->shift = values[0];
    const double shift = column->shift;
    vector sum = ALL(0.0), square = sum, cube = sum, alike = sum;
    vector low = ALL(column->low), high = ALL(column->high);
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        const vector value = LOAD(values + i);
        VECTOR(d, value L - shift);
        EACH sum L += d L;
        VECTOR(dd, d L * d L);
        EACH square L += dd L;
        EACH cube L += dd L * d L;
        EACH alike L += ALIKE(d L);
        extend(&low, &high, &value);
    }
    column->sum += (LANE(sum, 0) + LANE(sum, 1)) + (LANE(sum, 2) + LANE(sum, 3));
    column->square += (LANE(square, 0) + LANE(square, 1)) + (LANE(square, 2) + LANE(square, 3));
    column->cube += (LANE(cube, 0) + LANE(cube, 1)) + (LANE(cube, 2) + LANE(cube, 3));
    column->others += i - (int64_t)((LANE(alike, 0) + LANE(alike, 1)) +
                                    (LANE(alike, 2) + LANE(alike, 3)));
    add_extremes(column, &low, &high);
    for (; i < n; i++)
        add_one(column, values[i]);
    column->count += n;
}

/* Adds the sum and the extremes of a tile. */
ALWAYS_INLINE void fill_tile(pb_column *column, const double *values, int64_t n)
{
    const double shift = column->shift;
    /* two independent sums hide the latency of an addition */
    vector even = ALL(0.0), odd = even;
    vector low = ALL(shift), high = low, other_low = low, other_high = low;
    double rest = 0.0;
    int64_t i = 0;
    for (; i + 2 * LANES <= n; i += 2 * LANES) {
        const vector a = LOAD(values + i), b = LOAD(values + i + LANES);
        EACH even L += a L - shift;
        EACH odd L += b L - shift;
        extend(&low, &high, &a);
        extend(&other_low, &other_high, &b);
    }
    for (; i < n; i++) {
        rest += values[i] - shift;
        column->low = values[i] < column->low ? values[i] : column->low;
        column->high = values[i] > column->high ? values[i] : column->high;
    }
    EACH even L += odd L;
    column->sum += ((LANE(even, 0) + LANE(even, 1)) + (LANE(even, 2) + LANE(even, 3))) + rest;
    add_extremes(column, &low, &high);
    add_extremes(column, &other_low, &other_high);
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
