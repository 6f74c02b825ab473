#include "../../_shared/c/check.h"

#include "pybandit/racing/column.h"

/* Moments and extremes equal the plain formulas for any split into blocks. */
static void follows_the_formulas(void)
{
    enum { N = 1000 };
    uint64_t counter = 7;
    for (int run = 0; run < 200; run++) {
        const int64_t n = 1 + (int64_t)(splitmix_next(&counter) % N);
        const double common = run % 2 ? 1e9 : 0.0;
        double *values = allocate(n, sizeof *values);
        double sum = 0.0, square = 0.0, cube = 0.0, low = INFINITY, high = -INFINITY;
        for (int64_t i = 0; i < n; i++) {
            double d = splitmix_double(&counter) - 0.5;
            d = run % 3 ? d : floor(4.0 * d) / 4.0;  /* in every third run, some values are equal */
            values[i] = common + d;
            sum += values[i] - common;
            square += (values[i] - common) * (values[i] - common);
            cube += pow(values[i] - common, 3.0);
            low = fmin(low, values[i]);
            high = fmax(high, values[i]);
        }
        const double mean = sum / (double)n, variance = square / (double)n - mean * mean;
        pb_column column, filled;
        pb_column_begin(&column);
        for (int64_t done = 0, step; done < n; done += step) {
            step = (int64_t)(splitmix_next(&counter) % 17);
            step = step < n - done ? step : n - done;
            pb_column_add(&column, values + done, step);
        }
        assert(column.count == n && column.low == low && column.high == high);
        assert(close_to(pb_column_excess(&column, common), mean, 1e-12));
        assert(close_to(pb_column_variance(&column), variance, 1e-12));
        const double third = cube / (double)n - mean * (3.0 * variance + mean * mean);
        assert(close_to(pb_column_third(&column), third, 1e-11));
        int64_t others = 0;
        for (int64_t i = 1; i < n; i++)
            others += values[i] != values[0];
        assert(column.others == others);
        pb_column_fill(&filled, values, n);
        assert(filled.count == n && filled.low == low && filled.high == high);
        assert(close_to(pb_column_excess(&filled, common), mean, 1e-12));
        free(values);
    }
}

/* A value that is not finite is detected and found at any position. */
static void finds_invalid_values(void)
{
    enum { N = 23 };
    const double bad[] = {NAN, INFINITY, -INFINITY};
    for (int64_t at = 0; at < N; at++)
        for (int k = 0; k < 3; k++) {
            double values[N] = {0.0};
            values[at] = bad[k];
            pb_column column;
            pb_column_begin(&column);
            pb_column_add(&column, values, N);
            assert(!pb_column_is_finite(&column));
            pb_column_fill(&column, values, N);
            assert(!pb_column_is_finite(&column));
            assert(pb_column_find_bad(values, N, -1.0, 1.0) == at);
            values[at] = 2.0;
            assert(pb_column_find_bad(values, N, -1.0, 1.0) == at);
            assert(pb_column_find_bad(values, N, -1.0, 2.0) == -1);
        }
    double large[] = {0.0, 1e200};
    pb_column column;
    pb_column_begin(&column);
    pb_column_add(&column, large, 2);
    assert(!pb_column_is_finite(&column));
    pb_column_fill(&column, large, 2);
    assert(pb_column_is_finite(&column));  /* fill computes no squares */
}

int main(void)
{
    follows_the_formulas();
    finds_invalid_values();
    return 0;
}
