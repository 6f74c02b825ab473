#include "../../_shared/c/check.h"

#include "pybandit/policies/stopping/glr_rival.h"

enum { MOST = 40 };

static void rival_matches_all_statistics(void)
{
    uint64_t random = 23;
    double means[MOST], counts[MOST], extra[MOST], memory[MOST];
    int64_t n_none = 0;
    for (int run = 0; run < 4000; run++) {
        const int64_t n = 1 + (int64_t)(splitmix_next(&random) % MOST);
        const pb_glr glr = {run % 2 ? PB_GLR_GAUSSIAN : PB_GLR_BERNOULLI, 0.8,
                            run % 4 == 1 ? 0.1 : 0.0, 1, 1.0};
        int64_t best = 0, expected;
        double least = INFINITY;
        for (int64_t b = 0; b < n; b++) {
            const double u = splitmix_double(&random);
            /* on a grid, so that statistics tie */
            means[b] = run % 3 ? u : floor(5.0 * u) / 4.0 > 1.0 ? 1.0 : floor(5.0 * u) / 4.0;
            counts[b] = (double)(1 + splitmix_next(&random) % (run % 5 ? 4 : 100000));
            extra[b] = log(counts[b]);
            if (b && splitmix_double(&random) < 0.1)
                means[b] = -INFINITY;
            if (means[b] > means[best] || (run % 7 == 0 && means[b] > -INFINITY))
                best = b;
        }
        const pb_glr_rivals arms = {n, means, counts, run % 11 ? NULL : extra, memory};
        expected = best;
        for (int64_t b = 0; b < n; b++) {
            const pb_glr_arm leader = {counts[best], means[best], 0.0};
            const pb_glr_arm rival = {counts[b], means[b], 0.0};
            if (b == best || means[b] == -INFINITY)
                continue;
            const double z = pb_glr_statistic(&glr, &leader, &rival)
                             + (arms.extra ? extra[b] : 0.0);
            if (z < least) {
                least = z;
                expected = b;
            }
        }
        assert(pb_glr_rival(&glr, &arms, best) == expected);
        n_none += expected == best;
    }
    assert(n_none > 0);
}

int main(void)
{
    rival_matches_all_statistics();
    return 0;
}
