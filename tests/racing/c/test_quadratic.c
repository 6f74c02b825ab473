#include "../../_shared/c/check.h"

#include "pybandit/racing/quadratic.h"

enum { N = 1000, D = 3 };

static const double CONSTANTS[D] = {0.5, -1.0, 0.0}, SLOPES[D] = {1.0, 0.25, -2.0},
                    CURVATURES[D] = {-0.5, 0.0, 0.125};

static double expected(double y, double center, int64_t s)
{
    return CONSTANTS[s] + SLOPES[s] * (y - center) +
           CURVATURES[s] * (y - center) * (y - center);
}

static void reads_and_sums(int with_members)
{
    uint64_t random = 5;
    double *values = allocate(N, sizeof *values);
    int32_t *members = allocate(N / 2, sizeof *members);
    for (int64_t i = 0; i < N; i++)
        values[i] = 3.0 + splitmix_double(&random);
    for (int64_t i = 0; i < N / 2; i++)
        members[i] = (int32_t)(2 * i + 1);
    pb_quadratic q = {D, CONSTANTS, SLOPES, CURVATURES, 3.25, values,
                      with_members ? members : NULL};
    const int64_t factors[] = {7, 0, 499}, states[] = {0, 2};
    double out[6], totals[D], wanted[D] = {0.0};
    assert(pb_quadratic_read(factors, 3, states, 2, out, &q) == 0);
    for (int64_t f = 0; f < 3; f++)
        for (int64_t s = 0; s < 2; s++) {
            const double y = values[with_members ? members[factors[f]] : factors[f]];
            assert(close_to(out[2 * f + s], expected(y, 3.25, states[s]), 1e-14));
        }
    const int64_t n = with_members ? N / 2 : N;
    for (int64_t i = 0; i < n; i++)
        for (int64_t s = 0; s < D; s++)
            wanted[s] += expected(values[with_members ? members[i] : i], 3.25, s);
    pb_quadratic_totals(&q, n, totals);
    for (int64_t s = 0; s < D; s++)
        assert(close_to(totals[s], wanted[s], 1e-10));
    free(values);
    free(members);
}

static void totals_of_nan_values_are_nan(void)
{
    double values[3] = {1.0, NAN, 2.0}, totals[D];
    pb_quadratic q = {D, CONSTANTS, SLOPES, CURVATURES, 0.0, values, NULL};
    pb_quadratic_totals(&q, 3, totals);
    for (int64_t s = 0; s < D; s++)
        assert(isnan(totals[s]));
    pb_quadratic_totals(&q, 1, totals);
    assert(totals[0] == 1.0);
}

int main(void)
{
    reads_and_sums(0);
    reads_and_sums(1);
    totals_of_nan_values_are_nan();
    return 0;
}
