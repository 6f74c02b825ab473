/* Bets that separate two arms: the minimum of the wealth is correct, and shortcuts are exact. */
#include "fuzz.h"

#include "pybandit/policies/stopping/wagers.h"

enum { MOST_ARMS = 4, MOST_REWARDS = 24 };

static void two(const pb_wagers_arm *a, const pb_wagers_arm *b, double epsilon, double level)
{
    double slope;
    const double least = pb_wagers_least(a, b, epsilon, NAN), size = 1.0 + fabs(least);
    HOLDS(isfinite(least));
    double above = INFINITY, below = -INFINITY;
    for (int i = 0; i <= 4; i++) {
        const double m = (1.0 - epsilon) * i / 4.0, up = pb_wagers_above(a, m, &slope);
        HOLDS(isfinite(up) && slope <= 0.0 && up <= above + 1e-9 * (1.0 + fabs(up)));
        const double down = pb_wagers_below(b, m + epsilon, &slope);
        HOLDS(isfinite(down) && slope >= 0.0 && down >= below - 1e-9 * (1.0 + fabs(down)));
        HOLDS(up + down >= least - 1e-9 * (size + fabs(up) + fabs(down)));
        above = up;
        below = down;
    }
    /* bets against a mean at the end of the range cannot gain */
    HOLDS(pb_wagers_above(a, 1.0, &slope) <= 1e-9 && pb_wagers_below(b, 0.0, &slope) <= 1e-9);
    if (fabs(least - level) > 1e-9 * size) {
        const double other = pb_wagers_least(a, b, epsilon, level);
        HOLDS((other > level) == (least > level) && other <= fmax(least, level) + 1e-9 * size);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    choices c = {bytes, bytes + size};
    pool p = {.n = 0};
    const int64_t n = choose(&c, 1, MOST_ARMS);
    const double epsilon = choose_byte(&c) & 1 ? 0.0 : choose_unit(&c), level = choose_byte(&c) / 8.0;
    double *gains = ZEROS(&p, n * PB_GAINS, double), *sums = ZEROS(&p, n, double);
    int64_t *pulls = ZEROS(&p, n, int64_t);
    pb_wagers_arm arms[MOST_ARMS];
    for (int64_t arm = 0; arm < n; arm++) {
        double rewards[MOST_REWARDS];
        const int64_t times = choose_byte(&c) < 32 ? 100 : 1;
        pulls[arm] = choose(&c, 0, MOST_REWARDS);
        choose_units(&c, rewards, pulls[arm]);
        double *const mine = gains + arm * PB_GAINS;
        for (int64_t i = 0; i < pulls[arm]; i++) {
            pb_wagers_add(mine, rewards[i]);
            sums[arm] += rewards[i];
        }
        /* the state after the same rewards `times` times */
        for (int j = 0; j < PB_GAINS; j++)
            mine[j] *= (double)times;
        sums[arm] *= (double)times;
        pulls[arm] *= times;
        arms[arm] = (pb_wagers_arm){mine, (double)pulls[arm], sums[arm] / (double)pulls[arm]};
    }
    const int64_t best = choose(&c, 0, n - 1), before = choose(&c, -1, n - 1);
    const int64_t doubt = pb_wagers_doubt(gains, pulls, sums, n, epsilon, level, best, before);
    HOLDS(doubt >= -1 && doubt < n && doubt != best);
    for (int64_t arm = 0; arm < n; arm++) {
        const int told = pb_wagers_tell(gains, pulls, sums, epsilon, level, best, arm);
        if (arm == best)
            continue;
        HOLDS((doubt != -1 || told) && (arm != doubt || !told));
        HOLDS(doubt == before || arm > doubt || told == (arm != doubt));
        if (pulls[arm] && pulls[best])
            two(&arms[best], &arms[arm], epsilon, level);
        else
            HOLDS(!told);
    }
    pool_free(&p);
    return 0;
}
