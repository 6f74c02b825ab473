#include "../../_shared/c/check.h"

#include <string.h>

#include "pybandit/policies/correlated/gaussian_rows.h"

enum { K = 11, FULL = 200 };

static double normalish(uint64_t *random)
{
    double sum = -6.0;
    for (int i = 0; i < 12; i++)
        sum += splitmix_double(random);
    return sum;
}

/* Returns a posterior that keeps up to most_rows rows; twice the same random prior. */
static pb_gaussian make(uint64_t seed, int64_t most_rows)
{
    double *kernel = allocate(K * K, sizeof(double)), factors[K][3];
    pb_gaussian g = {.n_arms = K, .means = allocate(K, sizeof(double)),
                     .variances = allocate(K, sizeof(double)),
                     .spread = allocate(K * (K + 1) / 2, sizeof(double)),
                     .deviations = allocate(K, sizeof(double)), .kernel = kernel,
                     .kernel_scale = 0.7, .rows = allocate(most_rows * K, sizeof(double)),
                     .most_rows = most_rows, .next_arm = -1};
    for (int64_t i = 0; i < K; i++) {
        for (int64_t f = 0; f < 3; f++)
            factors[i][f] = i == K - 1 ? factors[K - 2][f] : normalish(&seed);
        for (int64_t j = 0; j <= i; j++) {
            kernel[i * K + j] = 0.0;
            for (int64_t f = 0; f < 3; f++)
                kernel[i * K + j] += factors[i][f] * factors[j][f];
            kernel[j * K + i] = kernel[i * K + j];
        }
        g.means[i] = 0.0;
        g.variances[i] = 0.7 * kernel[i * K + i];
    }
    return g;
}

static void discard(pb_gaussian *g)
{
    void *all[] = {g->means, g->variances, g->spread, g->deviations, (double *)g->kernel, g->rows};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

/* Plain updates of the whole covariance give the same bits, however many rows are kept. */
static void rows_do_not_change_the_results(void)
{
    for (int64_t most = 1; most <= FULL; most += most < 12 ? 1 : 94) {
        uint64_t random = 3;
        const double noise = most % 2 ? 0.04 : 1e-6;
        pb_gaussian g = make(5, most);
        double S[K][K], means[K] = {0.0};
        for (int64_t i = 0; i < K; i++)
            for (int64_t j = 0; j < K; j++)
                S[i][j] = 0.7 * g.kernel[i * K + j];
        for (int64_t t = 0; t < 150; t++) {
            const int64_t arm = (int64_t)(splitmix_next(&random) % K);
            const double reward = normalish(&random), root = sqrt(S[arm][arm] + noise);
            const double change = (reward - means[arm]) / root;
            double v[K], least = INFINITY;
            for (int64_t j = 0; j < K; j++) {
                v[j] = S[arm][j] / root;
                means[j] += v[j] * change;
                least = S[j][j] - v[j] * v[j] < least ? S[j][j] - v[j] * v[j] : least;
            }
            for (int64_t i = 0; i < K; i++)
                for (int64_t j = 0; j < K; j++)
                    S[i][j] -= v[i] * v[j];
            for (int64_t i = 0; i < K; i++)
                S[i][i] = S[i][i] > 0.0 ? S[i][i] : 0.0;
            if (t % 3 == 0)  /* the update may, but need not, find its row computed */
                assert(pb_gaussian_rows_next(&g, arm, noise) == least);
            if (t % 5 == 0)
                pb_gaussian_rows_next(&g, (arm + 1) % K, noise);
            pb_gaussian_update(&g, arm, reward, noise);
            assert(g.n_rows < g.most_rows && g.next_arm == -1);
            for (int64_t i = 0; i < K; i++) {
                assert(g.means[i] == means[i] && g.variances[i] == S[i][i]);
                assert(g.deviations[i] == sqrt(S[i][i]));
            }
            assert(g.means[K - 1] == g.means[K - 2] && g.variances[K - 1] == g.variances[K - 2]);
        }
        assert(g.is_folded == (most < 150));
        discard(&g);
    }
}

/* With an indefinite matrix, a reward leaves a variance below 0. */
static void least_variance_shows_an_invalid_matrix(void)
{
    double kernel[9] = {1.0, 0.9, -0.9, 0.9, 1.0, 0.9, -0.9, 0.9, 1.0};
    double means[3] = {0.0}, variances[3] = {1.0, 1.0, 1.0}, spread[6], rows[12];
    pb_gaussian g = {.n_arms = 3, .means = means, .variances = variances, .spread = spread,
                     .kernel = kernel, .kernel_scale = 1.0, .rows = rows, .most_rows = 4,
                     .next_arm = -1};
    assert(pb_gaussian_rows_next(&g, 0, 0.01) > 0.0);
    pb_gaussian_update(&g, 0, 0.5, 0.01);
    assert(pb_gaussian_rows_next(&g, 1, 0.01) < -1.0);
}

static void number_of_rows_is_at_least_four(void)
{
    assert(pb_gaussian_rows_most(1, 0) == 4 && pb_gaussian_rows_most(1, 1) == 4);
    assert(pb_gaussian_rows_most(1000, 0) == 500 && pb_gaussian_rows_most(1000, 1) == 64);
    for (int64_t n = 1; n < 2000; n++)
        assert(pb_gaussian_rows_most(n, 1) <= pb_gaussian_rows_most(n, 0));
}

int main(void)
{
    rows_do_not_change_the_results();
    least_variance_shows_an_invalid_matrix();
    number_of_rows_is_at_least_four();
    return 0;
}
