/* Likelihood ratios of all families, and the optimal shares of pulls, for any means and counts. */
#include "fuzz.h"

#include "pybandit/policies/stopping/glr.h"
#include "pybandit/policies/stopping/glr_gaussian.h"
#include "pybandit/policies/confidence/proportions.h"

enum { MOST_ARMS = 8 };

typedef struct {
    int64_t n_arms, pulls[MOST_ARMS];
    double means[MOST_ARMS], sums[MOST_ARMS], deviations[MOST_ARMS];
} world;

static double some_count(choices *c)
{
    const double n = ldexp(1.0 + choose_byte(c), (int)choose(c, 0, 24) - 4);
    return n < 1.0 ? 1.0 : floor(n);
}

static void make(world *w, const pb_glr *glr, choices *c)
{
    w->n_arms = choose(c, 1, MOST_ARMS);
    if (glr->law == PB_GLR_BERNOULLI)
        choose_units(c, w->means, w->n_arms);
    else
        choose_numbers(c, w->means, w->n_arms, 1e6);
    for (int64_t i = 0; i < w->n_arms; i++) {
        if (glr->law == PB_GLR_POISSON)
            w->means[i] = fabs(w->means[i]);
        w->pulls[i] = choose_byte(c) < 8 ? 0 : (int64_t)some_count(c);
        const double n = (double)w->pulls[i];
        w->sums[i] = n * w->means[i];
        w->deviations[i] = choose_byte(c) < 16 ? 0.0 : n * fabs(choose_number(c, 1e6));
        if (glr->law == PB_GLR_BERNOULLI && w->sums[i] > n)
            w->sums[i] = n;
    }
}

static void two(const pb_glr *glr, const pb_glr_arm *a, const pb_glr_arm *b, double t)
{
    const int is_unknown = glr->law == PB_GLR_UNKNOWN;
    const double margin = pb_glr_margin(glr, a, b, t);
    const int told = pb_glr_tell(glr, a, b, t);
    HOLDS(!isnan(margin));
    if (fabs(margin) > 1e-9 * (1.0 + fabs(glr->level)))
        HOLDS(told == (margin > 0.0));
    if (is_unknown && (a->variance == 0.0 || b->variance == 0.0)) {
        HOLDS(!told);
        return;
    }
    const double z = pb_glr_statistic(glr, a, b), other = pb_glr_statistic(glr, b, a);
    HOLDS(z >= 0.0 && other >= 0.0);
    if (!(a->mean - b->mean + glr->epsilon > 0.0)) {
        HOLDS(z == 0.0);
        return;
    }
    if (glr->epsilon == 0.0)
        HOLDS(other == 0.0);
    const double u = pb_glr_meeting(glr, a, b), size = fabs(a->mean) + fabs(b->mean) + glr->epsilon;
    HOLDS(u >= b->mean - glr->epsilon - 1e-12 * size && u <= a->mean + 1e-12 * size);
    /* the minimum is at most the cost at either end of the interval */
    if (isfinite(z)) {
        const double low = b->mean - glr->epsilon;
        const double at_a = pb_glr_cost(glr, b, a->mean + glr->epsilon);
        HOLDS(z <= at_a * (1.0 + 1e-9) + 1e-9 * (1.0 + a->n + b->n));
        if (glr->law == PB_GLR_GAUSSIAN || is_unknown)
            HOLDS(z <= pb_glr_cost(glr, a, low) * (1.0 + 1e-9) + 1e-9 * (1.0 + a->n + b->n));
    }
    HOLDS(!isnan(pb_glr_single(glr, a->n, z)));
}

static void doubts(const pb_glr *glr, const world *w, choices *c, double t)
{
    const int64_t best = choose(c, 0, w->n_arms - 1), before = choose(c, -1, w->n_arms - 1);
    const int64_t doubt = pb_glr_doubt(glr, w->pulls, w->sums, w->deviations, w->n_arms, best,
                                       before, t);
    HOLDS(doubt >= -1 && doubt < w->n_arms && doubt != best);
    for (int64_t arm = 0; arm < w->n_arms; arm++) {
        if (arm == best || !w->pulls[arm] || !w->pulls[best]) {
            HOLDS(arm == best || doubt != -1);
            continue;
        }
        const pb_glr_arm a = pb_glr_arm_of(w->pulls[best], w->sums[best], w->deviations[best]);
        const pb_glr_arm b = pb_glr_arm_of(w->pulls[arm], w->sums[arm], w->deviations[arm]);
        two(glr, &a, &b, t);
        if (arm == before || (doubt == -1 || (arm < doubt && doubt != before)))
            HOLDS(pb_glr_tell(glr, &a, &b, t) == (arm != doubt));
        else if (arm == doubt)
            HOLDS(!pb_glr_tell(glr, &a, &b, t));
    }
}

static void shares(const pb_glr *glr, const world *w)
{
    double out[MOST_ARMS], sum = 0.0;
    if (glr->law == PB_GLR_UNKNOWN)
        return;
    const double least = pb_proportions(glr, w->means, w->n_arms, out);
    HOLDS(least >= 0.0);
    for (int64_t i = 0; i < w->n_arms; i++) {
        HOLDS(out[i] >= 0.0 && out[i] <= 1.0 + 1e-9);
        sum += out[i];
    }
    HOLDS(fabs(sum - 1.0) <= 1e-9);
}

/* Compares the minimum with a grid; stopping at `enough` does not change the comparison. */
static void least(choices *c)
{
    const double n_a = some_count(c), n_b = some_count(c);
    const double gap = choose_number(c, 1e30) / (choose_byte(c) & 1 ? sqrt(n_a) : 1.0);
    double slope, before = -INFINITY;
    const double found = pb_glr_gaussian_least(n_a, n_b, gap, NAN);
    HOLDS(isfinite(found));
    for (int i = -2; i <= 6; i++) {
        const double x = gap * i / 4.0, value = pb_glr_gaussian_evidence(n_b, x, &slope);
        HOLDS(slope >= 0.0 && isfinite(value));
        HOLDS(value + pb_glr_gaussian_evidence(n_a, gap - x, &slope) >=
              found - 1e-9 * (1.0 + fabs(found)));
        HOLDS(gap < 0.0 || value >= before - 1e-12 * (1.0 + fabs(before)));
        before = value;
    }
    const double enough = choose_number(c, 1e3), other = pb_glr_gaussian_least(n_a, n_b, gap, enough);
    if (fabs(found - enough) > 1e-9 * (1.0 + fabs(enough)))
        HOLDS((other > enough) == (found > enough));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    choices c = {bytes, bytes + size};
    const pb_glr_law law = (pb_glr_law)choose(&c, 0, 3);
    const int has_epsilon = law == PB_GLR_GAUSSIAN || law == PB_GLR_UNKNOWN;
    const pb_glr glr = {law, 0.5 / (0.01 + choose_unit(&c)),
                        has_epsilon && choose_byte(&c) & 1 ? choose_unit(&c) : 0.0,
                        choose_byte(&c) & 1, choose_byte(&c) / 16.0};
    world w;
    if (choose_byte(&c) < 64) {
        least(&c);
        return 0;
    }
    make(&w, &glr, &c);
    double t = 1.0;
    for (int64_t i = 0; i < w.n_arms; i++)
        t += (double)w.pulls[i];
    doubts(&glr, &w, &c, t);
    shares(&glr, &w);
    return 0;
}
