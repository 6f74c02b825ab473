/*
 * Rejects on shared items for a budget (pybandit/betting/rejects.h).
 *
 * The largest scale that the cells pay for is never worked out. Who stays and how long a
 * block is are questions of the kind "is an arm read on more than d items?", and it is
 * where a scale just above d / w is paid for: one sum, where a bisection took thirty.
 */
#include "pybandit/betting/rejects.h"

#include <math.h>

#include "../_shared/wide.h"

enum { GROWTH = 16, LEAST_BLOCK = 4 };

static const double MANY = 100.0; /* arms from which on the exponents shrink */
static const double INTEGERS = 0x1p52; /* from here on doubles have no fractions */

void pb_rejects_begin(pb_rejects *s, int64_t n_arms, int64_t k, double strength)
{
    const double few = PB_REJECTS_FEW, shrunk = fmin(1.0, MANY / (double)(n_arms - k + 1));
    const double late = 1.0 + shrunk * (0.1 + 0.5 * strength);
    const double early = 1.0 + shrunk * (0.2 * strength);
    for (int64_t j = 1; j <= n_arms; j++)
        s->weights[j] = j <= PB_REJECTS_FEW
                            ? pow((double)j, -late)
                            : pow(few, early - late) * pow((double)j, -early);
}

/* Items that an arm is read on, no fewer than it has been. */
ALWAYS_INLINE double depth_of(double weight, double scale, double read, double most)
{
    const double wanted = scale * weight;
    const double depth = wanted < most ? ceil(wanted) : most;
    return depth > read ? depth : read;
}

/* The same four times; ceil is a call on some machines. */
ALWAYS_INLINE void depths_of(vector *made, const double *weights, double scale, double read,
                             double most)
{
    const vector all = ALL(most), least = ALL(read);
    VECTOR(wanted, LOAD(weights) L * scale);
    VECTOR(kept, LEAST(wanted L, all L));
    VECTOR(near, (kept L + INTEGERS) - INTEGERS);
    VECTOR(up, PICK(near L < kept L, near L + 1.0, near L));
    EACH (*made) L = PICK(up L > least L, up L, least L);
}

/*
 * Whether the cells pay for going on from here at this scale. An arm that leaves when r
 * are left adds (depth_r - depth_(r + 1)) r, and these are the depths of all but the
 * last pair added up once: whole numbers, so that their order changes nothing.
 */
WIDE static int is_paid_for(const pb_rejects *s, int64_t n_alive, int64_t places,
                            int64_t n_read, int64_t cells, double scale)
{
    const double read = (double)n_read, most = (double)s->n_items;
    const int64_t last = n_alive - places + 1;
    vector sums = ALL(0.0), depths;
    double total = depth_of(s->weights[2], scale, read, most) * (double)(places + 1);
    int64_t j = 3;
    for (; j + LANES - 1 <= last; j += LANES) {
        depths_of(&depths, s->weights + j, scale, read, most);
        EACH sums L += depths L;
    }
    for (; j <= last; j++)
        total += depth_of(s->weights[j], scale, read, most);
    total += (LANE(sums, 0) + LANE(sums, 1)) + (LANE(sums, 2) + LANE(sums, 3));
    return total - read * (double)n_alive <= (double)cells;
}

/* Whether the arm that leaves when `left` are left is read on more than `depth` items. */
static int is_deeper(const pb_rejects *s, int64_t n_alive, int64_t places, int64_t n_read,
                     int64_t cells, int64_t left, int64_t depth)
{
    const double above = (double)depth * (1.0 + 1e-12) + 1e-9;
    return is_paid_for(s, n_alive, places, n_read, cells,
                       above / s->weights[left - places + 1]);
}

int64_t pb_rejects_keep(const pb_rejects *s, int64_t n_alive, int64_t places, int64_t n_read,
                         int64_t cells)
{
    int64_t low = places, high = n_alive, left = n_alive; /* most looks take nobody out */
    while (low < high) {
        if (is_deeper(s, n_alive, places, n_read, cells, left, n_read))
            low = left;
        else
            high = left - 1;
        left = low + (high - low + 1) / 2;
    }
    return low;
}

int64_t pb_rejects_block(const pb_rejects *s, int64_t n_alive, int64_t places, int64_t n_read,
                          int64_t cells)
{
    if (places == n_alive || n_read >= s->n_items)
        return 0;
    const int64_t paid = cells / n_alive, rest = s->n_items - n_read;
    int64_t low = n_read / GROWTH > 1 ? n_read / GROWTH : 1;
    int64_t high = low > LEAST_BLOCK ? low : LEAST_BLOCK;
    high = high < rest ? high : rest;
    low = low < high ? low : high;
    int64_t block = high; /* the usual one */
    while (low < high) {
        if (is_deeper(s, n_alive, places, n_read, cells, n_alive, n_read + block - 1))
            low = block;
        else
            high = block - 1;
        block = low + (high - low + 1) / 2;
    }
    return low < paid ? low : paid;
}
