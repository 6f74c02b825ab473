#include "../../_shared/c/check.h"

#include "pybandit/policies/batch/normal_means.h"

enum { N = 400 };

typedef struct {
    pb_normal_means fit;
    int64_t pulls[N];
    double sums[N], deviations[N], prior[N], truth[N];
} problem;

static double normal(uint64_t *random)
{
    double sum = -6.0;
    for (int i = 0; i < 12; i++)
        sum += splitmix_double(random);
    return sum;
}

/* Draws means (standard deviation `spread`) and 1 to `most` rewards per arm (`noise`). */
static problem *problem_new(uint64_t *random, double spread, double noise, int64_t most)
{
    problem *const p = allocate(1, sizeof *p);
    memset(p, 0, sizeof *p);
    p->fit = (pb_normal_means){.n = N};
    p->fit.means = allocate(N, sizeof(double));
    p->fit.variances = allocate(N, sizeof(double));
    p->fit.keys = allocate(N, sizeof(double));
    p->fit.line = allocate(N, sizeof(int64_t));
    p->fit.ranked = allocate(2 * N, sizeof(pb_ranked));
    for (int64_t i = 0; i < N; i++) {
        p->prior[i] = normal(random);
        p->truth[i] = 5.0 + spread * p->prior[i];
        const int64_t n = 1 + (int64_t)(splitmix_next(random) % (uint64_t)most);
        for (int64_t j = 0; j < n; j++) {
            const double reward = p->truth[i] + noise * normal(random);
            const double before = j ? p->sums[i] / (double)j : reward;
            p->sums[i] += reward;
            p->pulls[i]++;
            p->deviations[i] += (reward - before) * (reward - p->sums[i] / (double)(j + 1));
        }
    }
    return p;
}

static void problem_free(problem *p)
{
    free(p->fit.means);
    free(p->fit.variances);
    free(p->fit.keys);
    free(p->fit.line);
    free(p->fit.ranked);
    free(p);
}

static double fitted(problem *p)
{
    const pb_seen seen = {p->pulls, p->sums, p->deviations};
    return pb_normal_means_fit(&p->fit, &seen);
}

static double squared_error(const problem *p, int as_means)
{
    double sum = 0.0;
    for (int64_t i = 0; i < N; i++) {
        const double mean = as_means ? p->sums[i] / (double)p->pulls[i] : p->fit.means[i];
        sum += (mean - p->truth[i]) * (mean - p->truth[i]);
    }
    return sum / N;
}

static void the_noise_is_found_and_shrinking_helps(void)
{
    uint64_t random = 3;
    for (int run = 0; run < 20; run++) {
        const double noise = 0.3 + 0.05 * run;
        problem *const p = problem_new(&random, 1.0, noise, 5);
        assert(fabs(fitted(p) / (noise * noise) - 1.0) < 0.25);
        assert(squared_error(p, 0) < 1.02 * squared_error(p, 1));
        for (int64_t i = 0; i < N; i++)
            assert(p->fit.variances[i] > 0.0);
        problem_free(p);
    }
}

static void what_was_known_before_is_used(void)
{
    uint64_t random = 5;
    problem *const p = problem_new(&random, 1.0, 1.0, 1);
    fitted(p);
    const double without = squared_error(p, 0);
    p->fit.prior = p->prior;
    fitted(p);
    assert(squared_error(p, 0) < 0.5 * without);
    problem_free(p);
}

/* With one reward per arm, the noise is assumed: about half of the spread, or the given value. */
static void a_guess_of_the_noise(void)
{
    uint64_t random = 9;
    problem *const p = problem_new(&random, 1.0, 0.2, 1);
    const double alone = fitted(p);
    assert(alone > 0.3 && alone < 0.8);
    p->fit.noise = 0.2;
    assert(fabs(fitted(p) - 0.04) < 0.02);
    problem_free(p);
}

static void odd_rewards(void)
{
    const double values[] = {0.0, 1e308, -1e308, 1e-300};
    for (int kind = 0; kind < 4; kind++) {
        uint64_t random = 1;
        problem *const p = problem_new(&random, 0.0, 0.0, 1);
        for (int64_t i = 0; i < N; i++)
            p->sums[i] = kind == 3 && i % 2 ? -values[kind] : values[kind];
        assert(fitted(p) > 0.0);
        for (int64_t i = 0; i < N; i++)
            p->pulls[i] = 0;
        assert(fitted(p) == 1.0 && p->fit.means[7] == 0.0);
        problem_free(p);
    }
}

int main(void)
{
    the_noise_is_found_and_shrinking_helps();
    what_was_known_before_is_used();
    a_guess_of_the_noise();
    odd_rewards();
    return 0;
}
