/* Bets of several estimators, annealing and paths of a rate are finite and within their memory. */
#include "fuzz.h"

#include "pybandit/montecarlo/annealing.h"
#include "pybandit/montecarlo/cir.h"
#include "pybandit/montecarlo/stakes.h"

enum { MOST_VALUES = 40, MOST_ROWS = 12 };

static void stakes(choices *c, pool *p)
{
    const int64_t n = choose(c, 0, MOST_VALUES), n_arms = choose(c, 1, 3);
    const int64_t n_bets = 4 * choose(c, 1, 3);
    double *lows = TAKE(p, n_arms, double), *highs = TAKE(p, n_arms, double);
    double *bets = TAKE(p, n_bets, double), *capital = TAKE(p, n_bets, double);
    double *units = TAKE(p, n, double), before[2] = {INFINITY, 0.0};
    pb_stake *told = TAKE(p, n, pb_stake);
    for (int64_t k = 0; k < n_arms; k++) {
        lows[k] = -choose_unit(c);
        highs[k] = 1.0 + choose_unit(c);
    }
    for (int64_t g = 0; g < n_bets; g++)
        bets[g] = choose_unit(c);
    choose_units(c, units, n);
    for (int64_t i = 0; i < n; i++) {
        const int64_t k = choose(c, 0, n_arms - 1);
        const double value = lows[k] + units[i] * (highs[k] - lows[k]);
        told[i] = (pb_stake){fmin(value, highs[k]), 100.0 * choose_unit(c), k,
                             i == 0 || choose_byte(c) & 1};
    }
    const pb_stakes s = {told, n, lows, highs, bets, n_bets};
    const double limit = (double)n_bets / choose_unit(c);
    for (int i = 1; i < 6; i++)
        for (int side = 0; side < 2; side++) {
            const double most = pb_stakes_capital(&s, i / 6.0, side, INFINITY, capital);
            HOLDS(most >= 0.0);
            HOLDS(side ? most >= before[1] * (1.0 - 1e-9) : most <= before[0] * (1.0 + 1e-9));
            if (!(fabs(most - limit) <= 1e-9 * limit))
                HOLDS((pb_stakes_capital(&s, i / 6.0, side, limit, capital) >= limit) ==
                      (most >= limit));
            before[side] = most;
        }
    for (int side = 0; side < 2; side++) {
        const double start = choose_unit(c), step = choose_unit(c);
        const double bound = pb_stakes_bound(&s, 0.0, 1.0, limit, start, step, side, capital);
        HOLDS(bound >= 0.0 && bound <= 1.0);
        if (bound != (side ? 1.0 : 0.0))
            HOLDS(pb_stakes_capital(&s, bound, side, limit, capital) >= limit);
    }
}

static void annealing(choices *c, pool *p)
{
    const int64_t n_data = choose(c, 0, MOST_ROWS), n = (n_data + 3) / 4 * 4, d = choose(c, 1, 3);
    double *columns = ZEROS(p, n * d, double), *theta = TAKE(p, d, double);
    double *margins = TAKE(p, n, double), plain = 0.0;
    uint64_t counter = choose_byte(c);
    pb_bitgen bitgen = fuzz_bitgen(&counter);
    for (int64_t j = 0; j < d; j++)
        choose_numbers(c, columns + j * n, n_data, 50.0);
    choose_numbers(c, theta, d, 9.0);
    const pb_annealing a = {n, d, columns, 0.1 + 9.0 * choose_unit(c), 0.2 + 3.0 * choose_unit(c)};
    pb_annealing_margins(&a, n_data, theta, margins);
    const double step = choose_number(c, 3.0);
    const double value = pb_annealing_log_likelihood(margins, columns, step, n);
    for (int64_t i = 0; i < n_data; i++) {
        const double m = margins[i] + step * columns[i];
        plain -= log1p(exp(-fabs(m))) - fmin(m, 0.0);
    }
    HOLDS(fabs(value - plain) <= 1e-12 * (1.0 + (double)n + fabs(plain)));
    for (int64_t j = 0; j < d; j++)  /* like draws from the prior, which are moderate */
        theta[j] = sqrt(a.prior_variance) * fuzz_normal(&bitgen);
    pb_annealing_margins(&a, n_data, theta, margins);
    int64_t n_evaluations = -1;
    const int64_t n_temperatures = choose(c, 1, 4);
    const double found = pb_annealing_run(&a, n_temperatures, theta, margins, &bitgen,
                                          &n_evaluations);
    HOLDS(isfinite(found) && found <= 1e-9 && n_evaluations >= 1);
    for (int64_t j = 0; j < d; j++)
        HOLDS(isfinite(theta[j]));
}

static void paths(choices *c)
{
    uint64_t counter = choose_byte(c);
    pb_bitgen bitgen = fuzz_bitgen(&counter);
    const pb_cir cir = {choose_unit(c), 2.0 * choose_unit(c), choose_unit(c), choose_unit(c),
                        choose_unit(c), choose(c, 1, 30), choose_unit(c), 9.0 * choose_unit(c)};
    const double drift = choose_byte(c) & 1 ? 0.0 : choose_number(c, 3.0);
    double brownian = NAN;
    const double payoff = pb_cir_path(&cir, drift, fuzz_normal, &bitgen, &brownian);
    HOLDS(payoff >= 0.0 && isfinite(payoff) && isfinite(brownian));
    HOLDS(pb_cir_weighted(&cir, drift, fuzz_normal, &bitgen) >= 0.0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    choices c = {bytes, bytes + size};
    pool p = {.n = 0};
    const int64_t kind = choose(&c, 0, 2);
    if (kind == 0)
        stakes(&c, &p);
    else if (kind == 1)
        annealing(&c, &p);
    else
        paths(&c);
    pool_free(&p);
    return 0;
}
