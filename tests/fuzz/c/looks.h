/* Looks with arbitrary widths, because solving for a boundary takes 50 times as long as a race. */
#ifndef PYBANDIT_FUZZ_LOOKS_H
#define PYBANDIT_FUZZ_LOOKS_H

#include "fuzz.h"

#include "pybandit/racing/schedule.h"

/* Fills a schedule; `memory` has pb_schedule_memory bytes. */
static inline void choose_looks(choices *c, int64_t n, int64_t first_look, double fraction,
                                void *memory, pb_schedule *schedule)
{
    const int64_t n_looks = pb_schedule_memory(n, first_look, fraction) / 24;
    const int64_t has_slack = choose(c, 0, 3) == 3;
    int64_t *const rows = memory;
    double *const scale = (double *)(void *)(rows + n_looks), *const slack = scale + n_looks;
    for (int64_t t = 0; t < n_looks; t++) {
        const int is_last = t == n_looks - 1;
        rows[t] = is_last ? n : t > 0 ? 2 * rows[t - 1] : first_look;
        scale[t] = is_last ? 0.0 : 4.0 * choose_unit(c);
        slack[t] = is_last || !has_slack ? 0.0 : choose_unit(c);
    }
    *schedule = (pb_schedule){n_looks, rows, scale, slack, NULL};
}

#endif
