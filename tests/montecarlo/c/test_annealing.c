#include "../../_shared/c/check.h"

#include "pybandit/montecarlo/annealing.h"

static double between(uint64_t *random, double low, double high)
{
    return low + (high - low) * splitmix_double(random);
}

/* Returns log(1 / (1 + e^-m)) in long double. */
static long double log_logistic(long double m)
{
    return m < 0 ? m - log1pl(expl(m)) : -log1pl(expl(-m));
}

static void likelihood_of_one_row(void)
{
    const double zero[4] = {0};
    static const double special[] = {0.0, -0.0, 1e-300, -1e-300, 39.9999, 40.0, -40.0, 64.0,
                                     -700.0, 710.0, -1e6, 1e300, -1e300, 0.5, -0.5};
    uint64_t random = 1;
    for (int i = 0; i < 100000; i++) {
        const double m = i < 15 ? special[i] : between(&random, -50.0, 50.0);
        const double margins[4] = {m, 64.0, 64.0, 64.0};
        const double found = pb_annealing_log_likelihood(margins, zero, 3.0, 4);
        const double expected = (double)log_logistic((long double)m);
        assert(close_to(found, expected, 4e-16 * fmax(1.0, fabs(expected))));
    }
}

static void likelihood_of_many_rows(void)
{
    uint64_t random = 2;
    static const int64_t sizes[] = {4, 8, 996, 1000, 1004, 5000};
    for (int s = 0; s < 6; s++) {
        const int64_t n = sizes[s];
        double *margins = allocate(n, sizeof *margins), *column = allocate(n, sizeof *column);
        /* margins of 0 give the largest possible product */
        for (int64_t i = 0; i < n; i++)
            margins[i] = column[i] = 0.0;
        assert(close_to(pb_annealing_log_likelihood(margins, column, 1.0, n),
                        -(double)n * log(2.0), 1e-13 * (double)n));
        long double expected = 0.0L;
        for (int64_t i = 0; i < n; i++) {
            margins[i] = between(&random, -9.0, 9.0);
            column[i] = between(&random, -1.0, 1.0);
            expected += log_logistic((long double)margins[i] - .75L * (long double)column[i]);
        }
        assert(close_to(pb_annealing_log_likelihood(margins, column, -.75, n), (double)expected,
                        1e-13 * (double)n));
        free(margins);
        free(column);
    }
}

/* Five rows with two features, multiplied by the labels. */
static const double COLUMNS[] = {1.0, .5, -2.0, 0.0, 1.5, 0.0, 0.0, 0.0,
                                 0.0, 1.0, -1.0, 2.0, .5, 0.0, 0.0, 0.0};
static const pb_annealing SMALL = {8, 2, COLUMNS, .5, .5};

static void margins_by_hand(void)
{
    const double theta[] = {2.0, -1.0}, expected[] = {2.0, 0.0, -3.0, -2.0, 2.5, 64.0, 64.0, 64.0};
    double margins[8];
    pb_annealing_margins(&SMALL, 5, theta, margins);
    for (int i = 0; i < 8; i++)
        assert(margins[i] == expected[i]);
}

/* Checks that a run updates the margins with theta, and counts evaluations. */
static void a_run_keeps_its_margins(void)
{
    uint64_t counter = 3;
    pb_bitgen bitgen = splitmix(&counter);
    double theta[] = {.3, -.2}, margins[8], fresh[8];
    int64_t n_evaluations;
    pb_annealing_margins(&SMALL, 5, theta, margins);
    const double first = pb_annealing_log_likelihood(margins, COLUMNS, 0.0, 8);
    assert(pb_annealing_run(&SMALL, 1, theta, margins, &bitgen, &n_evaluations) == first);
    assert(n_evaluations == 1 && counter == 3 && theta[0] == .3);
    pb_annealing_run(&SMALL, 500, theta, margins, &bitgen, &n_evaluations);
    /* at least both ends and one point per slice */
    assert(n_evaluations >= 1 + 3 * 2 * 499 && n_evaluations < 20 * 2 * 499);
    pb_annealing_margins(&SMALL, 5, theta, fresh);
    for (int i = 0; i < 8; i++)
        assert(close_to(margins[i], fresh[i], 1e-12));
}

/* Checks that the mean weight is Z, computed by quadrature, for several n_anneals. */
static void estimates_are_unbiased(void)
{
    double z = 0.0, margins[8];
    const double h = .05, v = SMALL.prior_variance;
    for (int i = -120; i <= 120; i++)
        for (int j = -120; j <= 120; j++) {
            const double theta[] = {h * i, h * j};
            pb_annealing_margins(&SMALL, 5, theta, margins);
            z += exp(pb_annealing_log_likelihood(margins, COLUMNS, 0.0, 8) -
                     h * h * (i * i + j * j) / (2.0 * v));
        }
    z *= h * h / (6.283185307179586 * v);
    uint64_t counter = 5;
    pb_bitgen bitgen = splitmix(&counter);
    static const int64_t lengths[] = {1, 2, 10};
    for (int k = 0; k < 3; k++) {
        const int n = 20000;
        double sum = 0.0, square = 0.0;
        for (int i = 0; i < n; i++) {
            /* both coefficients are normal numbers of one Box-Muller step */
            const double r = sqrt(-2.0 * v * log(1.0 - splitmix_double(&counter)));
            const double angle = 6.283185307179586 * splitmix_double(&counter);
            double theta[] = {r * cos(angle), r * sin(angle)};
            int64_t n_evaluations;
            pb_annealing_margins(&SMALL, 5, theta, margins);
            const double weight =
                exp(pb_annealing_run(&SMALL, lengths[k], theta, margins, &bitgen,
                                     &n_evaluations));
            sum += weight;
            square += weight * weight;
        }
        const double mean = sum / n, variance = square / n - mean * mean;
        assert(close_to(mean, z, 5.0 * sqrt(variance / n)));
    }
}

int main(void)
{
    likelihood_of_one_row();
    likelihood_of_many_rows();
    margins_by_hand();
    a_run_keeps_its_margins();
    estimates_are_unbiased();
    return 0;
}
