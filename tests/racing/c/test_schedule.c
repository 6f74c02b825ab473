#include "../../_shared/c/check.h"

#include "pybandit/_shared/bounds.h"
#include "pybandit/racing/schedule.h"

/* A schedule with exactly the required memory. */
static pb_schedule make(double delta, int64_t n, int64_t n_states, int64_t first, double fraction)
{
    pb_schedule schedule;
    void *memory = allocate(pb_schedule_memory(n, first, fraction), 1);
    assert(pb_schedule_normal(delta, PB_ONE_SIDED, n, n_states, first, fraction, memory,
                              &schedule) == PB_OK);
    assert((const void *)schedule.rows == memory);
    return schedule;
}

static void check_looks(int64_t n, int64_t first, double fraction, int64_t n_looks,
                        const int64_t *rows)
{
    const pb_schedule schedule = make(0.05, n, 2, first, fraction);
    assert(schedule.n_looks == n_looks);
    for (int64_t t = 0; t < n_looks; t++)
        assert(schedule.rows[t] == rows[t]);
    assert(schedule.scale[n_looks - 1] == 0.0);
    free((void *)schedule.rows);
}

static void looks_double(void)
{
    check_looks(1000, 50, 1.0, 6, (const int64_t[]){50, 100, 200, 400, 800, 1000});
    check_looks(800, 50, 1.0, 5, (const int64_t[]){50, 100, 200, 400, 800});
    check_looks(1000, 50, 0.2, 4, (const int64_t[]){50, 100, 200, 1000});
    check_looks(1000, 50, 0.01, 1, (const int64_t[]){1000});
    check_looks(50, 50, 1.0, 1, (const int64_t[]){50});
    check_looks(1, 2, 1.0, 1, (const int64_t[]){1});
}

/* The boundary B has E(B) = delta / (D - 1), and all widths are those of Eq. 9 with this B. */
static void has_the_requested_error(void)
{
    const int64_t sizes[] = {100, 100000, (int64_t)1 << 62};
    for (int k = 0; k < 3; k++)
        for (int64_t n_states = 1; n_states < 12; n_states += 5) {
            const int64_t n = sizes[k];
            const pb_schedule schedule = make(0.05, n, n_states, 2, 1.0);
            const int64_t partial = schedule.n_looks - 1;
            double fractions[64], workspace[510];
            for (int64_t t = 0; t < partial; t++)
                fractions[t] = (double)schedule.rows[t] / (double)n;
            assert(pb_b_normal_memory(fractions, partial) <= 510);
            const double boundary =
                schedule.scale[0] / pb_bounds_normal(2.0, (double)n, 1.0, 1.0);
            const double share = n_states == 1 ? 0.05 : 0.05 / (double)(n_states - 1);
            assert(close_to(pb_b_normal_error(boundary, fractions, partial, PB_ONE_SIDED,
                                              workspace), share, 1e-9));
            for (int64_t t = 0; t < schedule.n_looks; t++) {
                assert(close_to(schedule.scale[t],
                                pb_bounds_normal((double)schedule.rows[t], (double)n, 1.0,
                                                 boundary), 1e-12));
                assert(schedule.slack[t] == 0.0);
            }
            free((void *)schedule.rows);
        }
}

static void rejects_delta_without_boundary(void)
{
    pb_schedule schedule;
    void *memory = allocate(pb_schedule_memory(1000, 50, 1.0), 1);
    const double bad[] = {0.0, 0.5, 1.0, -1.0, NAN};
    for (int i = 0; i < 5; i++)
        assert(pb_schedule_normal(bad[i], PB_ONE_SIDED, 1000, 2, 50, 1.0, memory, &schedule) ==
               PB_NO_SOLUTION);
    assert(pb_schedule_normal(0.5, PB_ONE_SIDED, 1000, 3, 50, 1.0, memory, &schedule) == PB_OK);
    free(memory);
}

int main(void)
{
    looks_double();
    has_the_requested_error();
    rejects_delta_without_boundary();
    return 0;
}
