#include "../../_shared/c/check.h"

#include "pybandit/policies/correlated/gaussian.h"
#include "pybandit/policies/correlated/gaussian_rows.h"

enum { K = 13 };

static double normalish(uint64_t *random)
{
    double sum = -6.0;
    for (int i = 0; i < 12; i++)
        sum += splitmix_double(random);
    return sum;
}

/* Allocates exactly the memory that the header requires. */
static pb_gaussian make(const double *features, int64_t d, int as_weights)
{
    pb_gaussian g = {K, as_weights ? d : 0, as_weights ? features : NULL,
                     allocate(K, sizeof(double)), allocate(K, sizeof(double)),
                     allocate(as_weights ? d * d : K * (K + 1) / 2, sizeof(double)),
                     allocate(d, sizeof(double)),
                     allocate(as_weights ? 2 * d : 1, sizeof(double)),
                     allocate(K, sizeof(double)), NULL, 1.0, NULL, 0, 0, -1, 0};
    double *kernel = allocate(K * K, sizeof(double));
    g.kernel = kernel;
    g.most_rows = pb_gaussian_rows_most(K, 0);
    g.rows = allocate(g.most_rows * K, sizeof(double));
    for (int64_t i = 0; i < K; i++) {
        g.means[i] = 0.0;
        for (int64_t j = 0; j <= i; j++) {
            double product = 0.0;
            for (int64_t f = 0; f < d; f++)
                product += features[i * d + f] * features[j * d + f];
            kernel[i * K + j] = kernel[j * K + i] = product;
            g.variances[i] = product;
        }
    }
    for (int64_t i = 0; i < d; i++)
        g.weights[i] = 0.0;
    for (int64_t i = 0; as_weights && i < d * d; i++)
        g.spread[i] = i % (d + 1) ? 0.0 : 1.0;
    return g;
}

static void discard(pb_gaussian *g)
{
    free(g->means);
    free(g->variances);
    free(g->spread);
    free(g->weights);
    free(g->memory);
    free(g->deviations);
    free((double *)g->kernel);
    free(g->rows);
}

/*
 * Both forms (arms and weights) give the same posterior. While only one arm is pulled, it equals
 * the formula for one arm.
 */
static void forms_agree(void)
{
    uint64_t random = 1;
    for (int64_t d = 1; d <= 9; d++) {
        double *features = allocate(K * d, sizeof *features), values[K], z[9] = {0.0};
        for (int64_t i = 0; i < K * d; i++)
            features[i] = normalish(&random);
        for (int64_t i = 0; i < d; i++)  /* the last two arms are equal */
            features[(K - 1) * d + i] = features[(K - 2) * d + i];
        pb_gaussian a = make(features, d, 0), b = make(features, d, 1);
        const double prior = a.variances[0], noise = d % 2 ? 0.09 : 1e-4;
        double sum = 0.0;
        for (int64_t n = 0; n < 500; n++) {
            const int64_t arm = n < 20 ? 0 : (int64_t)(splitmix_next(&random) % K);
            const double reward = normalish(&random);
            pb_gaussian_update(&a, arm, reward, noise);
            pb_gaussian_update(&b, arm, reward, noise);
            sum += reward;
            if (n < 20) {
                const double m = (double)(n + 1), precision = m / noise + 1.0 / prior;
                assert(close_to(b.means[0], sum / noise / precision, 1e-9));
                assert(close_to(b.variances[0], 1.0 / precision, 1e-12));
            }
            pb_gaussian_draw(&b, z, 1.0, values);
            for (int64_t k = 0; k < K; k++) {
                assert(a.variances[k] >= 0.0 && b.variances[k] >= 0.0);
                assert(a.deviations[k] == sqrt(a.variances[k]));
                assert(b.deviations[k] == sqrt(b.variances[k]));
                assert(close_to(a.variances[k], b.variances[k], 1e-11));
                assert(close_to(a.means[k], b.means[k], 1e-7));
                assert(close_to(values[k], b.means[k], 1e-7));
            }
            for (int64_t j = 0; j < d; j++)
                assert(b.spread[j * (d + 1)] > 0.0);
            assert(a.means[K - 1] == a.means[K - 2] && b.means[K - 1] == b.means[K - 2]);
            assert(a.variances[K - 1] == a.variances[K - 2]);
            assert(b.variances[K - 1] == b.variances[K - 2]);
        }
        discard(&a);
        discard(&b);
        free(features);
    }
}

/* Summed over the d standard basis vectors z, the squares of (draw - mean) / scale add up to the variance. */
static void draws_have_the_posteriors_variances(void)
{
    uint64_t random = 2;
    const int64_t d = 6;
    double features[K * 6], squares[K] = {0.0}, values[K], z[6];
    for (int64_t i = 0; i < K * d; i++)
        features[i] = normalish(&random);
    pb_gaussian g = make(features, d, 1);
    for (int64_t n = 0; n < 40; n++)
        pb_gaussian_update(&g, n % K, normalish(&random), 0.25);
    for (int64_t j = 0; j < d; j++) {
        for (int64_t i = 0; i < d; i++)
            z[i] = i == j;
        pb_gaussian_draw(&g, z, 2.0, values);
        for (int64_t k = 0; k < K; k++)
            squares[k] += (values[k] - g.means[k]) * (values[k] - g.means[k]);
    }
    for (int64_t k = 0; k < K; k++)
        assert(close_to(squares[k], 4.0 * g.variances[k], 1e-11));
    discard(&g);
}

int main(void)
{
    forms_agree();
    draws_have_the_posteriors_variances();
    return 0;
}
