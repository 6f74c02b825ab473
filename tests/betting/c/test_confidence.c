#include "../../_shared/c/check.h"

#include "pybandit/betting/confidence.h"

#include "scaled_bets.h"

enum { MOST = 700, BETS = 16 };

static pb_scaled_value history[MOST];

static const pb_confidence_method METHODS[] = {PB_CONFIDENCE_BETTING, PB_CONFIDENCE_BERNSTEIN,
                                               PB_CONFIDENCE_HOEFFDING, PB_CONFIDENCE_ASYMPTOTIC};

static void begin(pb_confidence *c, pb_confidence_method method, double population,
                  int64_t n_bets)
{
    double bets[PB_CONFIDENCE_BETS];
    const double largest = method == PB_CONFIDENCE_BERNSTEIN ? 0.9 : 2.0;
    for (int64_t g = 0; g < n_bets; g++)
        bets[g] = 0.004 * pow(largest / 0.004, (double)g / (n_bets > 1 ? (double)n_bets - 1 : 1));
    const pb_scaled scaled = scaled_bets(n_bets);
    pb_confidence_init(c, method, population, 0.05, &scaled, bets, n_bets, 1);
}

/* Adds the values in pieces of `piece`. */
static void run(pb_confidence *c, const double *values, int64_t n, int64_t piece, double *lower,
                double *upper)
{
    for (int64_t i = 0; i < n; i += piece)
        pb_confidence_add(c, values + i, n - i < piece ? n - i : piece, history, lower + i,
                          upper + i);
}

static double *random_values(uint64_t seed, int64_t n)
{
    double *values = allocate(n, sizeof *values);
    for (int64_t i = 0; i < n; i++)
        values[i] = splitmix_double(&seed);
    return values;
}

static void pieces_change_nothing(pb_confidence_method method, double population, int64_t n,
                                  int64_t n_bets)
{
    double *values = random_values(1, n);
    double *bounds[4];
    for (int i = 0; i < 4; i++)
        bounds[i] = allocate(n, sizeof **bounds);
    pb_confidence whole, pieces;
    begin(&whole, method, population, n_bets);
    begin(&pieces, method, population, n_bets);
    run(&whole, values, n, n, bounds[0], bounds[1]);
    run(&pieces, values, n, 7, bounds[2], bounds[3]);
    assert(memcmp(bounds[0], bounds[2], (size_t)n * sizeof(double)) == 0);
    assert(memcmp(bounds[1], bounds[3], (size_t)n * sizeof(double)) == 0);
    assert(whole.count == n && whole.lower == bounds[0][n - 1]);
    for (int64_t i = 0; i < n; i++)
        assert(0.0 <= bounds[0][i] && bounds[0][i] <= bounds[1][i] && bounds[1][i] <= 1.0);
    if ((double)n == population)
        assert(whole.lower == whole.upper && close_to(whole.lower, whole.sum[0] / population, 0.0));
    for (int i = 0; i < 4; i++)
        free(bounds[i]);
    free(values);
}

/* Returns the total wealth against `mean` after the values of a side. */
static double wealth_against(const pb_confidence *c, int side, double mean)
{
    double logs[MOST];
    pb_scaled_wealth wealth;
    pb_scaled_begin(&c->scaled, &wealth);
    pb_scaled_play(&c->scaled, side, mean, history, 0, c->count, 0.0, &wealth, logs);
    return exp(logs[c->count - 1]);
}

/*
 * The wealth that is stored for a candidate is at most its wealth, and nearly all of it; the bets
 * exclude the bound and do not exclude the candidate.
 */
static void stored_wealth_is_a_lower_bound(double population, int64_t n, int64_t n_bets)
{
    double *values = random_values(2, n);
    double lower[MOST], upper[MOST];
    pb_confidence c;
    begin(&c, PB_CONFIDENCE_BETTING, population, n_bets);
    run(&c, values, n, 100, lower, upper);
    for (int side = 0; side < 2; side++) {
        const pb_candidate *next = &c.candidate[side];
        double total = 0.0;
        for (int64_t g = 0; g < n_bets; g++)
            total += next->capital[g];
        const double exact = wealth_against(&c, side, next->mean);
        assert(total <= exact * (1.0 + 1e-9) && total >= 0.8 * exact);
        assert(total < 2.0 / 0.05);
        assert(next->mean > c.bound[side]);
    }
    free(values);
}

/* A sequence agrees with itself; it does not once a number in it is changed noticeably. */
static void only_itself_agrees(pb_confidence_method method, double population, int64_t n)
{
    double *values = random_values(3, n);
    double lower[MOST], upper[MOST];
    pb_confidence c;
    begin(&c, method, population, BETS);
    assert(pb_confidence_agrees(&c));
    for (int64_t i = 0; i < n; i++) {
        pb_confidence_add(&c, values + i, 1, history, lower, upper);
        const pb_confidence before = c;
        assert(pb_confidence_agrees(&c));
        assert(memcmp(&before, &c, sizeof c) == 0);
    }
    double *parts[] = {c.sum, c.sum + 1, &c.lower, &c.upper};
    for (int p = 0; p < 4; p++)
        for (int sign = -1; sign <= 1; sign += 2) {
            const double kept = *parts[p];
            if (kept == INFINITY)
                continue;
            *parts[p] = kept + sign * 1e-3 * (1.0 + fabs(kept));
            assert(!pb_confidence_agrees(&c));
            *parts[p] = kept;
        }
    free(values);
}

/* N = 2: after the first value x the bounds are [x/2, (x + 1)/2], after the second the mean. */
static void two_values_by_hand(void)
{
    for (int m = 0; m < 4; m++) {
        pb_confidence c;
        const double values[] = {0.25, 0.75};
        double lower[2], upper[2];
        begin(&c, METHODS[m], 2.0, BETS);
        assert(c.lower == 0.0 && c.upper == 1.0);
        run(&c, values, 2, 1, lower, upper);
        assert(lower[0] == 0.125 && upper[0] == 0.625);
        assert(lower[1] == 0.5 && upper[1] == 0.5);
    }
}

/* In few of many orders of a population of zeros and ones do the bounds ever miss the mean 1/2. */
static void misses_are_rare(pb_confidence_method method)
{
    enum { SIZE = 200, RUNS = 300 };
    uint64_t counter = 5;
    double values[SIZE], lower[SIZE], upper[SIZE];
    int64_t misses = 0;
    for (int r = 0; r < RUNS; r++) {
        for (int i = 0; i < SIZE; i++)
            values[i] = i % 2;
        for (int i = SIZE - 1; i > 0; i--) {
            const uint64_t j = splitmix_next(&counter) % (uint64_t)(i + 1);
            const double kept = values[i];
            values[i] = values[j];
            values[j] = kept;
        }
        pb_confidence c;
        begin(&c, method, SIZE, BETS);
        run(&c, values, SIZE, SIZE, lower, upper);
        int missed = 0;
        for (int i = 0; i < SIZE; i++)
            missed |= lower[i] > 0.5 + 1e-9 || upper[i] < 0.5 - 1e-9;
        misses += missed;
    }
    assert((double)misses <= RUNS * 0.05 + 5.0 * sqrt(RUNS * 0.05 * 0.95));
}

int main(void)
{
    static const double populations[] = {INFINITY, 300.0, 301.0, 1e9};
    for (int m = 0; m < 4; m++)
        for (int p = 0; p < 4; p++)
            pieces_change_nothing(METHODS[m], populations[p], 300, BETS);
    for (int64_t n_bets = 1; n_bets <= PB_SCALED_BETS; n_bets += 6)
        pieces_change_nothing(PB_CONFIDENCE_BETTING, 200.0, 150, n_bets);
    for (int64_t n_bets = 1; n_bets <= PB_CONFIDENCE_BETS; n_bets += 9)
        pieces_change_nothing(PB_CONFIDENCE_HOEFFDING, 200.0, 150, n_bets);
    stored_wealth_is_a_lower_bound(INFINITY, 500, BETS);
    stored_wealth_is_a_lower_bound(MOST, MOST - 64, BETS);
    stored_wealth_is_a_lower_bound(MOST, 65, 3);
    stored_wealth_is_a_lower_bound(1e6, 150, 20);
    for (int m = 1; m < 4; m++) {
        only_itself_agrees(METHODS[m], INFINITY, 200);
        only_itself_agrees(METHODS[m], 1000.0, 130);
    }
    two_values_by_hand();
    for (int m = 0; m < 3; m++)
        misses_are_rare(METHODS[m]);
    return 0;
}
