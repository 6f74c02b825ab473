/* The looks of a race: now and then with the bound that is solved for, which takes 50 times as long
 * as all the rest, else with any. */
#ifndef PYBANDIT_FUZZ_LOOKS_H
#define PYBANDIT_FUZZ_LOOKS_H

#include "fuzz.h"

#include "pybandit/racing/schedule.h"

static inline pb_status choose_looks(choices *c, pool *p, double delta, pb_convention convention,
                                     int64_t n, int64_t d, int64_t first_look, double fraction,
                                     pb_schedule *schedule)
{
    const int64_t bytes = pb_schedule_memory(n, first_look, fraction);
    int64_t *const rows = pool_take(p, bytes, 1), kind = choose(c, 0, 31);
    HOLDS(bytes <= 1536);
    if (kind == 31)
        return pb_schedule_normal(delta, convention, n, d, first_look, fraction, rows, schedule);
    const int64_t n_looks = bytes / 24;
    double *const scale = (double *)(void *)(rows + n_looks), *const slack = scale + n_looks;
    for (int64_t t = 0; t < n_looks; t++) {
        rows[t] = t == n_looks - 1 ? n : t > 0 ? 2 * rows[t - 1] : first_look;
        scale[t] = t == n_looks - 1 ? 0.0 : 4.0 * choose_unit(c);
        slack[t] = t == n_looks - 1 || kind < 20 ? 0.0 : choose_unit(c);
    }
    *schedule = (pb_schedule){n_looks, rows, scale, slack, NULL};
    return PB_OK;
}

#endif
