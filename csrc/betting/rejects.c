/*
 * Successive rejects on shared items for a budget (pybandit/betting/rejects.h).
 *
 * The largest affordable scale is never computed. Which arms to keep and how long a block is
 * both follow from the question "is an arm read on more than d items?". The answer is yes if a
 * scale just above d / w is affordable: that takes one sum, a bisection for the scale thirty.
 */
#include "pybandit/betting/rejects.h"

#include <math.h>

#include "../_shared/wide.h"

enum { GROWTH = 16, LEAST_BLOCK = 4 };

static const double MANY = 100.0; /* with more arms than this the exponents shrink */
static const double INTEGERS = 0x1p52; /* larger doubles have no fractional part */

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

/* Returns how many items an arm is read on, at least the number read already. */
ALWAYS_INLINE double depth_of(double weight, double scale, double read, double most)
{
    const double wanted = scale * weight;
    const double depth = wanted < most ? ceil(wanted) : most;
    return depth > read ? depth : read;
}

/* depth_of for four arms; without ceil, which is a function call on some machines. */
ALWAYS_INLINE void depths_of(vector *out, const double *weights, double scale, double read,
                             double most)
{
    const vector all = ALL(most), least = ALL(read);
    VECTOR(wanted, LOAD(weights) L * scale);
    VECTOR(kept, LEAST(wanted L, all L));
    VECTOR(near, (kept L + INTEGERS) - INTEGERS);
    VECTOR(up, PICK(near L < kept L, near L + 1.0, near L));
    EACH (*out) L = PICK(up L > least L, up L, least L);
}

/*
 * Returns 1 if the cells pay for the rest of the schedule at this scale. An arm eliminated
 * while r arms remain costs (depth_r - depth_(r + 1)) r; in total this is each depth counted
 * once, and the last one places + 1 times. Depths are integers, so the order of summation
 * does not change the sum.
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

/* Returns 1 if the arm eliminated while `left` arms remain is read on more than `depth` items. */
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
    int64_t low = places, high = n_alive, left = n_alive; /* most looks eliminate no arm */
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
    int64_t block = high; /* the usual length */
    while (low < high) {
        if (is_deeper(s, n_alive, places, n_read, cells, n_alive, n_read + block - 1))
            low = block;
        else
            high = block - 1;
        block = low + (high - low + 1) / 2;
    }
    return low < paid ? low : paid;
}
