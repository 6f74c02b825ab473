#include "../../_shared/c/check.h"

#include "pybandit/policies/gaussian_scores.h"

enum { MOST = 40 };

typedef struct {
    int64_t n;
    double *means, *variances;
} arms;

/* On a grid, so that they tie; some variances are 0. */
static arms some_arms(uint64_t *random, int run)
{
    arms a = {1 + (int64_t)(splitmix_next(random) % MOST), NULL, NULL};
    a.means = allocate(a.n, sizeof(double));
    a.variances = allocate(a.n, sizeof(double));
    for (int64_t k = 0; k < a.n; k++) {
        const double u = splitmix_double(random), v = splitmix_double(random);
        a.means[k] = run % 2 ? u : floor(4.0 * u);
        a.variances[k] = run % 3 ? v : floor(3.0 * v);
        if (run % 5 == 0)
            a.variances[k] *= 1e-4;
    }
    return a;
}

static double largest(const double *values, int64_t n, int64_t but)
{
    double most = -INFINITY;
    for (int64_t k = 0; k < n; k++)
        if (k != but && values[k] > most)
            most = values[k];
    return most;
}

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
        const arms a = some_arms(&random, run);
        const double xi = run % 4 ? 0.0 : 0.25, scale = run % 7 ? 1.0 : 0.5;
        double upper[MOST], z[MOST], gain[MOST];
        const double level = largest(a.means, a.n, -1) + xi;
        for (int64_t k = 0; k < a.n; k++) {
            const double std = scale * sqrt(a.variances[k]);
            upper[k] = a.means[k] + 2.5 * sqrt(a.variances[k]);
            z[k] = std > 0.0 ? (a.means[k] - level) / std : -INFINITY;
            gain[k] = std > 0.0 ? std * exp(-0.5 * z[k] * z[k]) * 0.39894228040143267794
                                      + (a.means[k] - level) * 0.5 * erfc(-z[k] / sqrt(2.0))
                                : 0.0;
        }
        double *memory = allocate(2 * a.n, sizeof *memory), *out = allocate(a.n, sizeof *out);
        assert(pb_gaussian_scores_upper(a.means, a.variances, a.n, 2.5, out)
               == first_largest(upper, a.n));
        assert(pb_gaussian_scores_probable(a.means, a.variances, a.n, xi, scale, out)
               == first_largest(z, a.n));
        const int64_t best = first_largest(gain, a.n);
        const int64_t found = pb_gaussian_scores_expected(a.means, a.variances, a.n, xi, scale,
                                                          memory);
        if (gain[best] > 1e-300)
            assert(gain[found] >= gain[best] * (1.0 - 1e-9) - 1e-17);
        else
            assert(found == first_largest(z, a.n) || gain[found] > 0.0);
        if (gain[best] > 1e-6 && run % 2 == 0)  /* equal arms: the first of them */
            for (int64_t k = 0; k < found; k++)
                assert(a.means[k] != a.means[found] || a.variances[k] != a.variances[found]);
        free(memory);
        free(out);
        free(a.means);
        free(a.variances);
    }
}

/* Where no double holds the improvement, the likeliest arm is still found. */
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
