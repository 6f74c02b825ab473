#include "../../_shared/c/check.h"

#include "pybandit/policies/protocol/kl.h"

/* The bounds solve their equation: slightly inside a bound, kl is below the level. */
static void bounds_solve_their_equation(void)
{
    uint64_t random = 1;
    for (int run = 0; run < 200000; run++) {
        const double u = splitmix_double(&random), v = splitmix_double(&random);
        const double mean = run % 4 == 0 ? pow(10.0, -12.0 * u)
                            : run % 4 == 1 ? 1.0 - pow(10.0, -12.0 * u)
                                           : u;
        const double level = run % 2 ? 5.0 * v : pow(10.0, -7.0 * v);
        const double upper = pb_kl_upper(mean, level), lower = pb_kl_lower(mean, level);
        const double tail = pb_kl_upper_tail(mean, level);
        assert(close_to(-expm1(-tail), upper, 1e-15 + 1e-13 * upper));
        const double out = 1e-12, noise = 1e-15; /* rounding of a divergence near 0 */
        assert(upper >= mean && upper <= 1.0 && lower <= mean && lower >= 0.0);
        assert(pb_kl(mean, upper * (1.0 - out)) <= level + noise || upper * (1.0 - out) < mean);
        assert(upper + out >= 1.0 || pb_kl(mean, upper + out) >= level - noise);
        assert(pb_kl(mean, lower + out) <= level + noise || lower + out > mean);
        assert(lower < 1e-290 || pb_kl(mean, lower * (1.0 - 10.0 * out)) >= level - noise);
    }
}

static void ends(void)
{
    static const double levels[] = {0.0, 1e-300, 1e-12, 1e-3, 1.0, 30.0, 1e6, 1e300};
    for (int i = 0; i < 8; i++) {
        const double level = levels[i];
        assert(close_to(pb_kl_upper(0.0, level), -expm1(-level), 1e-16));
        assert(close_to(pb_kl_lower(1.0, level), exp(-level), 1e-15));
        assert(pb_kl_upper(1.0, level) == 1.0 && pb_kl_lower(0.0, level) == 0.0);
        static const double means[] = {0x1p-1074, 1e-300, 1e-17, 0.5, 1.0 - 0x1p-53};
        for (int j = 0; j < 5; j++) {
            const double upper = pb_kl_upper(means[j], level), lower = pb_kl_lower(means[j], level);
            assert(upper >= means[j] && upper <= 1.0 && lower >= 0.0 && lower <= means[j]);
            assert(level > 0.0 || upper == means[j]);
        }
    }
    assert(pb_kl_lower(0.5, 0.0) == 0.5);
    assert(pb_kl_upper_tail(1.0, 0.5) == INFINITY && pb_kl_upper_tail(0.0, 0.5) == 0.5);
    assert(close_to(pb_kl_upper_tail(0.5, 0.0), log(2.0), 1e-16));
    /* both bounds round to 1, but their tails, -log(1 - bound), differ */
    assert(pb_kl_upper(0.99, 2.0) == pb_kl_upper(0.98, 2.0));
    assert(pb_kl_upper_tail(0.99, 2.0) > pb_kl_upper_tail(0.98, 2.0) + 90.0);
}

static void known_values(void)
{
    assert(close_to(pb_kl_upper(0.9, pb_kl_round(1000.0) / 50.0), 0.9968604223093133, 1e-15));
    assert(close_to(pb_kl_upper(0.5, pb_kl_round(100.0) / 10.0), 0.9584647875870368, 1e-15));
    assert(pb_kl_round(1.0) == pb_kl_round(3.0) && pb_kl_round(2.0) == pb_kl_round(3.0));
    assert(close_to(pb_kl(0.25, 0.5), 0.25 * log(0.5) + 0.75 * log(1.5), 1e-16));
    assert(pb_kl(0.0, 1.0) == INFINITY && pb_kl(1.0, 0.0) == INFINITY);
    assert(pb_kl(0.0, 0.0) == 0.0 && pb_kl(1.0, 1.0) == 0.0 && pb_kl(0.3, 0.3) == 0.0);
}

int main(void)
{
    bounds_solve_their_equation();
    ends();
    known_values();
    return 0;
}
