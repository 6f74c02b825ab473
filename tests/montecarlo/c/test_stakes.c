#include "../../_shared/c/check.h"

#include "pybandit/montecarlo/stakes.h"

static const double LOWS[] = {0.0, -1.0}, HIGHS[] = {1.0, 3.0};
static const double BETS[] = {0.8, 0.4, 0.2, 0.1};

/* Returns n values of two estimators with mean 1/4, in batches of two. */
static pb_stake *coins(int64_t n, uint64_t seed)
{
    pb_stake *stakes = allocate(n, sizeof *stakes);
    const pb_bitgen source = splitmix(&seed);
    for (int64_t j = 0; j < n; j++) {
        const double u = source.next_double(source.state);
        stakes[j] = j % 3 ? (pb_stake){u < 0.25, 4.0 + (double)(j % 5), 0, j % 2 == 0}
                          : (pb_stake){4.0 * u - 1.75, 1.0, 1, j % 2 == 0};
        if (stakes[j].value > HIGHS[stakes[j].estimator])
            stakes[j].value = HIGHS[stakes[j].estimator];
        if (stakes[j].value < LOWS[stakes[j].estimator])
            stakes[j].value = LOWS[stakes[j].estimator];
    }
    return stakes;
}

static pb_stakes told(const pb_stake *stakes, int64_t n)
{
    return (pb_stakes){stakes, n, LOWS, HIGHS, BETS, 4};
}

static void one_value_by_hand(void)
{
    double *capital = allocate(4, sizeof *capital);
    const pb_stake one = {1.0, 2.0, 0, 1};
    const pb_stakes stakes = told(&one, 1);
    /* bets 1.6, .8, .4, .2, below their cap .9 / .5; the value gains .5 */
    assert(close_to(pb_stakes_capital(&stakes, 0.5, 0, INFINITY, capital), 5.5, 1e-15));
    /* the value loses .5, so the wealth was largest before it */
    assert(pb_stakes_capital(&stakes, 0.5, 1, INFINITY, capital) == 4.0);
    assert(close_to(capital[0], 0.2, 1e-15));
    free(capital);
}

static void capital_is_monotone_and_a_limit_only_stops_it(void)
{
    const int64_t n = 300;
    double *capital = allocate(4, sizeof *capital);
    pb_stake *stakes = coins(n, 1);
    const pb_stakes s = told(stakes, n);
    for (int side = 0; side < 2; side++) {
        double before = side ? 0.0 : INFINITY;
        for (double m = 0.01; m < 1.0; m += 0.01) {
            const double most = pb_stakes_capital(&s, m, side, INFINITY, capital);
            assert(side ? most >= before : most <= before);
            assert((most >= 50.0) == (pb_stakes_capital(&s, m, side, 50.0, capital) >= 50.0));
            before = most;
        }
    }
    free(stakes);
    free(capital);
}

static void the_order_within_a_batch_does_not_count(void)
{
    const int64_t n = 40;
    double *capital = allocate(4, sizeof *capital);
    pb_stake *stakes = coins(n, 2);
    const pb_stakes s = told(stakes, n);
    const double before = pb_stakes_capital(&s, 0.4, 1, INFINITY, capital);
    for (int64_t j = 0; j + 1 < n; j += 2) {
        const pb_stake first = stakes[j];
        stakes[j] = stakes[j + 1];
        stakes[j + 1] = first;
        stakes[j].begins = 1;
        stakes[j + 1].begins = 0;
    }
    assert(close_to(pb_stakes_capital(&s, 0.4, 1, INFINITY, capital), before, 1e-12 * before));
    free(stakes);
    free(capital);
}

static void a_bound_is_where_the_limit_is_reached(void)
{
    const int64_t n = 400;
    double *capital = allocate(4, sizeof *capital);
    pb_stake *stakes = coins(n, 3);
    const pb_stakes s = told(stakes, n);
    for (double start = 0.05; start < 1.0; start += 0.3) {
        for (double step = 0.004; step < 1.0; step *= 8.0) {
            const double low = pb_stakes_bound(&s, 0.0, 1.0, 160.0, start, step, 0, capital);
            const double high = pb_stakes_bound(&s, 0.0, 1.0, 160.0, start, step, 1, capital);
            const double near = step / 64.0;
            assert(0.0 < low && low < 0.25 && 0.25 < high && high < 1.0);
            assert(pb_stakes_capital(&s, low, 0, INFINITY, capital) >= 160.0);
            assert(pb_stakes_capital(&s, low + near, 0, INFINITY, capital) < 160.0);
            assert(pb_stakes_capital(&s, high, 1, INFINITY, capital) >= 160.0);
            assert(pb_stakes_capital(&s, high - near, 1, INFINITY, capital) < 160.0);
        }
    }
    assert(pb_stakes_bound(&s, 0.0, 1.0, 1e300, 0.5, 0.1, 0, capital) == 0.0);
    assert(pb_stakes_bound(&s, 0.0, 1.0, 1e300, 0.5, 0.1, 1, capital) == 1.0);
    free(stakes);
    free(capital);
}

static void the_mean_is_missed_at_any_time_as_seldom_as_promised(void)
{
    const int64_t n = 200, runs = 2000;
    double *capital = allocate(4, sizeof *capital);
    int64_t missed = 0;
    for (int64_t run = 0; run < runs; run++) {
        pb_stake *stakes = allocate(n, sizeof *stakes);
        uint64_t seed = (uint64_t)run;
        const pb_bitgen source = splitmix(&seed);
        for (int64_t j = 0; j < n; j++)
            stakes[j] = (pb_stake){source.next_double(source.state) < 0.1, 8.0, 0, 1};
        const pb_stakes s = told(stakes, n);
        missed += pb_stakes_capital(&s, 0.1, 0, 80.0, capital) >= 80.0;
        missed += pb_stakes_capital(&s, 0.1, 1, 80.0, capital) >= 80.0;
        free(stakes);
    }
    assert((double)missed < 0.1 * (double)runs);
    assert(missed > 0);
    free(capital);
}

int main(void)
{
    one_value_by_hand();
    capital_is_monotone_and_a_limit_only_stops_it();
    the_order_within_a_batch_does_not_count();
    a_bound_is_where_the_limit_is_reached();
    the_mean_is_missed_at_any_time_as_seldom_as_promised();
    return 0;
}
