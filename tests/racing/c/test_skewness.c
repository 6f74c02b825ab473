#include "../../_shared/c/check.h"

#include "../../../csrc/racing/skewness.h"

/* t + c0 + c2 t^2 equals the quantile at the returned t, for either sign of the skewness. */
static void the_root_is_the_boundary(void)
{
    for (double r = -0.1; r <= 0.1; r += 0.013)
        for (double c = -0.05; c <= 0.05; c += 0.009)
            for (double q = 0.5; q < 7.0 && 0.5 * c - r / 6.0 > -0.033; q += 0.7) {
                const double t = skewed_quantile(q, r, c), c2 = 0.5 * c - r / 6.0;
                assert(LEAST_T * q <= t && t <= HEAVY_T * q);
                if (c2 < MOST_SKEWED && LEAST_T * q < t && t < HEAVY_T * q)
                    assert(close_to(t + r / 6.0 + c2 * t * t, q, 1e-12));
            }
    assert(skewed_quantile(3.0, 0.0, 0.0) == 3.0);
}

/* If r = c <= -0.1, t is at least several quantiles; a positive value counts as at most 0.1. */
static void large_skewness(void)
{
    assert(close_to(skewed_quantile(2.0, -0.1001, -0.1001), 6.006, 1e-12));
    assert(close_to(skewed_quantile(2.0, -0.3, -0.3), 18.0, 1e-12));
    assert(skewed_quantile(2.0, -9.0, -9.0) == 90.0);
    assert(skewed_quantile(2.0, -0.0999, -0.0999) < 3.0);
    assert(close_to(skewed_quantile(2.0, 5.0, 5.0), skewed_quantile(2.0, 0.1, 0.1), 1e-14));
    assert(skewed_quantile(9.0, -0.0999, -0.0999) == 27.0);  /* no root: 3 quantiles */
    assert(skewed_quantile(1e3, 5.0, 5.0) == 500.0);         /* at least half the quantile */
}

/* A negative third moment requires a larger quantile, and a positive one a smaller quantile. */
static void spreads(void)
{
    const skew_look look = skew_look_at(3.0 * 0.1, 0.1, 50, 1000);
    assert(close_to(look.quantile, 3.0, 1e-15));
    assert(quantile_of(&look, 4.0, 0.0) == look.quantile);
    assert(quantile_of(&look, 4.0, -3.0) > look.quantile);
    assert(quantile_of(&look, 4.0, 3.0) < look.quantile);
    assert(close_to(quantile_of(&look, 4.0, 3.0), quantile_of(&look, 1.0, 0.375), 1e-14));
}

int main(void)
{
    the_root_is_the_boundary();
    large_skewness();
    spreads();
    return 0;
}
