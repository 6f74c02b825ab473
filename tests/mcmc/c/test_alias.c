#include "../../_shared/c/check.h"

#include "pybandit/mcmc/alias.h"

/* Checks each index's probability, computed from the table, against its weight. */
static void probabilities(const double *weights, int64_t stride, int64_t n)
{
    pb_alias *table = allocate(n, sizeof *table);
    int64_t *work = allocate(n, sizeof *work);
    double *found = allocate(n, sizeof *found), total = 0.0;
    for (int64_t i = 0; i < n; i++) {
        found[i] = 0.0;
        total += weights[i * stride];
    }
    assert(pb_alias_build(weights, stride, n, table, work) == total);
    for (int64_t i = 0; i < n; i++) {
        assert(table[i].share >= 0.0 && table[i].share <= 1.0);
        assert(table[i].other >= 0 && table[i].other < n);
        found[i] += table[i].share / (double)n;
        found[table[i].other] += (1.0 - table[i].share) / (double)n;
    }
    for (int64_t i = 0; i < n; i++)
        assert(close_to(found[i], weights[i * stride] / total, 1e-14));
    free(table);
    free(work);
    free(found);
}

static void many_weights(void)
{
    uint64_t random = 1;
    for (int64_t n = 1; n < 200; n += 7) {
        double *weights = allocate(3 * n, sizeof *weights);
        for (int64_t i = 0; i < 3 * n; i++) {
            const double u = splitmix_double(&random);
            weights[i] = u * u * u * u;
        }
        weights[0] += 1e-300;
        probabilities(weights, 1, n);
        probabilities(weights, 3, n);
        free(weights);
    }
    const double equal[] = {2.0, 2.0, 2.0, 2.0}, one[] = {0.0, 5.0, 0.0}, tiny[] = {1e-300, 1.0};
    probabilities(equal, 1, 4);
    probabilities(one, 1, 3);
    probabilities(tiny, 1, 2);
}

static void nothing_to_draw(void)
{
    const double none[] = {0.0, 0.0};
    pb_alias table[2] = {{0.25, 1}, {0.5, 0}};
    int64_t work[2];
    assert(pb_alias_build(none, 1, 2, table, work) == 0.0);
    assert(table[0].share == 0.25 && table[1].other == 0);
}

static void draws(void)
{
    const double weights[] = {1.0, 0.0, 2.0, 5.0};
    uint64_t counter = 3;
    pb_bitgen bitgen = splitmix(&counter);
    pb_alias table[4];
    int64_t work[4], counts[4] = {0};
    const int64_t n = 100000;
    pb_alias_build(weights, 1, 4, table, work);
    for (int64_t i = 0; i < n; i++)
        counts[pb_alias_draw(table, 4, &bitgen)]++;
    assert(counts[1] == 0);
    for (int i = 0; i < 4; i++)
        assert(binomial_fits(counts[i], n, weights[i] / 8.0) || i == 1);
}

int main(void)
{
    many_weights();
    nothing_to_draw();
    draws();
    return 0;
}
