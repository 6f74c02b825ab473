/* Rejects on shared items for a budget (pybandit/betting/rejects.h). */
#include "pybandit/betting/rejects.h"

#include <math.h>

enum { HALVINGS = 30, GROWTH = 16, LEAST_BLOCK = 4 };

void pb_rejects_begin(pb_rejects *s, int64_t n_arms, double tilt)
{
    const double knee = PB_REJECTS_KNEE;
    for (int64_t j = 1; j <= n_arms; j++)
        s->weights[j] = j <= PB_REJECTS_KNEE
                            ? pow((double)j, -(1.0 + tilt))
                            : pow(knee, -(1.0 + tilt)) * pow((double)j / knee, -0.95);
}

static double depth_of(const pb_rejects *s, int64_t j, double scale)
{
    const double depth = ceil(scale * s->weights[j]);
    const double most = (double)s->n_items;
    return depth < most ? depth : most;
}

/* What it costs to go on from here at this scale. */
static double cost(const pb_rejects *s, int64_t n_alive, int64_t places, int64_t n_read,
                   double scale)
{
    double total = 0.0, read = (double)n_read;
    for (int64_t left = n_alive; left > places; left--) {
        const double depth = depth_of(s, left - places + 1, scale);
        if (depth > read) {
            total += (depth - read) * (double)left;
            read = depth;
        }
    }
    return total;
}

/* The largest scale that the cells pay for; at the largest of use all are read to the end. */
static double find_scale(const pb_rejects *s, int64_t n_alive, int64_t places, int64_t n_read,
                         int64_t cells)
{
    double low = 0.0, high = (double)s->n_items / s->weights[n_alive - places + 1];
    if (cost(s, n_alive, places, n_read, high) <= (double)cells)
        return high;
    for (int i = 0; i < HALVINGS; i++) {
        const double middle = 0.5 * (low + high);
        if (cost(s, n_alive, places, n_read, middle) <= (double)cells)
            low = middle;
        else
            high = middle;
    }
    return low;
}

int64_t pb_rejects_keep(const pb_rejects *s, int64_t n_alive, int64_t places, int64_t n_read,
                         int64_t cells)
{
    const double scale = find_scale(s, n_alive, places, n_read, cells);
    int64_t kept = n_alive;
    while (kept > places && depth_of(s, kept - places + 1, scale) <= (double)n_read)
        kept--;
    return kept;
}

int64_t pb_rejects_block(const pb_rejects *s, int64_t n_alive, int64_t places, int64_t n_read,
                          int64_t cells)
{
    if (places == n_alive || n_read >= s->n_items)
        return 0;
    const double scale = find_scale(s, n_alive, places, n_read, cells);
    const int64_t least = n_read / GROWTH > 1 ? n_read / GROWTH : 1;
    const int64_t most = least > LEAST_BLOCK ? least : LEAST_BLOCK;
    int64_t block = (int64_t)depth_of(s, n_alive - places + 1, scale) - n_read;
    block = block < least ? least : block > most ? most : block;
    if (block > s->n_items - n_read)
        block = s->n_items - n_read;
    return block < cells / n_alive ? block : cells / n_alive;
}
