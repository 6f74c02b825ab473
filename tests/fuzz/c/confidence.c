/* Bounds of confidence sequences agree, and do not depend on the sizes of blocks of values. */
#include "fuzz.h"

#include "pybandit/betting/confidence.h"

/*
 * Betting rejects about a hundred candidates per value, and replays up to 128 values for each, so
 * it gets at most MOST_BET values. At a tiny level it rejects few candidates, and gets up to
 * MOST_BLOCKS.
 */
enum { MOST = 48, MOST_BET = 10, MOST_BLOCKS = 280 };

static void choose_scaled(choices *c, pb_scaled *bets)
{
    *bets = (pb_scaled){.n_bets = choose(c, 1, PB_SCALED_BETS)};
    for (int64_t g = 0; g < bets->n_bets; g++) {
        double *amplitude = g < 4 && choose(c, 0, 1) ? bets->falling : bets->fixed;
        amplitude[g] = ldexp(choose_unit(c), (int)choose(c, 0, 12) - 10);
        bets->cap[g] = 0.9 * choose_unit(c);
        bets->weight[g] = 1.0 / (double)bets->n_bets;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    choices c = {bytes, bytes + size};
    pool p = {.n = 0};
    const pb_confidence_method method = (pb_confidence_method)choose(&c, 0, 3);
    const int64_t n_bets = choose(&c, 1, choose_byte(&c) < 8 ? PB_CONFIDENCE_BETS : 8);
    const int64_t flags = choose(&c, 0, 255);
    const double population = flags & 1 ? INFINITY : (double)choose(&c, 1, 400);
    const int is_long = flags & 1 && flags & 16;
    const int64_t room = is_long ? MOST_BLOCKS : method == PB_CONFIDENCE_BETTING ? MOST_BET : MOST;
    const int64_t n = choose(&c, 0, population < (double)room ? (int64_t)population : room);
    double *bets = TAKE(&p, n_bets, double), *values = TAKE(&p, n, double);
    for (int64_t g = 0; g < n_bets; g++)
        bets[g] = 0.99 * (double)(g + 1) / (double)(n_bets + 1) *
                  (method == PB_CONFIDENCE_BERNSTEIN || flags & 2 ? 1.0 : 5.0);
    uint64_t counter = choose_bits(&c);
    const double mean = choose_unit(&c);
    const double alpha = ldexp(choose_unit(&c), is_long ? -700 : 0);
    const int bounded = method != PB_CONFIDENCE_ASYMPTOTIC || flags & 4;
    for (int64_t i = 0; i < n; i++) {
        values[i] = flags & 8 ? (fuzz_double(&counter) < mean) : mean * fuzz_double(&counter);
        if (!bounded)
            values[i] = values[i] * 1e3 - 500.0;
    }
    pb_scaled scaled;
    choose_scaled(&c, &scaled);
    pb_scaled_value *one = TAKE(&p, n, pb_scaled_value), *two = TAKE(&p, n, pb_scaled_value);
    pb_confidence whole, parts;
    memset(&whole, 0xa5, sizeof whole);
    memset(&parts, 0x5a, sizeof parts);
    pb_confidence_init(&whole, method, population, alpha, &scaled, bets, n_bets, bounded);
    pb_confidence_init(&parts, method, population, alpha, &scaled, bets, n_bets, bounded);
    double *low = TAKE(&p, n, double), *high = TAKE(&p, n, double);
    double *lower = TAKE(&p, n, double), *upper = TAKE(&p, n, double);
    pb_confidence_add(&whole, values, n, one, low, high);
    for (int64_t done = 0; done < n;) {
        int64_t m = choose(&c, 0, 50);
        m = m == 0 || m > n - done ? n - done : m;
        pb_confidence_add(&parts, values + done, m, two, lower + done, upper + done);
        done += m;
    }
    HOLDS(whole.count == n && parts.count == n);
    for (int64_t i = 0; i < n; i++) {
        HOLDS(low[i] == lower[i] && high[i] == upper[i]);
        HOLDS(!bounded || (low[i] >= 0.0 && high[i] <= 1.0));
        HOLDS(!isnan(low[i]) && !isnan(high[i]));
        /* not in finite populations, whose values may prove a bound wrong and widen it */
        if (i && method != PB_CONFIDENCE_ASYMPTOTIC && isinf(population))
            HOLDS(low[i] >= low[i - 1] && high[i] <= high[i - 1]);
    }
    HOLDS(method == PB_CONFIDENCE_BETTING || pb_confidence_agrees(&parts));
    pool_free(&p);
    return 0;
}
