/* Cells of tables as doubles (pybandit/_shared/cells.h). */
#include "pybandit/_shared/cells.h"

#include <math.h>
#include <string.h>

#include "minimum.h"
#include "wide.h"

enum { TILE = 512 };  /* cells converted at a time; their doubles stay in the first cache */

#define CONVERT(type)                       \
    for (int64_t i = 0; i < n; i++)         \
        out[i] = (double)((const type *)cells)[i]

WIDE void pb_cells_read(const void *cells, pb_cell_type type, int64_t n, double *out)
{
    switch (type) {
    case PB_FLOAT32: CONVERT(float); break;
    case PB_UINT8: CONVERT(uint8_t); break;
    case PB_INT8: CONVERT(int8_t); break;
    default: memcpy(out, cells, (size_t)n * sizeof *out);
    }
}

/* Extremes of integers; the compiler vectorises these loops. */
#define EXTREMES(type)                               \
    do {                                             \
        const type *const in = cells;                \
        type least = in[0], most = in[0];            \
        for (int64_t i = 1; i < n; i++) {            \
            least = in[i] < least ? in[i] : least;   \
            most = in[i] > most ? in[i] : most;      \
        }                                            \
        *low = (double)least;                        \
        *high = (double)most;                        \
    } while (0)

/* Widens low and high; returns NaN if a value is NaN or infinite, else 0. */
ALWAYS_INLINE double extend(const double *values, int64_t n, double *low, double *high)
{
    /* two independent comparisons hide the latency of one */
    vector least = ALL(*low), most = ALL(*high), bad = ALL(0.0);
    vector other_least = least, other_most = most;
    double other = 0.0;
    int64_t i = 0;
    for (; i + 2 * LANES <= n; i += 2 * LANES) {
        const vector a = LOAD(values + i), b = LOAD(values + i + LANES);
        EACH least L = PICK(a L < least L, a L, least L);
        EACH most L = PICK(a L > most L, a L, most L);
        EACH other_least L = PICK(b L < other_least L, b L, other_least L);
        EACH other_most L = PICK(b L > other_most L, b L, other_most L);
        EACH bad L += (a L + b L) * 0.0;
    }
    for (; i < n; i++) {
        *low = smaller(*low, values[i]);
        *high = larger(*high, values[i]);
        other += values[i] * 0.0;
    }
    for (int lane = 0; lane < LANES; lane++) {
        *low = smaller(*low, smaller(LANE(least, lane), LANE(other_least, lane)));
        *high = larger(*high, larger(LANE(most, lane), LANE(other_most, lane)));
        other += LANE(bad, lane);
    }
    return other;
}

static int has_nan(const void *cells, pb_cell_type type, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (isnan(pb_cells_at(cells, type, i)))
            return 1;
    return 0;
}

WIDE int pb_cells_range(const void *cells, pb_cell_type type, int64_t n, double *low, double *high)
{
    if (type == PB_UINT8)
        EXTREMES(uint8_t);
    if (type == PB_INT8)
        EXTREMES(int8_t);
    if (type == PB_UINT8 || type == PB_INT8)
        return 1;
    double buffer[TILE], bad = 0.0;
    *low = INFINITY;
    *high = -INFINITY;
    for (int64_t done = 0; done < n; done += TILE) {
        const int64_t count = minimum(TILE, n - done);
        const void *const tile = pb_cells_from(cells, type, done);
        if (type == PB_FLOAT32)
            pb_cells_read(tile, type, count, buffer);
        bad += extend(type == PB_FLOAT32 ? buffer : tile, count, low, high);
    }
    return bad == 0.0 || !has_nan(cells, type, n);
}
