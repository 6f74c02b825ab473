#include "../../_shared/c/check.h"

#include "pybandit/policies/protocol/kl.h"
#include "pybandit/policies/regret/kl_index.h"

/* Returns the arm with the largest index, after solving for the bound of every arm. */
static int64_t chosen(const pb_kl_index *index, double f)
{
    int64_t best = -1;
    double largest = -INFINITY;
    for (int64_t arm = 0; arm < index->n; arm++) {
        if (index->pulls[arm] == 0.0)
            continue;
        const double tail = pb_kl_upper_tail(index->means[arm], f / index->pulls[arm]);
        const double value = tail - (index->scales ? log(index->scales[arm]) : 0.0);
        if (best < 0 || value > largest) {
            largest = value;
            best = arm;
        }
    }
    return best;
}

/* Plays Bernoulli arms, or rewards on a grid, so that means tie often. */
static void play(int64_t n, int kind, uint64_t *random)
{
    double *memory = allocate(8 * n, sizeof *memory);
    double *scales = memory + 6 * n, *sums = memory + 7 * n;
    pb_kl_index index = {n, kind % 2 ? scales : NULL, memory, memory + n, memory + 2 * n,
                         memory + 3 * n, memory + 4 * n, memory + 5 * n};
    pb_kl_index_begin(&index);
    for (int64_t arm = 0; arm < n; arm++) {
        scales[arm] = kind == 1 ? 2.0 : 0.1 + 5.0 * splitmix_double(random);
        sums[arm] = 0.0;
    }
    for (int64_t t = 1; t < 300 + 3 * n; t++) {
        const double f = pb_kl_round((double)t);
        const int64_t expected = chosen(&index, f);
        const int64_t arm = t <= n ? t - 1 : pb_kl_index_choose(&index, f);
        assert(t <= n || arm == expected);
        const double reward = kind < 3 ? (double)(splitmix_next(random) % 2)
                              : kind == 3 ? 1.0
                                          : kind == 4 ? splitmix_double(random)
                                          : 0.999 + 0.001 * splitmix_double(random);
        sums[arm] += reward;
        pb_kl_index_update(&index, arm, sums[arm] / (index.pulls[arm] + 1.0),
                           index.pulls[arm] + 1.0, f);
    }
    free(memory);
}

int main(void)
{
    uint64_t random = 1;
    for (int run = 0; run < 300; run++)
        play(2 + (int64_t)(splitmix_next(&random) % 12), run % 6, &random);
    for (int kind = 0; kind < 6; kind++)
        play(100, kind, &random);
    return 0;
}
