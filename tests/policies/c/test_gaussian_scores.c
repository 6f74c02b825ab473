#include "gaussian_check.h"

#include "pybandit/policies/correlated/gaussian_scores.h"

enum { MOST = 40 };

static int64_t first_largest(const double *values, int64_t n)
{
    int64_t best = 0;
    for (int64_t k = 1; k < n; k++)
        best = values[k] > values[best] ? k : best;
    return best;
}

static void indices_are_largest(void)
{
    uint64_t random = 1;
    for (int run = 0; run < 20000; run++) {
        const arms a = some_arms(&random, run, MOST, 1e-4);
        const double xi = run % 4 ? 0.0 : 0.25, scale = run % 7 ? 1.0 : 0.5;
        double upper[MOST], z[MOST], gain[MOST];
        const double level = largest(a.means, a.n, -1) + xi;
        for (int64_t k = 0; k < a.n; k++) {
            const double std = scale * sqrt(a.spreads[k]);
            upper[k] = a.means[k] + 2.5 * sqrt(a.spreads[k]);
            z[k] = std > 0.0 ? (a.means[k] - level) / std : -INFINITY;
            gain[k] = std > 0.0 ? std * exp(-0.5 * z[k] * z[k]) * 0.39894228040143267794
                                      + (a.means[k] - level) * 0.5 * erfc(-z[k] / sqrt(2.0))
                                : 0.0;
        }
        double *memory = allocate(2 * a.n, sizeof *memory), *out = allocate(a.n, sizeof *out);
        assert(pb_gaussian_scores_upper(a.means, a.spreads, a.n, 2.5, out)
               == first_largest(upper, a.n));
        assert(pb_gaussian_scores_probable(a.means, a.spreads, a.n, xi, scale, out)
               == first_largest(z, a.n));
        const int64_t best = first_largest(gain, a.n);
        const int64_t found = pb_gaussian_scores_expected(a.means, a.spreads, a.n, xi, scale,
                                                          memory);
        if (gain[best] > 1e-300)
            assert(gain[found] >= gain[best] * (1.0 - 1e-9) - 1e-17);
        else
            assert(found == first_largest(z, a.n) || gain[found] > 0.0);
        if (gain[best] > 1e-6 && run % 2 == 0)  /* of equal arms, the first is chosen */
            for (int64_t k = 0; k < found; k++)
                assert(a.means[k] != a.means[found] || a.spreads[k] != a.spreads[found]);
        free(memory);
        free(out);
        free_arms(&a);
    }
}

/* If the improvement underflows, the most probable arm is still found. */
static void improvements_may_underflow(void)
{
    const double means[3] = {0.0, 0.5, 1.0}, variances[3] = {1e-8, 1e-8, 1e-8};
    double memory[6];
    assert(pb_gaussian_scores_expected(means, variances, 3, 1.0, 1.0, memory) == 2);
    const double wide[3] = {1e-8, 4e-8, 1e-8};
    assert(pb_gaussian_scores_expected(means, wide, 3, 1.0, 1.0, memory) == 1);
}

int main(void)
{
    indices_are_largest();
    improvements_may_underflow();
    return 0;
}
