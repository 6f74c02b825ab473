#include "../../_shared/c/check.h"

#include "../../../csrc/racing/skewness.h"

/* The root is where t + c0 + c2 t^2 passes the quantile, of either sign. */
static void the_root_is_the_boundary(void)
{
    for (double r = -0.1; r <= 0.1; r += 0.013)
        for (double c = -0.05; c <= 0.05; c += 0.009)
            for (double q = 0.5; q < 7.0 && 0.5 * c - r / 6.0 > -0.033; q += 0.7) {
                const double t = skewed_quantile(q, r, c);
                assert(t < INFINITY);
                assert(skewed_exceeds(t + 1e-9, q, r, c) && !skewed_exceeds(t - 1e-9, q, r, c));
                assert(skewed_exceeds(1e9, q, r, c));  /* more is never less */
            }
    assert(skewed_quantile(3.0, 0.0, 0.0) == 3.0);
}

/* g = -0.1 sqrt(T) and beyond waits; on the other side no more than +0.1 counts. */
static void large_skewness(void)
{
    assert(skewed_quantile(2.0, -0.1001, -0.1001) == INFINITY);
    assert(!skewed_exceeds(1e9, 2.0, -0.1001, -0.1001));
    assert(skewed_quantile(2.0, -0.0999, -0.0999) < INFINITY);
    assert(close_to(skewed_quantile(2.0, 5.0, 5.0), skewed_quantile(2.0, 0.1, 0.1), 1e-14));
    assert(skewed_quantile(9.0, -0.0999, -0.0999) == INFINITY);  /* past the parabola's top */
    assert(!skewed_exceeds(1e9, 9.0, -0.0999, -0.0999));
    assert(skewed_quantile(2.0, NAN, NAN) == INFINITY && !skewed_exceeds(9.0, 2.0, NAN, NAN));
}

/* Values without variance are no evidence; the width is what the clear gap must pass. */
static void spreads(void)
{
    const skew_look look = skew_look_at(3.0 * 0.1, 0.1, 50, 1000);
    const double values[] = {0.0, 0.0, 1.0, 2.5};
    double sum = 0.0, square = 0.0, cube = 0.0;
    skew_look four = look;
    four.per_count = 0.25;
    for (int i = 0; i < 4; i++) {
        sum += values[i];
        square += values[i] * values[i];
        cube += values[i] * values[i] * values[i];
    }
    const spread of = spread_of(&four, sum, square, cube);
    double variance = 0.0, third = 0.0;
    for (int i = 0; i < 4; i++) {
        variance += 0.25 * pow(values[i] - 0.875, 2.0);
        third += 0.25 * pow(values[i] - 0.875, 3.0);
    }
    assert(close_to(of.variance, variance, 1e-14) && close_to(of.third, third, 1e-14));
    const spread none = {0.0, 0.0}, even = {4.0, -0.3};
    assert(!skewed_clear(&look, 1e9, none) && skewed_width(&look, none) == INFINITY);
    const double width = skewed_width(&look, even);
    assert(skewed_clear(&look, width * (1.0 + 1e-9), even));
    assert(!skewed_clear(&look, width * (1.0 - 1e-9), even));
    assert(width > 2.0 * 0.1 * 3.0);  /* a negative skewness asks for more */
}

int main(void)
{
    the_root_is_the_boundary();
    large_skewness();
    spreads();
    return 0;
}
