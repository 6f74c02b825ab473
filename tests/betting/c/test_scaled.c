#include "../../_shared/c/check.h"

#include "scaled_bets.h"

enum { N = 400 };

/* Returns the log of the total wealth, computed value by value from the definition. */
static double by_definition(const pb_scaled *bets, int side, double mean, const double *values,
                            int64_t n)
{
    double total = 0.0;
    for (int64_t g = 0; g < bets->n_bets; g++) {
        double log_wealth = log(bets->weight[g]), sum = 0.0, all = 0.0, square = 0.0;
        for (int64_t i = 0; i < n; i++) {
            const double t = (double)(i + 1), x = side ? 1.0 - values[i] : values[i];
            const double left = bets->size - bets->drained * (double)i;
            const double m = (bets->size * mean - bets->drained * sum) / left;
            const double unit = bets->size / left / sqrt((0.5 + square) / (t + 1.0));
            const double fall = sqrt(bets->level / (t * log(t + 1.0)));
            const double wanted = unit * (bets->fixed[g] + bets->falling[g] * fall);
            const double factor = 1.0 + fmin(wanted, bets->cap[g] / m) * (x - m);
            assert(factor >= 1.0 - bets->cap[g] - 1e-12);
            log_wealth += log(factor);
            sum += x;
            all += values[i];
            const double deviation = values[i] - (0.5 + all) / (t + 1.0);
            square += deviation * deviation;
        }
        total += exp(log_wealth);
    }
    return log(total);
}

static void wealth_is_the_product(double population, int64_t n_bets)
{
    uint64_t seed = 7;
    double values[N], whole[N], parts[N];
    pb_scaled_value prepared[N], again[N];
    pb_scaled bets = scaled_bets(n_bets);
    if (population < INFINITY) {
        bets.size = population;
        bets.drained = 1.0;
    }
    for (int i = 0; i < N; i++)
        values[i] = splitmix_double(&seed);
    pb_scaled_moments moments = {0, 0.0, 0.0}, in_parts = {0, 0.0, 0.0};
    pb_scaled_prepare(&bets, &moments, values, N, prepared);
    pb_scaled_prepare(&bets, &in_parts, values, 150, again);
    pb_scaled_prepare(&bets, &in_parts, values + 150, N - 150, again + 150);
    assert(memcmp(prepared, again, sizeof prepared) == 0 && moments.count == N);
    for (int side = 0; side < 2; side++) {
        const double mean = side ? 0.6 : 0.45;
        pb_scaled_wealth wealth, pieces;
        pb_scaled_begin(&bets, &wealth);
        pb_scaled_begin(&bets, &pieces);
        pb_scaled_play(&bets, side, mean, prepared, 0, N, 0.0, &wealth, whole);
        double sum = 0.0;
        for (int i = 0; i < N; i += 50) {
            pb_scaled_play(&bets, side, mean, prepared, i, i + 50, sum, &pieces, parts + i);
            for (int j = i; j < i + 50; j++)
                sum += side ? 1.0 - values[j] : values[j];
        }
        assert(memcmp(whole, parts, sizeof whole) == 0);
        for (int n = 1; n <= N; n += 57)
            assert(close_to(whole[n - 1], by_definition(&bets, side, mean, values, n), 1e-9));
    }
}

/* Wealth far outside the range of doubles keeps its logarithm. */
static void wealth_never_overflows(void)
{
    double values[N], up[N], down[N];
    pb_scaled_value prepared[N];
    const pb_scaled bets = scaled_bets(16);
    for (int i = 0; i < N; i++)
        values[i] = 1.0;
    pb_scaled_moments moments = {0, 0.0, 0.0};
    pb_scaled_prepare(&bets, &moments, values, N, prepared);
    pb_scaled_wealth wealth;
    pb_scaled_begin(&bets, &wealth);
    pb_scaled_play(&bets, 0, 1e-6, prepared, 0, N, 0.0, &wealth, up);
    pb_scaled_begin(&bets, &wealth);
    pb_scaled_play(&bets, 1, 0.9, prepared, 0, N, 0.0, &wealth, down);
    assert(isfinite(up[N - 1]) && up[N - 1] > 800.0);
    assert(isfinite(down[N - 1]) && down[N - 1] < 0.0);
}

int main(void)
{
    for (int64_t n_bets = 1; n_bets <= PB_SCALED_BETS; n_bets += 5) {
        wealth_is_the_product(INFINITY, n_bets);
        wealth_is_the_product(N + 100.0, n_bets);
    }
    wealth_never_overflows();
    return 0;
}
