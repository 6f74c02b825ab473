#include "../../_shared/c/check.h"

#include "pybandit/policies/stopping/glr.h"

static const pb_glr_law laws[] = {PB_GLR_GAUSSIAN, PB_GLR_BERNOULLI, PB_GLR_POISSON};

/* No other common mean of both arms gives a sum of divergences below the statistic. */
static void statistic_is_the_least_sum(void)
{
    uint64_t random = 1;
    for (int run = 0; run < 60000; run++) {
        const pb_glr glr = {laws[run % 3], 0.5, 0.0, 1, 0.0};
        const double n_a = 1.0 + floor(90.0 * splitmix_double(&random));
        const double n_b = 1.0 + floor(90.0 * splitmix_double(&random));
        const double b = run % 7 ? 0.9 * splitmix_double(&random) : 0.0;
        const double a = b + (0.99 - b) * splitmix_double(&random);
        const pb_glr_arm high = {n_a, a, 0.0}, low = {n_b, b, 0.0};
        const double z = pb_glr_statistic(&glr, &high, &low);
        const double both = (n_a * a + n_b * b) / (n_a + n_b);
        assert(z >= 0.0 && pb_glr_statistic(&glr, &low, &high) == 0.0);
        for (double step = -0.1; step <= 0.1; step += 0.02) {
            const double v = fmin(fmax(both + step * (a - b), b), a);
            assert(n_a * pb_glr_divergence(&glr, a, v) + n_b * pb_glr_divergence(&glr, b, v) >=
                   z * (1.0 - 1e-12) - 1e-12);
        }
    }
}

static void slopes_are_those_of_the_divergence(void)
{
    uint64_t random = 2;
    for (int run = 0; run < 30000; run++) {
        const pb_glr glr = {laws[run % 3], 2.0, 0.0, 1, 0.0};
        const double p = splitmix_double(&random), q = 0.05 + 0.9 * splitmix_double(&random);
        const double h = 1e-5, slope = pb_glr_slope(&glr, p, q);
        const double change = pb_glr_divergence(&glr, p, q + h) - pb_glr_divergence(&glr, p, q - h);
        assert(close_to(change / (2.0 * h), slope, 1e-5 * (1.0 + fabs(slope))));
    }
}

static void ends(void)
{
    const pb_glr bernoulli = {PB_GLR_BERNOULLI, 1.0, 0.0, 1, 0.0};
    const pb_glr poisson = {PB_GLR_POISSON, 1.0, 0.0, 1, 0.0};
    assert(pb_glr_divergence(&bernoulli, 0.5, 1.0) == INFINITY);
    assert(pb_glr_divergence(&poisson, 0.5, 0.0) == INFINITY);
    assert(pb_glr_divergence(&poisson, 0.0, 0.0) == 0.0 && pb_glr_divergence(&poisson, 0.0, 2.0) == 2.0);
    const pb_glr slack = {PB_GLR_GAUSSIAN, 0.5, 0.25, 1, 0.0};
    const pb_glr_arm one = {2.0, 1.0, 0.0}, above = {2.0, 1.25, 0.0};
    assert(pb_glr_statistic(&slack, &one, &one) == 0.5 * 0.0625);
    assert(pb_glr_statistic(&slack, &one, &above) == 0.0);
}

/* Finds an arm not yet separated from the best, preferably the previous one; -1 if none is left. */
static void doubt_is_the_one_before_or_the_lowest(void)
{
    const pb_glr glr = {PB_GLR_GAUSSIAN, 0.5, 0.0, 0, 1.0};
    int64_t pulls[] = {100, 100, 100, 100};
    double sums[] = {0.0, 100.0, 95.0, 97.0};
    const double none[4] = {0.0};
    assert(pb_glr_doubt(&glr, pulls, sums, none, 4, 1, -1, 400.0) == 2);
    assert(pb_glr_doubt(&glr, pulls, sums, none, 4, 1, 3, 400.0) == 3);
    assert(pb_glr_doubt(&glr, pulls, sums, none, 4, 1, 0, 400.0) == 2);
    assert(pb_glr_doubt(&glr, pulls, sums, none, 4, 1, 1, 400.0) == 2);
    sums[2] = sums[3] = 0.0;
    assert(pb_glr_doubt(&glr, pulls, sums, none, 4, 1, 3, 400.0) == -1);
    pulls[3] = 0;
    assert(pb_glr_doubt(&glr, pulls, sums, none, 4, 1, -1, 300.0) == 3);
    assert(pb_glr_doubt(&glr, pulls, sums, none, 1, 0, -1, 100.0) == -1);
}

int main(void)
{
    statistic_is_the_least_sum();
    slopes_are_those_of_the_divergence();
    ends();
    doubt_is_the_one_before_or_the_lowest();
    return 0;
}
