#include "stage.h"

#include "pybandit/cluster/trials.h"

enum { MANY = 100 };

/* Candidates measured together have the estimates and decisions of single ones, bit for bit. */
static void equals_single_trials(void)
{
    uint64_t counter = 41;
    for (int run = 0; run < 8; run++) {
        const int64_t k = 2 + run;
        stage s;
        make_points(&s, &counter, 1500, 2, k, run % 2, run % 4 > 1);
        make_stage(&s, run % 3 ? 700 : 1500);
        const pb_kmedoids *const km = &s.km;
        pb_swap_trial trials[MANY], one;
        pb_swap_decision decisions[MANY], single;
        int64_t by_row[MANY], group[3 * MANY + 10], rows[MANY];
        double *const out = allocate(MANY * PB_TILE, sizeof(double)), d[PB_TILE];
        pb_tile scratch = {.memory = NULL};
        pb_swap_limits limits = {-1, allocate(2 * PB_SWAP_LIMITS * k, sizeof(double))};
        start_trial(&one, k);
        for (int64_t i = 0; i < MANY; i++) {
            start_trial(trials + i, k);
            decisions[i] = pb_swap_begin(km, trials + i, i);
            int64_t at = i;
            for (; at > 0 && s.order[by_row[at - 1]] > s.order[i]; at--)
                by_row[at] = by_row[at - 1];
            by_row[at] = i;
        }
        assert(pb_swap_try_many(km, trials, decisions, MANY, by_row, &scratch, group, rows,
                                &limits, out) == PB_OK);
        for (int64_t i = 0; i < MANY; i++) {
            assert(pb_swap_try(km, &one, i, &scratch, d, &single) == PB_OK);
            assert(decisions[i] == single && trials[i].n_read == one.n_read);
            assert(single == PB_SWAP_PASS || trials[i].gain == one.gain);
            free_trial(trials + i);
        }
        free_trial(&one);
        free(limits.values);
        free(out);
        free_stage(&s);
    }
}

int main(void)
{
    equals_single_trials();
    return 0;
}
