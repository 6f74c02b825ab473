#include "../../_shared/c/check.h"

#include "pybandit/policies/batch/top.h"

enum { MOST = 40 };

/* Returns the rank-th largest value of the arms in the set, by counting. */
static double nth(const double *values, const int *is_in, int64_t n, int64_t rank)
{
    if (rank < 1)
        return INFINITY;
    for (int64_t i = 0; i < n; i++) {
        int64_t above = 0, same = 0;
        for (int64_t j = 0; j < n && is_in[i]; j++) {
            above += is_in[j] && values[j] > values[i];
            same += is_in[j] && values[j] == values[i];
        }
        if (is_in[i] && above < rank && rank <= above + same)
            return values[i];
    }
    return -INFINITY;
}

static double some_value(uint64_t *random)
{
    const uint64_t draw = splitmix_next(random) % 12;
    return draw == 0 ? INFINITY : draw == 1 ? -INFINITY : (double)draw;  /* many ties */
}

static void value_matches_counting(void)
{
    uint64_t random = 11;
    int64_t order[MOST], place[MOST], arms[MOST];
    double values[MOST];
    for (int run = 0; run < 2000; run++) {
        const int64_t n = 1 + (int64_t)(splitmix_next(&random) % MOST);
        int is_in[MOST];
        int64_t n_in = 0, rank = (int64_t)(splitmix_next(&random) % (uint64_t)(n + 3));
        for (int64_t arm = 0; arm < n; arm++) {
            values[arm] = run % 3 ? some_value(&random) : run % 2 ? -INFINITY : INFINITY;
            is_in[arm] = splitmix_double(&random) < 0.8;
            if (is_in[arm])
                arms[n_in++] = arm;
        }
        pb_top top = {.values = values, .order = order, .place = place, .size = n};
        pb_top_build(&top, arms, n_in, rank, run % 2);
        assert(pb_top_value(&top) == nth(values, is_in, n, rank));
        for (int step = 0; step < 100 && n_in > 0; step++) {
            const int64_t arm = (int64_t)(splitmix_next(&random) % (uint64_t)n);
            const double u = splitmix_double(&random);
            if (is_in[arm] && u < 0.85) {
                values[arm] = some_value(&random);
                pb_top_update(&top, arm);
            } else if (is_in[arm] && u < 0.95) {
                pb_top_remove(&top, arm);
                is_in[arm] = 0;
                n_in--;
            } else if (rank > 0 && u > 0.97) {
                pb_top_lower_rank(&top);
                rank--;
            }
            assert(pb_top_value(&top) == nth(values, is_in, n, rank));
        }
    }
}

int main(void)
{
    value_matches_counting();
    return 0;
}
