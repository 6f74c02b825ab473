#include "../../_shared/c/check.h"

#include "pybandit/policies/stopping/glr_gaussian.h"

static const double widths[PB_WIDTHS] = {2.0, 0.5, 0.125, 0.03125, 0.0078125};
static const double weights[PB_WIDTHS] = {0.25, 0.25, 0.25, 0.125, 0.125};

/* Computes the mixture for n rewards of mean d by a sum over means above the true mean. */
static double mixed(double n, double d)
{
    enum { STEPS = 40000 };
    double sum = 0.0;
    for (int j = 0; j < PB_WIDTHS; j++) {
        const double s = widths[j], spread = 1.0 / sqrt(n + 1.0 / (s * s));
        const double top = fmax(n * d * spread * spread, 0.0) + 12.0 * spread;
        for (int i = 0; i < STEPS; i++) {
            const double x = top * (i + 0.5) / STEPS;
            sum += weights[j] * top / STEPS * 0.7978845608028654 / s *
                   exp(n * x * d - 0.5 * n * x * x - 0.5 * x * x / (s * s));
        }
    }
    return log(sum);
}

static void evidence_is_that_of_the_mixture(void)
{
    uint64_t random = 1;
    for (int run = 0; run < 150; run++) {
        const double n = floor(exp(9.0 * splitmix_double(&random)));
        const double d = (10.0 * splitmix_double(&random) - 3.0) / sqrt(n);
        double slope, other;
        assert(close_to(pb_glr_gaussian_evidence(n, d, &slope), mixed(n, d), 1e-6));
        const double h = 1e-5 / sqrt(n);
        const double change = pb_glr_gaussian_evidence(n, d + h, &other) -
                              pb_glr_gaussian_evidence(n, d - h, &other);
        assert(slope > 0.0 && close_to(change / (2.0 * h), slope, 1e-6 * (1.0 + slope)));
    }
}

static void evidence_is_at_most_twice_the_likelihood_and_has_no_end(void)
{
    uint64_t random = 2;
    for (int run = 0; run < 100000; run++) {
        const double n = floor(exp(30.0 * splitmix_double(&random)));
        const double d = exp(60.0 * splitmix_double(&random) - 40.0);
        double slope;
        const double value = pb_glr_gaussian_evidence(n, d, &slope);
        assert(isfinite(value) && isfinite(slope) && slope > 0.0);
        assert(value <= 0.6931471805599454 + 0.5 * n * d * d * (1.0 + 1e-12));
        assert(isfinite(pb_glr_gaussian_evidence(n, -d, &slope)) && slope >= 0.0);
        assert(pb_glr_gaussian_evidence(n, -d, &slope) <= value);
    }
}

/*
 * No value on a grid is below the computed minimum, and some are near it. If `enough` is given, the
 * result is above `enough` exactly if the minimum is.
 */
static void least_is_the_least(void)
{
    uint64_t random = 3;
    for (int run = 0; run < 3000; run++) {
        const double n_a = floor(exp(11.0 * splitmix_double(&random)));
        const double n_b = floor(exp(11.0 * splitmix_double(&random)));
        const double unit = sqrt(1.0 / n_a + 1.0 / n_b);
        const double gap = (12.0 * splitmix_double(&random) - 1.0) * unit;
        const double least = pb_glr_gaussian_least(n_a, n_b, gap, NAN);
        double near = INFINITY, slope;
        for (int i = -300; i <= 600; i++) {
            const double x = (fabs(gap) + unit) * i / 300.0;
            near = fmin(near, pb_glr_gaussian_evidence(n_a, gap - x, &slope) +
                              pb_glr_gaussian_evidence(n_b, x, &slope));
        }
        assert(least <= near + 1e-9 && (least > near - 0.05 * (1.0 + fabs(near))));
        assert(gap > 0.0 || least < 0.0);
        const double enough = least + 4.0 * (splitmix_double(&random) - 0.5);
        const double other = pb_glr_gaussian_least(n_a, n_b, gap, enough);
        assert((other > enough) == (least > enough) || fabs(least - enough) < 1e-9);
        assert(!(other > enough) || other <= least + 1e-9);
    }
}

/* Far below the true mean, evidence decreases logarithmically; so does the minimum for two arms. */
static void far_below_it_is_a_logarithm(void)
{
    for (double d = 1e6; d < 1e60; d *= 1e3) {
        double slope, here, there;
        const double before = pb_glr_gaussian_evidence(7.0, -d, &slope);
        assert(close_to(slope * d, 1.0, 1e-5));
        assert(close_to(before - pb_glr_gaussian_evidence(7.0, -2.0 * d, &there), log(2.0), 1e-5));
        const double least = pb_glr_gaussian_least(1.0, 336.0, -d, NAN);
        here = pb_glr_gaussian_evidence(1.0, -0.5 * d, &there) +
               pb_glr_gaussian_evidence(336.0, -0.5 * d, &there);
        assert(close_to(least, here, 1e-3) && least <= here + 1e-9);
    }
}

static void large_gaps_are_told(void)
{
    const double gaps[] = {1e3, 1e50, 1e99, 1e200, INFINITY}, counts[] = {1.0, 100.0, 1e15};
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 9; j++)
            assert(pb_glr_gaussian_least(counts[j % 3], counts[j / 3], gaps[i], 700.0) > 700.0);
}

int main(void)
{
    evidence_is_that_of_the_mixture();
    evidence_is_at_most_twice_the_likelihood_and_has_no_end();
    least_is_the_least();
    far_below_it_is_a_logarithm();
    large_gaps_are_told();
    return 0;
}
