/* Joint Gaussian posteriors: variances are nonnegative, equal arms agree, lazy updates agree. */
#include "fuzz.h"

#include "pybandit/policies/correlated/gaussian_gap.h"
#include "pybandit/policies/correlated/gaussian_lazy.h"
#include "pybandit/policies/correlated/gaussian_rows.h"
#include "pybandit/policies/correlated/gaussian_scores.h"

typedef struct {
    pb_gaussian posterior;
    pb_gaussian_lazy lazy;
} arms;

static pb_gaussian *covariances(pool *p, choices *c, int64_t n)
{
    double *root = TAKE(p, n * n, double), *spread = TAKE(p, n * (n + 1) / 2, double);
    pb_gaussian *g = TAKE(p, 1, pb_gaussian);
    double *kernel = TAKE(p, n * n, double);
    const int64_t most_rows = pb_gaussian_rows_most(n, 0);
    *g = (pb_gaussian){.n_arms = n, .means = ZEROS(p, n, double),
                       .variances = TAKE(p, n, double), .spread = spread,
                       .memory = TAKE(p, n, double), .deviations = TAKE(p, n, double),
                       .kernel = kernel, .kernel_scale = 1.0, .most_rows = most_rows,
                       .rows = TAKE(p, most_rows * n, double), .next_arm = -1};
    choose_numbers(c, root, n * n, 30.0);
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j <= i; j++) {
            double sum = 0.0;
            for (int64_t k = 0; k < n; k++)
                sum += root[i * n + k] * root[j * n + k];
            spread[i * (i + 1) / 2 + j] = sum;
            kernel[i * n + j] = kernel[j * n + i] = sum;
        }
        g->variances[i] = spread[i * (i + 1) / 2 + i];
        g->deviations[i] = sqrt(g->variances[i]);
    }
    return g;
}

static void weights(arms *a, pool *p, const double *features, int64_t n, int64_t d)
{
    double *norms = TAKE(p, n, double);
    a->posterior = (pb_gaussian){.n_arms = n, .n_features = d, .features = features,
                                 .means = ZEROS(p, n, double),
                                 .variances = TAKE(p, n, double),
                                 .spread = ZEROS(p, d * d, double),
                                 .weights = ZEROS(p, d, double),
                                 .memory = TAKE(p, 2 * d, double), .next_arm = -1};
    for (int64_t k = 0; k < n; k++) {
        norms[k] = 0.0;
        for (int64_t j = 0; j < d; j++)
            norms[k] += features[k * d + j] * features[k * d + j];
        a->posterior.variances[k] = 4.0 * norms[k];
    }
    for (int64_t j = 0; j < d; j++)
        a->posterior.spread[j * d + j] = 2.0;
    a->lazy = (pb_gaussian_lazy){.gaussian = &a->posterior, .norms = norms, .prior_variance = 4.0,
                                 .memory = TAKE(p, pb_gaussian_lazy_size(n, d), double),
                                 .made = TAKE(p, n, int64_t)};
}

static void scores(const pb_gaussian *g, choices *c, pool *p)
{
    const int64_t n = g->n_arms;
    double *out = TAKE(p, 2 * n, double);
    const double factor = 3.0 * choose_unit(c), xi = choose_byte(c) & 1 ? 0.0 : choose_unit(c);
    const int64_t upper = pb_gaussian_scores_upper(g->means, g->variances, n, factor, out);
    HOLDS(upper >= 0 && upper < n);
    for (int64_t k = 0; k < n; k++)
        HOLDS(g->means[k] + factor * sqrt(g->variances[k]) <=
              g->means[upper] + factor * sqrt(g->variances[upper]));
    const int64_t probable = pb_gaussian_scores_probable(g->means, g->variances, n, xi, 1.0, out);
    HOLDS(probable >= 0 && probable < n);
    for (int64_t k = 0; k < n; k++)
        HOLDS(out[k] < out[probable] || (out[k] == out[probable] && k >= probable));
    const int64_t expected = pb_gaussian_scores_expected(g->means, g->variances, n, xi, 0.5, out);
    HOLDS(expected >= 0 && expected < n);
    if (n < 2)
        return;
    double *deviations = TAKE(p, n, double);
    for (int64_t k = 0; k < n; k++)
        deviations[k] = sqrt(g->variances[k]);
    const pb_gaussian_gap gap = pb_gaussian_gap_round(
        g->means, deviations, n, 50.0 * choose_unit(c), choose_unit(c), 1.0,
        TAKE(p, pb_gaussian_gap_size(n), double));
    HOLDS(gap.best >= 0 && gap.best < n && gap.rival >= 0 && gap.rival < n);
    HOLDS(gap.best != gap.rival && (gap.chosen == gap.best || gap.chosen == gap.rival));
    HOLDS(gap.beta >= 0.0 && !isnan(gap.bound));
}

static void check(const pb_gaussian *g)
{
    for (int64_t k = 0; k < g->n_arms; k++) {
        HOLDS(g->variances[k] >= 0.0 && isfinite(g->variances[k]) && isfinite(g->means[k]));
        HOLDS(!g->deviations || g->deviations[k] == sqrt(g->variances[k]));
    }
}

static void by_covariances(choices *c, pool *p, int64_t n)
{
    pb_gaussian *g = covariances(p, c, n);
    for (int64_t t = choose(c, 1, 9); t > 0; t--) {
        pb_gaussian_update(g, choose(c, 0, n - 1), choose_number(c, 1e6), 0.001 + choose_unit(c));
        check(g);
    }
    scores(g, c, p);
}

/* Compares lazy updates of few arms with those of all arms and with the plain definition. */
static void by_weights(choices *c, pool *p, int64_t n)
{
    const int64_t d = choose(c, 1, 4), like = choose(c, 0, n - 1);
    double *features = TAKE(p, n * d, double), *z = TAKE(p, d, double), *out = TAKE(p, n, double);
    choose_numbers(c, features, n * d, 30.0);
    memcpy(features + like * d, features, (size_t)d * sizeof *features);
    arms few, all, plain;
    weights(&few, p, features, n, d);
    weights(&all, p, features, n, d);
    weights(&plain, p, features, n, d);
    pb_gaussian_lazy_begin(&few.lazy, 0);
    pb_gaussian_lazy_begin(&all.lazy, 0);
    for (int64_t t = 1, end = choose(c, 1, 9); t <= end; t++) {
        const double factor = 3.0 * choose_unit(c), reward = choose_number(c, 1e6);
        const double noise = 0.001 + choose_unit(c);
        const int64_t arm = pb_gaussian_lazy_largest(&few.lazy, factor);
        int64_t best = 0;
        pb_gaussian_lazy_refresh_all(&all.lazy);
        const pb_gaussian *const g = &all.posterior;
        for (int64_t k = 1; k < n; k++)
            if (g->means[k] + factor * sqrt(g->variances[k]) >
                g->means[best] + factor * sqrt(g->variances[best]))
                best = k;
        HOLDS(arm == best);
        HOLDS(g->means[like] == g->means[0] && g->variances[like] == g->variances[0]);
        const int64_t told = choose_byte(c) & 1 ? arm : choose(c, 0, n - 1);
        pb_gaussian_lazy_update(&few.lazy, told, reward, noise);
        pb_gaussian_lazy_update(&all.lazy, told, reward, noise);
        pb_gaussian_update(&plain.posterior, told, reward, noise);
        check(&plain.posterior);
        if (choose_byte(c) < 32) {  /* as if restored from a state: all arms are computed */
            pb_gaussian_lazy_refresh_all(&few.lazy);
            pb_gaussian_lazy_begin(&few.lazy, t);
        }
    }
    pb_gaussian_lazy_refresh(&few.lazy, like);
    choose_numbers(c, z, d, 3.0);
    pb_gaussian_draw(&plain.posterior, z, choose_unit(c), out);
    for (int64_t k = 0; k < n; k++)
        HOLDS(isfinite(out[k]));
    scores(&plain.posterior, c, p);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    choices c = {bytes, bytes + size};
    pool p = {.n = 0};
    if (choose_byte(&c) & 1)
        by_covariances(&c, &p, choose(&c, 1, 6));
    else
        by_weights(&c, &p, choose(&c, 1, choose_byte(&c) < 4 ? 150 : 8));
    pool_free(&p);
    return 0;
}
