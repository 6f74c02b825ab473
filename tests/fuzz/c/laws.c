/* Bounds, boundaries and distributions: their ranges and monotonicity. */
#include "fuzz.h"

#include "pybandit/_shared/bounds.h"
#include "pybandit/policies/regret/logit_beta.h"
#include "pybandit/racing/b_normal.h"

enum { MOST_LOOKS = 6 };

static void bounds(choices *c)
{
    const double population = (double)choose(c, 1, 60000), delta = choose_unit(c);
    const double n = 1.0 + floor((population - 1.0) * choose_unit(c));
    const double std = 9.0 * choose_unit(c), range = 9.0 * choose_unit(c);
    double scale, slack;
    pb_bounds_bernstein_serfling_terms(n, population, delta, &scale, &slack);
    HOLDS(scale >= 0.0 && slack >= 0.0);
    const double width = pb_bounds_bernstein_serfling(n, population, std, range, delta);
    HOLDS(fabs(width - (std * scale + range * slack)) <= 1e-12 * (1.0 + width));
    const double normal = pb_bounds_normal(n, population, std, 3.0);
    HOLDS(normal >= 0.0 && normal <= 3.0 * std * (1.0 + 1e-12));
    if (n == population)
        HOLDS(width == 0.0 && normal == 0.0);
    const double z = choose_number(c, 37.0), tail = pb_bounds_normal_tail(z);
    HOLDS(tail >= 0.0 && tail <= 1.0 && pb_bounds_normal_tail(z + 0.5) <= tail);
    const double back = pb_bounds_normal_tail(pb_bounds_normal_tail_inverse(delta));
    HOLDS(fabs(back - delta) <= 1e-9 * delta);
}

static void boundaries(choices *c, pool *p)
{
    const int64_t n = choose(c, 1, MOST_LOOKS);
    const pb_convention convention = (pb_convention)choose(c, 0, 2);
    double *fractions = TAKE(p, n, double), left = 1.0;
    for (int64_t i = n; i-- > 0;) {
        left *= 0.2 + 0.75 * choose_unit(c);
        fractions[i] = left;
    }
    double *work = TAKE(p, pb_b_normal_memory(fractions, n), double);
    const double boundary = 6.0 * choose_unit(c);
    const double error = pb_b_normal_error(boundary, fractions, n, convention, work);
    HOLDS(error >= 0.0 && error <= 0.5 * (double)n + 1.0);
    HOLDS(pb_b_normal_error(boundary + 0.5, fractions, n, convention, work) <= error + 1e-12);
    if (choose_byte(c) < 32) {  /* rarely, because solving evaluates the error about ten times */
        const double delta = 0.45 * choose_unit(c);
        double found;
        const pb_status status = pb_b_normal_solve(delta, fractions, n, convention, work, &found);
        HOLDS(status == PB_OK || status == PB_NO_SOLUTION);
        if (status == PB_OK)
            HOLDS(found >= 0.0 && fabs(pb_b_normal_error(found, fractions, n, convention, work) -
                                       delta) <= 1e-6 * delta);
    }
}

static double shape_of(choices *c)
{
    return 0.1 + choose_unit(c) * ldexp(1.0, (int)choose(c, 0, 30));
}

static void logits(choices *c)
{
    const double a = shape_of(c), b = shape_of(c);
    uint64_t counter = choose_byte(c);
    pb_bitgen bitgen = fuzz_bitgen(&counter);
    double mean, variance, gumbel[3];
    pb_logit_beta_moments(a, b, &mean, &variance);
    HOLDS(isfinite(mean) && variance > 0.0);
    const double far = choose_number(c, 6.0);
    const pb_logit at = pb_logit_at(mean + far * sqrt(variance));
    HOLDS(at.x >= 0.0 && at.y >= 0.0 && fabs(at.x + at.y - 1.0) <= 1e-12);
    const double density = pb_logit_beta_density(a, b, &at);
    const double below = pb_logit_beta_below(a, b, &at, density);
    HOLDS(density >= 0.0 && below >= -1e-12 && below <= 1.0 + 1e-12);
    HOLDS(isfinite(pb_logit_beta_draw(a, b, &bitgen)));
    if (below > 1e-9 && below < 1.0 - 1e-9) {
        HOLDS(pb_logit_beta_draw_beyond(a, b, &at, density, 1, &bitgen) >= at.at);
        HOLDS(pb_logit_beta_draw_beyond(a, b, &at, density, 0, &bitgen) <= at.at);
    }
    const int64_t n = choose(c, 0, 3);
    pb_bitgen_gumbel_many(&bitgen, n, gumbel);
    for (int64_t i = 0; i < n; i++)
        HOLDS(isfinite(gumbel[i]));
    HOLDS(pb_bitgen_below(&bitgen, 7) < 7 && pb_bitgen_open(&bitgen) > 0.0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    choices c = {bytes, bytes + size};
    pool p = {.n = 0};
    const int64_t kind = choose(&c, 0, 15);
    if (kind == 0)  /* rarely, because its integrals take a hundred times as long */
        boundaries(&c, &p);
    else if (kind & 1)
        bounds(&c);
    else
        logits(&c);
    pool_free(&p);
    return 0;
}
