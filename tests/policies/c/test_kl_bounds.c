#include "../../_shared/c/check.h"

#include "pybandit/policies/confidence/kl_bounds.h"
#include "pybandit/policies/protocol/kl.h"

enum { MOST = 60 };

/* Returns a mean in [0, 1]; often equal to others, 0, 1, or near them. */
static double some_mean(uint64_t *random)
{
    const double u = splitmix_double(random);
    switch (splitmix_next(random) % 6) {
    case 0:
        return floor(5.0 * u) / 4.0 > 1.0 ? 1.0 : floor(5.0 * u) / 4.0;
    case 1:
        return u * 1e-9;
    case 2:
        return 1.0 - u * 1e-12;
    default:
        return u;
    }
}

/* Follows rates that rise, as in a run, or jump. */
static void choices_match_all_bounds(int is_lower)
{
    uint64_t random = 17;
    double memory[5][MOST];
    unsigned char skip[MOST];
    int64_t n_none = 0;
    for (int run = 0; run < 600; run++) {
        const int64_t n = 1 + (int64_t)(splitmix_next(&random) % MOST);
        pb_kl_bounds bounds = {n, is_lower, memory[0], memory[1], memory[2], memory[3], memory[4]};
        double rate = 1e-3 + 20.0 * splitmix_double(&random);
        for (int64_t arm = 0; arm < n; arm++) {
            pb_kl_bounds_set(&bounds, arm, some_mean(&random),
                             (double)(1 + splitmix_next(&random) % 50));
            skip[arm] = splitmix_double(&random) < 0.3;
        }
        for (int step = 0; step < 60; step++) {
            double found = NAN, extreme = is_lower ? INFINITY : -INFINITY;
            int64_t best = -1;
            for (int64_t arm = 0; arm < n; arm++) {
                const double level = rate / bounds.pulls[arm], mean = bounds.means[arm];
                const double bound = is_lower ? pb_kl_lower(mean, level) : pb_kl_upper(mean, level);
                if (!skip[arm] && (best < 0 || (is_lower ? bound < extreme : bound > extreme))) {
                    best = arm;
                    extreme = bound;
                }
            }
            assert(pb_kl_bounds_choose(&bounds, rate, skip, &found) == best);
            assert(best < 0 || found == extreme);
            n_none += best < 0;
            const int64_t arm = (int64_t)(splitmix_next(&random) % (uint64_t)n);
            pb_kl_bounds_set(&bounds, arm, some_mean(&random), bounds.pulls[arm] + 1.0);
            skip[arm] = splitmix_double(&random) < 0.3;
            rate *= run % 4 ? 1.001 : 0.5 + splitmix_double(&random);
        }
    }
    assert(n_none > 0);
}

int main(void)
{
    choices_match_all_bounds(0);
    choices_match_all_bounds(1);
    return 0;
}
