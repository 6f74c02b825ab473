#include "../../_shared/c/check.h"

#include "pybandit/policies/stopping/glr.h"

static double least_of_many(const pb_glr_arm *a, const pb_glr_arm *b, double epsilon)
{
    double least = INFINITY;
    const double low = b->mean - epsilon, gap = a->mean - low;
    for (int i = 0; i <= 4000; i++) {
        const double q = low + gap * i / 4000.0;
        least = fmin(least, pb_glr_unknown_cost(a, q) + pb_glr_unknown_cost(b, q + epsilon));
    }
    return least;
}

/* Finds the global minimum of the cost, also for variances and counts of very different sizes. */
static void unknown_variances_meet_at_the_least_cost(void)
{
    uint64_t random = 3;
    for (int run = 0; run < 3000; run++) {
        const double epsilon = run % 3 ? 0.0 : 0.2;
        const pb_glr glr = {PB_GLR_UNKNOWN, 1.0, epsilon, 1, 0.0};
        pb_glr_arm arms[2];
        for (int i = 0; i < 2; i++) {
            arms[i].n = 1.0 + floor(exp(6.0 * splitmix_double(&random)));
            arms[i].mean = splitmix_double(&random);
            arms[i].variance = run % 11 ? exp(-16.0 * splitmix_double(&random)) : 0.0;
        }
        if (arms[0].mean < arms[1].mean) {
            const pb_glr_arm first = arms[0];
            arms[0] = arms[1];
            arms[1] = first;
        }
        const double z = pb_glr_statistic(&glr, &arms[0], &arms[1]);
        assert(z >= 0.0);
        if (run % 11 == 0) {
            assert(z == INFINITY && pb_glr_margin(&glr, &arms[0], &arms[1], 9.0) == -INFINITY);
            continue;
        }
        const double least = least_of_many(&arms[0], &arms[1], epsilon);
        assert(z <= least * (1.0 + 1e-9) && z >= 0.9 * least - 0.05 * (arms[0].n + arms[1].n));
        const double both = pb_glr_meeting(&glr, &arms[0], &arms[1]);
        assert(close_to(pb_glr_cost(&glr, &arms[0], both) +
                            pb_glr_cost(&glr, &arms[1], both + epsilon), z, 1e-9 * (1.0 + z)));
    }
    assert(close_to(pb_glr_unknown_excess(5.0, 3000.0), 3000.0 - 2.5 * log(6.0), 1e-9));
    assert(pb_glr_unknown_excess(5.0, 0.0) == 0.0);
    assert(close_to(pb_glr_unknown_excess(10.0, 4.0), 5.0 * log((10.0 + exp(0.8)) / 11.0), 1e-12));
}

/* Costs depend on ratios only: they are equal in every unit in which squares stay finite. */
static void units_do_not_matter(void)
{
    static const int exponents[] = {-490, -365, -300, 250, 345, 480};
    uint64_t random = 7;
    for (int run = 0; run < 3000; run++) {
        const double epsilon = run % 3 ? 0.0 : 0.2;
        pb_glr_arm a = {1.0 + floor(exp(6.0 * splitmix_double(&random))), 1.0, 0.0}, b = a;
        b.n = 1.0 + floor(exp(6.0 * splitmix_double(&random)));
        b.mean = splitmix_double(&random);
        a.variance = exp(-16.0 * splitmix_double(&random));
        b.variance = exp(-16.0 * splitmix_double(&random));
        const double z = pb_glr_unknown_statistic(&a, &b, epsilon);
        const double both = pb_glr_unknown_meeting(&a, &b, epsilon);
        for (int i = 0; i < 6; i++) {
            const int e = exponents[i];
            const pb_glr_arm above = {a.n, ldexp(a.mean, e), ldexp(a.variance, 2 * e)};
            const pb_glr_arm below = {b.n, ldexp(b.mean, e), ldexp(b.variance, 2 * e)};
            assert(pb_glr_unknown_statistic(&above, &below, ldexp(epsilon, e)) == z);
            assert(pb_glr_unknown_meeting(&above, &below, ldexp(epsilon, e)) == ldexp(both, e));
        }
    }
    /* a gap much larger or smaller than the standard deviation */
    const pb_glr_arm high = {60.0, 1e-200, 1.0}, low = {60.0, 0.0, 1.0};
    const double nothing = pb_glr_unknown_statistic(&high, &low, 0.0);
    assert(nothing >= 0.0 && nothing < 1e-200);
    const pb_glr_arm far = {60.0, 1e150, 1e-170};
    assert(pb_glr_unknown_statistic(&far, &low, 0.0) > 1e3);
}

int main(void)
{
    units_do_not_matter();
    unknown_variances_meet_at_the_least_cost();
    return 0;
}
