/*
 * Doubling looks (pybandit/racing/schedule.h). The odds of the fractions read at least double
 * from look to look, so each step of the chain of standardised means has a minimum width.
 * The boundary therefore needs few nodes, and its workspace fits on the stack.
 *
 * Only the normal bound is computed here: the Student bound, Python's default, needs a
 * quantile that the C library lacks. A schedule may also come from Python: rows, scale and
 * slack of RacingSampler.schedule are the arrays of this struct.
 */
#include "pybandit/racing/schedule.h"

#include <math.h>
#include <stddef.h>

#include "pybandit/_shared/bounds.h"

enum {
    MOST_LOOKS = 64,         /* an int64_t cannot double more often */
    WORKSPACE = 5 * 102,     /* pb_b_normal_memory if the odds at least double */
};

/* Returns 1 if the schedule has a look at `rows` factors before the last one. */
static int is_partial(int64_t rows, int64_t n_factors, double max_fraction)
{
    return rows < n_factors && (double)rows <= max_fraction * (double)n_factors;
}

static int64_t count_looks(int64_t n_factors, int64_t first_look, double max_fraction)
{
    int64_t looks = 1, rows = first_look;
    while (is_partial(rows, n_factors, max_fraction)) {
        looks++;
        if (rows > INT64_MAX / 2)
            break;
        rows *= 2;
    }
    return looks;
}

int64_t pb_schedule_memory(int64_t n_factors, int64_t first_look, double max_fraction)
{
    const int64_t looks = count_looks(n_factors, first_look, max_fraction);
    return looks * (int64_t)(sizeof(int64_t) + 2 * sizeof(double));
}

pb_status pb_schedule_normal(double delta, pb_convention convention, int64_t n_factors,
                             int64_t n_states, int64_t first_look, double max_fraction,
                             void *memory, pb_schedule *schedule)
{
    const int64_t partial = count_looks(n_factors, first_look, max_fraction) - 1;
    int64_t *rows = memory;
    double *scale = (double *)(void *)(rows + partial + 1), *slack = scale + partial + 1;
    double fractions[MOST_LOOKS], workspace[WORKSPACE], boundary = 0.0;
    for (int64_t t = 0; t < partial; t++) {
        rows[t] = t == 0 ? first_look : 2 * rows[t - 1];
        fractions[t] = (double)rows[t] / (double)n_factors;
    }
    rows[partial] = n_factors;
    if (partial > 0) {
        const double share = delta / (double)(n_states > 2 ? n_states - 1 : 1);
        const pb_status status =
            pb_b_normal_solve(share, fractions, partial, convention, workspace, &boundary);
        if (status != PB_OK)
            return status;
    }
    for (int64_t t = 0; t <= partial; t++) {
        scale[t] = pb_bounds_normal((double)rows[t], (double)n_factors, 1.0, boundary);
        slack[t] = 0.0;
    }
    *schedule = (pb_schedule){partial + 1, rows, scale, slack, NULL};
    return PB_OK;
}
