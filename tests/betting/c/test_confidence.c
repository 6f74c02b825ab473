#include "../../_shared/c/check.h"

#include "pybandit/betting/confidence.h"

enum { MOST = 700, BETS = 16 };

static const pb_confidence_method METHODS[] = {PB_CONFIDENCE_BETTING, PB_CONFIDENCE_BERNSTEIN,
                                               PB_CONFIDENCE_HOEFFDING, PB_CONFIDENCE_ASYMPTOTIC};

static void begin(pb_confidence *c, pb_confidence_method method, double population,
                  int64_t n_bets)
{
    double bets[PB_CONFIDENCE_BETS];
    const double largest = method == PB_CONFIDENCE_BERNSTEIN ? 0.9 : 2.0;
    for (int64_t g = 0; g < n_bets; g++)
        bets[g] = 0.004 * pow(largest / 0.004, (double)g / (n_bets > 1 ? (double)n_bets - 1 : 1));
    pb_confidence_init(c, method, population, 0.05, bets, n_bets, 1);
}

/* Adds the values in pieces of `piece`. */
static void run(pb_confidence *c, const double *values, int64_t n, int64_t piece, double *lower,
                double *upper)
{
    for (int64_t i = 0; i < n; i += piece)
        pb_confidence_add(c, values + i, n - i < piece ? n - i : piece, lower + i, upper + i);
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

/* Returns the wealth of one bet against the candidate, multiplied value by value. */
static double played(const pb_confidence *c, const double *values, int side, int64_t g)
{
    double capital = 1.0 / (double)c->n_bets, sum = 0.0;
    for (int64_t t = 0; t < c->count; t++) {
        const double x = side ? 1.0 - values[t] : values[t];
        const double left = c->size - c->drained * (double)t;
        const double m = (c->size * c->candidate[side] - c->drained * sum) / left;
        const double factor = 1.0 + fmin(c->bets[g] * c->size / left, 0.9 / m) * (x - m);
        assert(factor >= 0.1 - 1e-12);
        capital *= factor;
        sum += x;
    }
    return capital;
}

static void capital_is_the_product(double population, int64_t n, int64_t n_bets)
{
    double *values = random_values(2, n);
    double lower[MOST], upper[MOST];
    pb_confidence c;
    begin(&c, PB_CONFIDENCE_BETTING, population, n_bets);
    run(&c, values, n, 100, lower, upper);
    for (int side = 0; side < 2; side++) {
        double total = 0.0;
        for (int64_t g = 0; g < n_bets; g++) {
            const double expected = played(&c, values, side, g);
            assert(close_to(c.capital[side][g], expected, 1e-9 * expected));
            total += c.capital[side][g];
        }
        assert(total < 2.0 / 0.05);
        assert(c.candidate[side] > c.bound[side]);
    }
    free(values);
}

/* A sequence agrees with its values; it does not once a number in it is changed noticeably. */
static void only_itself_agrees(pb_confidence_method method, double population, int64_t n)
{
    double *values = random_values(3, n);
    double lower[MOST], upper[MOST];
    pb_confidence c;
    begin(&c, method, population, BETS);
    assert(pb_confidence_agrees(&c, values));
    for (int64_t i = 0; i < n; i++) {
        pb_confidence_add(&c, values + i, 1, lower, upper);
        const pb_confidence before = c;
        assert(pb_confidence_agrees(&c, values));
        assert(memcmp(&before, &c, sizeof c) == 0);
    }
    double *parts[] = {c.sum, c.sum + 1, &c.lower, &c.upper, c.capital[0], c.capital[1] + 3,
                       c.candidate, c.candidate + 1, c.bound, c.bound + 1};
    const int n_parts = method == PB_CONFIDENCE_BETTING ? 10 : 4;
    for (int p = 0; p < n_parts; p++)
        for (int sign = -1; sign <= 1; sign += 2) {
            const double kept = *parts[p];
            if (kept == INFINITY)
                continue;
            *parts[p] = kept + sign * 1e-3 * (1.0 + fabs(kept));
            assert(!pb_confidence_agrees(&c, values));
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
    for (int64_t n_bets = 1; n_bets <= PB_CONFIDENCE_BETS; n_bets += 9)
        pieces_change_nothing(PB_CONFIDENCE_BETTING, 200.0, 150, n_bets);
    capital_is_the_product(INFINITY, 500, BETS);
    capital_is_the_product(MOST, MOST - 64, BETS);
    capital_is_the_product(MOST, 65, 3);
    capital_is_the_product(1e6, 128, 40);
    for (int m = 0; m < 4; m++) {
        only_itself_agrees(METHODS[m], INFINITY, 200);
        only_itself_agrees(METHODS[m], 1000.0, 130);
    }
    two_values_by_hand();
    for (int m = 0; m < 3; m++)
        misses_are_rare(METHODS[m]);
    return 0;
}
