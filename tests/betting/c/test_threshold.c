#include "betting_logs.h"

#include "pybandit/betting/threshold.h"

typedef struct {
    pb_threshold t;
    int64_t n_memory;
} fixture;

static void fixture_init(fixture *f, const problem *p, double tau, double slack, double threshold)
{
    const int64_t n = p->n_arms;
    f->n_memory = 2 * n * pb_bets_memory(&p->bets);
    f->t = (pb_threshold){.bets = p->bets,
                          .items = p->items,
                          .tau = tau,
                          .slack = slack,
                          .threshold = threshold,
                          .n_arms = n,
                          .memory = soiled(f->n_memory, sizeof(double)),
                          .verdicts = soiled(n, sizeof(int64_t)),
                          .arms = soiled(n, sizeof(int64_t)),
                          .columns = soiled(n, sizeof(int64_t)),
                          .sums = soiled(n, sizeof(double))};
    f->t.items.range = NAN;  /* thresholds do not use the range */
    memcpy(f->t.columns, p->columns, (size_t)n * sizeof(int64_t));
    pb_threshold_begin(&f->t);
}

static void fixture_free(fixture *f)
{
    void *all[] = {f->t.memory, f->t.verdicts, f->t.arms, f->t.columns, f->t.sums};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

static pb_status add(fixture *f, const problem *p, int64_t first, int64_t n)
{
    return pb_threshold_add(&f->t, (const double *const *)p->rows + first, n);
}

static void assert_same_state(const fixture *f, const fixture *g)
{
    const pb_threshold *a = &f->t, *b = &g->t;
    const int64_t n = a->n_arms;
    assert(a->n_open == b->n_open && a->n_read == b->n_read && a->decided == b->decided);
    assert(a->n_evaluations == b->n_evaluations);
    assert(same(a->verdicts, b->verdicts, n, sizeof(int64_t)));
    assert(same(a->arms, b->arms, n, sizeof(int64_t)));
    assert(same(a->columns, b->columns, n, sizeof(int64_t)));
    assert(same(a->sums, b->sums, n, sizeof(double)));
    assert(same(a->memory, b->memory, f->n_memory, sizeof(double)));
}

/* Runs one arm in logs: its verdict, and the items read for it. */
static int log_verdict(const problem *p, int64_t arm, double tau, double slack, double threshold,
                       int64_t *n_read, double *sum)
{
    const double low = p->items.low, width = p->items.high - low;
    log_process above, below;
    log_begin(&above, &p->bets, 1.0);
    log_begin(&below, &p->bets, 1.0);
    *sum = 0.0;
    for (int64_t row = 0; row < p->n_rows; row++) {
        const double x = (reward_of(p, row, arm) - low) / width;
        const double tilt = tilt_at(&p->items, row);
        const double least = (tau - low + null_mean(&p->items, row, -slack, *sum)) / width;
        const double most = (tau - low + null_mean(&p->items, row, slack, *sum)) / width;
        log_bet(&above, &p->bets, tilt, x, least);
        log_bet(&below, &p->bets, tilt, 1.0 - x, 1.0 - most);
        *sum += reward_of(p, row, arm) - tau;
        *n_read = row + 1;
        if (log_total(&above, &p->bets) >= log(threshold))
            return 1;
        if (log_total(&below, &p->bets) >= log(threshold))
            return -1;
    }
    return 0;
}

/* Every arm gets its verdict at the same item as in logs, whether raced alone or with others. */
static void equals_the_verdicts_in_logs(void)
{
    uint64_t random = 41;
    int64_t total[3] = {0, 0, 0};
    for (int k = 0; k < 96; k++) {
        const int n_arms = 1 + k % 6;
        const int64_t n_rows = 20 + (int64_t)(splitmix_next(&random) % 500);
        const double tau = -0.8 + 2.5 * splitmix_double(&random), slack = k % 4 == 3 ? 0.2 : 0.0;
        const double threshold = k % 8 < 4 ? 20.0 : 1000.0;
        const pb_mixture mixture = k % 5 > 2 ? PB_MIX_EBMIX : PB_MIX_PRODUCT;
        problem p = problem_new(&random, bets_new(mixture, k % 3 ? 16 : 8, k % 4), n_arms,
                                k / 2 % 2 ? 0 : n_rows, n_rows, 0.1 * (1 + k % 9));
        fixture f, g;
        fixture_init(&f, &p, tau, slack, threshold);
        fixture_init(&g, &p, tau, slack, threshold);
        assert(add(&f, &p, 0, n_rows) == PB_OK);
        for (int64_t row = 0, n; row < n_rows; row += n) {
            n = 1 + (int64_t)(splitmix_next(&random) % 40);
            n = row + n > n_rows ? n_rows - row : n;
            assert(add(&g, &p, row, n) == PB_OK);
        }
        assert_same_state(&f, &g);
        int64_t most = 0, n_evaluations = 0, position = 0;
        for (int64_t i = 0; i < n_arms; i++) {
            int64_t n_read = 0;
            double sum;
            const int verdict = log_verdict(&p, i, tau, slack, threshold, &n_read, &sum);
            assert(f.t.verdicts[i] == verdict);
            if (!verdict) {
                assert(f.t.arms[position] == i && f.t.columns[position] == p.columns[i]);
                assert(f.t.sums[position++] == sum);
            }
            most = n_read > most ? n_read : most;
            n_evaluations += n_read;
            total[verdict + 1]++;
        }
        assert(f.t.n_open == position && f.t.decided == (position == 0));
        assert(f.t.n_read == most && f.t.n_evaluations == n_evaluations);
        fixture_free(&f);
        fixture_free(&g);
        problem_free(&p);
    }
    assert(total[0] > 30 && total[1] > 15 && total[2] > 30);
}

/* Three items in [0, 2] with a slack, by hand; .9 / m limits bets on the side "below" only. */
static void three_items_by_hand(void)
{
    enum { N = 3, G = 4 };
    double values[N][1] = {{.8}, {.3}, {.4}}, *rows[N] = {values[0], values[1], values[2]};
    const double bets[G] = {.1, .5, 1., 2.}, tilt[N] = {1.0, 1.5, 3.0};
    const double m[2][N] = {{.2, .1, .05}, {.7, .75, .65}};
    const double gain[2][N] = {{.2, .05, .15}, {-.1, .1, .15}};
    int64_t column = 0;
    problem p = {bets_of(.1, .5, 1., 2.), {N, 0.0, 2.0, 2.0, NULL}, 1, N, 1, rows, &column, NULL};
    fixture f;
    fixture_init(&f, &p, 0.5, 0.1, 1e9);
    for (int t = 0; t < N; t++)
        assert(add(&f, &p, t, 1) == PB_OK);
    for (int side = 0; side < 2; side++)
        for (int g = 0; g < G; g++) {
            double capital = 0.25;
            for (int t = 0; t < N; t++)
                capital *= 1.0 + fmin(bets[g] * tilt[t], .9 / m[side][t]) * gain[side][t];
            assert(close_to(f.t.memory[side * pb_bets_memory(&p.bets) + g], capital, 1e-14));
        }
    assert(add(&f, &p, 0, N) == PB_OK && f.t.n_read == 3 && f.t.n_open == 1);
    fixture_free(&f);
    bets_free(&p.bets);
}

/* A row with a bad reward of any arm changes nothing; rewards of decided arms are not read. */
static void refuses_bad_rows(void)
{
    const double bad[] = {NAN, -1.001, 2.001, INFINITY, -INFINITY};
    uint64_t random = 43;
    for (int k = 0; k < 40; k++) {
        const int n_arms = 1 + k % 4;
        problem p = problem_new(&random, bets_new(PB_MIX_PRODUCT, 16, 0), n_arms, 0, 90, 0.05);
        fixture f, g;
        fixture_init(&f, &p, 0.5, 0.0, 1e30);
        fixture_init(&g, &p, 0.5, 0.0, 1e30);
        const int64_t row = 10 + k;
        double *const reward = &p.rows[row][p.columns[k % n_arms]], kept = *reward;
        *reward = bad[k % 5];
        assert(add(&f, &p, 0, row) == PB_OK && add(&g, &p, 0, 7) == PB_OK);
        assert(add(&g, &p, 7, 90 - 7) == PB_RANGE && g.t.bad_row == row - 7);
        assert_same_state(&f, &g);
        *reward = kept;
        assert(add(&f, &p, row, 90 - row) == PB_OK && add(&g, &p, row, 90 - row) == PB_OK);
        assert_same_state(&f, &g);
        fixture_free(&f);
        fixture_free(&g);
        problem_free(&p);
    }
    problem p = problem_new(&random, bets_new(PB_MIX_PRODUCT, 16, 0), 2, 0, 90, 0.0);
    for (int row = 0; row < 90; row++) {
        p.rows[row][p.columns[0]] = row < 45 ? 2.0 : NAN;
        p.rows[row][p.columns[1]] = row % 2 ? 2.0 : -1.0;
    }
    fixture f;
    fixture_init(&f, &p, 0.5, 0.0, 1e4);
    assert(add(&f, &p, 0, 90) == PB_OK && f.t.n_read == 90);
    assert(f.t.verdicts[0] == 1 && f.t.verdicts[1] == 0);
    fixture_free(&f);
    problem_free(&p);
}

/* If the items left cannot move a mean across tau, the arm is decided at the next item. */
static void decides_the_certain_at_once(void)
{
    enum { N = 100 };
    uint64_t random = 44;
    for (int k = 0; k < 4; k++) {
        problem p = problem_new(&random, bets_new(k % 2 ? PB_MIX_EBMIX : PB_MIX_PRODUCT, 16, 0),
                                1, N, N, 0.0);
        for (int row = 0; row < N; row++)
            p.rows[row][p.columns[0]] = k < 2 ? 2.0 : -1.0;
        fixture f;
        fixture_init(&f, &p, 0.5, 0.0, 1e300);
        assert(add(&f, &p, 0, 50) == PB_OK && f.t.n_open == 1);
        assert(add(&f, &p, 50, 2) == PB_OK && f.t.n_read <= 52 && f.t.decided);
        assert(f.t.verdicts[0] == (k < 2 ? 1 : -1));
        fixture_free(&f);
        problem_free(&p);
    }
}

/* Alternating coins shrink the wealth of both sides by e^-1500; then all items favour one side. */
static void recovers_from_ruin(void)
{
    enum { COINS = 10600, N = 20000 };
    uint64_t random = 45;
    for (int k = 0; k < 4; k++) {
        problem p = problem_new(&random, bets_of(1.0, 1.2, 1.4, 1.6), 1, k < 2 ? 0 : N, N, 0.0);
        for (int row = 0; row < N; row++)
            p.rows[row][p.columns[0]] = (row < COINS ? row % 2 : k % 2) ? 2.0 : -1.0;
        int64_t n_read;
        double sum;
        const int verdict = log_verdict(&p, 0, 0.5, 0.0, 20.0, &n_read, &sum);
        assert(verdict == (k % 2 ? 1 : -1) && n_read > COINS + 300);
        fixture f;
        fixture_init(&f, &p, 0.5, 0.0, 20.0);
        for (int64_t row = 0; row + 64 <= N; row += 64) {
            assert(add(&f, &p, row, 64) == PB_OK);
            assert(no_denormals(f.t.memory, f.n_memory));
        }
        assert(f.t.verdicts[0] == verdict && llabs(f.t.n_read - n_read) <= 1);
        fixture_free(&f);
        problem_free(&p);
    }
}

int main(void)
{
    equals_the_verdicts_in_logs();
    three_items_by_hand();
    refuses_bad_rows();
    decides_the_certain_at_once();
    recovers_from_ruin();
    return 0;
}
