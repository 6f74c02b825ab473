#include "../../_shared/c/check.h"

#include "pybandit/policies/confidence/proportions.h"

static double ratio(const pb_glr *glr, const double *shares, const double *means, int64_t best,
                    int64_t arm)
{
    const pb_glr_arm a = {shares[best], means[best], 0.0}, b = {shares[arm], means[arm], 0.0};
    return pb_glr_statistic(glr, &a, &b);
}

static double least(const pb_glr *glr, const double *means, int64_t n, int64_t best,
                    const double *shares)
{
    double z = INFINITY;
    for (int64_t arm = 0; arm < n; arm++)
        if (arm != best)
            z = fmin(z, ratio(glr, shares, means, best, arm));
    return z;
}

/* Shares sum to 1, all Z are equal, and moving share between arms does not raise the least Z. */
static void shares_are_the_best(void)
{
    static const pb_glr_law laws[] = {PB_GLR_GAUSSIAN, PB_GLR_BERNOULLI, PB_GLR_POISSON};
    uint64_t random = 1;
    double means[8], shares[8], moved[8];
    for (int run = 0; run < 6000; run++) {
        const pb_glr glr = {laws[run % 3], 0.5, 0.0, 1, 0.0};
        const int64_t n = 2 + (int64_t)(splitmix_next(&random) % 7);
        int64_t best = 0;
        for (int64_t arm = 0; arm < n; arm++) {
            means[arm] = run % 11 == 0 && arm % 3 ? 0.0 : splitmix_double(&random);
            best = means[arm] > means[best] ? arm : best;
        }
        const double value = pb_proportions(&glr, means, n, shares);
        double sum = 0.0;
        for (int64_t arm = 0; arm < n; arm++) {
            assert(shares[arm] > 0.0 && shares[arm] < 1.0);
            sum += shares[arm];
            if (arm != best) {
                const double z = ratio(&glr, shares, means, best, arm);
                assert(close_to(z, value, 1e-7 * value));
            }
        }
        assert(close_to(sum, 1.0, 1e-12));
        for (int64_t a = 0; a < n; a++)
            for (int64_t b = 0; b < n; b++) {
                for (int64_t arm = 0; arm < n; arm++)
                    moved[arm] = shares[arm];
                const double step = 1e-3 * fmin(shares[a], shares[b]);
                moved[a] += step;
                moved[b] -= step;
                assert(least(&glr, means, n, best, moved) <= value * (1.0 + 1e-9));
            }
    }
}

/* For means a few units in the last place apart, shares are valid and larger for nearer arms. */
static void near_ties_share(void)
{
    static const pb_glr_law laws[] = {PB_GLR_GAUSSIAN, PB_GLR_BERNOULLI, PB_GLR_POISSON};
    uint64_t random = 5;
    double means[4], shares[4];
    for (int run = 0; run < 30000; run++) {
        const pb_glr glr = {laws[run % 3], 0.5, 0.0, 1, 0.0};
        const double most = splitmix_double(&random);
        double sum = 0.0;
        int64_t best = 0;
        for (int64_t arm = 0; arm < 4; arm++) {
            means[arm] = most * (1.0 - 0x1p-53 * (double)(splitmix_next(&random) % 40));
            best = means[arm] > means[best] ? arm : best;
        }
        assert(pb_proportions(&glr, means, 4, shares) >= 0.0);
        for (int64_t arm = 0; arm < 4; arm++) {
            assert(shares[arm] >= 0.0 && shares[arm] <= 1.0);
            sum += shares[arm];
        }
        assert(close_to(sum, 1.0, 1e-9));
    }
}

static void ties_share(void)
{
    const pb_glr glr = {PB_GLR_GAUSSIAN, 0.5, 0.0, 1, 0.0};
    const double means[] = {0.0, 2.0, 1.0, 2.0};
    double shares[4];
    assert(pb_proportions(&glr, means, 4, shares) == 0.0);
    assert(shares[0] == 0.0 && shares[1] == 0.5 && shares[2] == 0.0 && shares[3] == 0.5);
    assert(pb_proportions(&glr, means, 1, shares) == 0.0 && shares[0] == 1.0);
    assert(pb_proportions(&glr, means, 2, shares) > 0.0);
    assert(close_to(shares[0], 0.5, 1e-9) && close_to(shares[1], 0.5, 1e-9));
}

/* Shares have no unit; the least Z scales with the precision and with squares. */
static void units_do_not_matter(void)
{
    static const int exponents[] = {-900, -490, 345, 480, 900};
    const double means[] = {-1.0, 1.0, 0.0, 0.875};
    const pb_glr one = {PB_GLR_GAUSSIAN, 0.5, 0.0, 1, 0.0};
    double shares[4], scaled[4], others[4];
    const double value = pb_proportions(&one, means, 4, shares);
    for (int i = 0; i < 5; i++) {
        const int e = exponents[i];
        for (int64_t arm = 0; arm < 4; arm++)
            scaled[arm] = ldexp(means[arm], e);
        const double most = pb_proportions(&one, scaled, 4, others);
        assert(most == ldexp(value, 2 * e));
        for (int64_t arm = 0; arm < 4; arm++)
            assert(others[arm] == shares[arm]);
    }
    const pb_glr fine = {PB_GLR_GAUSSIAN, 0x1p900, 0.0, 1, 0.0};
    assert(pb_proportions(&fine, means, 4, others) == ldexp(value, 901));
    assert(others[0] == shares[0] && others[3] == shares[3]);
    const double widest[] = {-1.7e308, 1.7e308, 0.0, 0.9 * 1.7e308};
    assert(pb_proportions(&one, widest, 4, others) > 0.0 && others[0] > 0.0 && others[0] < 1.0);
}

int main(void)
{
    units_do_not_matter();
    shares_are_the_best();
    near_ties_share();
    ties_share();
    return 0;
}
