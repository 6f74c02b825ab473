#include "../../_shared/c/check.h"

#include "pybandit/policies/correlated/gaussian_lazy.h"

typedef struct {
    pb_gaussian posterior;
    pb_gaussian_lazy lazy;
    double *norms;
} arms;

static double normalish(uint64_t *random)
{
    double sum = -6.0;
    for (int i = 0; i < 12; i++)
        sum += splitmix_double(random);
    return sum;
}

/* Random features; some rows are equal, some zero. */
static double *some_features(int64_t n, int64_t d, uint64_t *random)
{
    double *features = allocate(n * d, sizeof *features);
    for (int64_t k = 0; k < n; k++) {
        const int64_t like = splitmix_next(random) % 4 || !k ? k : (int64_t)(splitmix_next(random)
                                                                            % (uint64_t)k);
        const int zero = splitmix_next(random) % 16 == 0;
        for (int64_t j = 0; j < d; j++)
            features[k * d + j] = zero ? 0.0 : like < k ? features[like * d + j]
                                                        : normalish(random);
    }
    return features;
}

/* Prior variance 4; allocates exactly the memory that the header requires. */
static void make(arms *a, const double *features, int64_t n, int64_t d)
{
    a->posterior = (pb_gaussian){.n_arms = n, .n_features = d, .features = features,
                                 .means = allocate(n, sizeof(double)),
                                 .variances = allocate(n, sizeof(double)),
                                 .spread = allocate(d * d, sizeof(double)),
                                 .weights = allocate(d, sizeof(double)),
                                 .memory = allocate(2 * d, sizeof(double))};
    a->norms = allocate(n, sizeof(double));
    for (int64_t k = 0; k < n; k++) {
        a->norms[k] = a->posterior.means[k] = 0.0;
        for (int64_t j = 0; j < d; j++)
            a->norms[k] += features[k * d + j] * features[k * d + j];
        a->posterior.variances[k] = 4.0 * a->norms[k];
    }
    for (int64_t i = 0; i < d * d; i++)
        a->posterior.spread[i] = i % (d + 1) ? 0.0 : 2.0;
    for (int64_t j = 0; j < d; j++)
        a->posterior.weights[j] = 0.0;
    a->lazy = (pb_gaussian_lazy){.gaussian = &a->posterior, .norms = a->norms,
                                 .prior_variance = 4.0,
                                 .memory = allocate(pb_gaussian_lazy_size(n, d), sizeof(double)),
                                 .made = allocate(n, sizeof(int64_t))};
}

static void discard(arms *a)
{
    free(a->posterior.means);
    free(a->posterior.variances);
    free(a->posterior.spread);
    free(a->posterior.weights);
    free(a->posterior.memory);
    free(a->norms);
    free(a->lazy.memory);
    free(a->lazy.made);
}

static int64_t first_largest(const pb_gaussian *g, double factor)
{
    int64_t best = 0;
    double most = -INFINITY;
    for (int64_t k = 0; k < g->n_arms; k++) {
        const double score = g->means[k] + factor * sqrt(g->variances[k]);
        best = score > most ? k : best;
        most = fmax(score, most);
    }
    return best;
}

/* Updating few arms per reward, with restarts in between, chooses as updating all arms does. */
static void few_looks_are_as_good_as_all(void)
{
    uint64_t random = 1;
    for (int run = 0; run < 120; run++) {
        const int64_t n = 1 + (int64_t)(splitmix_next(&random) % (run % 3 ? 20 : 400));
        const int64_t d = 1 + (int64_t)(splitmix_next(&random) % 9);
        const double noise = run % 5 ? 0.25 : 1e-8, size = run % 7 ? 1.0 : 1e6;
        double *features = some_features(n, d, &random);
        arms few, all, plain;
        make(&few, features, n, d);
        make(&all, features, n, d);
        make(&plain, features, n, d);
        pb_gaussian_lazy_begin(&few.lazy, 0);
        pb_gaussian_lazy_begin(&all.lazy, 0);
        for (int64_t t = 0; t < 80; t++) {
            const double factor = run % 4 ? sqrt(2.0 * log(2.0 + (double)t))
                                          : 3.0 * splitmix_double(&random);
            const int64_t arm = pb_gaussian_lazy_largest(&few.lazy, factor);
            pb_gaussian_lazy_refresh_all(&all.lazy);
            assert(arm == first_largest(&all.posterior, factor));
            for (int64_t k = 0; k < n; k++) {
                assert(few.lazy.made[k] < t || few.posterior.means[k] == all.posterior.means[k]);
                assert(few.lazy.made[k] < t
                       || few.posterior.variances[k] == all.posterior.variances[k]);
                if (run % 5 && run % 7) {
                    assert(close_to(all.posterior.means[k], plain.posterior.means[k], 1e-9));
                    assert(close_to(all.posterior.variances[k], plain.posterior.variances[k],
                                    1e-10));
                }
            }
            const int64_t pulled = t % 10 ? arm : (int64_t)(splitmix_next(&random) % (uint64_t)n);
            const double reward = size * normalish(&random);
            pb_gaussian_lazy_update(&few.lazy, pulled, reward, noise);
            pb_gaussian_lazy_update(&all.lazy, pulled, reward, noise);
            pb_gaussian_update(&plain.posterior, pulled, reward, noise);
            if (t % 31 == 17) {  /* as if restored from a state: all arms are up to date */
                pb_gaussian_lazy_refresh_all(&few.lazy);
                pb_gaussian_lazy_begin(&few.lazy, t + 1);
            }
        }
        discard(&few);
        discard(&all);
        discard(&plain);
        free(features);
    }
}

static void most_arms_are_left_alone(void)
{
    enum { n = 5000, d = 5 };
    uint64_t random = 2;
    double *features = some_features(n, d, &random);
    int64_t looked = 0;
    arms a;
    make(&a, features, n, d);
    pb_gaussian_lazy_begin(&a.lazy, 0);
    for (int64_t t = 0; t < 300; t++) {
        const int64_t arm = pb_gaussian_lazy_largest(&a.lazy, 5.0);
        for (int64_t k = 0; t >= 100 && k < n; k++)
            looked += a.lazy.made[k] == t;
        pb_gaussian_lazy_update(&a.lazy, arm, features[arm * d] + 0.3 * normalish(&random), 0.09);
    }
    assert(looked < 200 * n / 50);
    discard(&a);
    free(features);
}

/* Numbers that overflow still give a valid arm. */
static void rewards_may_be_huge(void)
{
    enum { n = 200, d = 3 };
    uint64_t random = 3;
    double *features = some_features(n, d, &random);
    arms a;
    make(&a, features, n, d);
    pb_gaussian_lazy_begin(&a.lazy, 0);
    for (int64_t t = 0; t < 40; t++) {
        const int64_t arm = pb_gaussian_lazy_largest(&a.lazy, t % 2 ? 1e308 : 1.0);
        assert(0 <= arm && arm < n);
        pb_gaussian_lazy_update(&a.lazy, arm, t % 3 ? 1.7e308 : -1.7e308, 1e-300);
    }
    discard(&a);
    free(features);
}

int main(void)
{
    few_looks_are_as_good_as_all();
    most_arms_are_left_alone();
    rewards_may_be_huge();
    return 0;
}
