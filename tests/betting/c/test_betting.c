#include "betting_logs.h"

#include "pybandit/betting/betting.h"

/* A race in memory of exactly the size that the headers state. */
typedef struct {
    pb_betting race;
    pb_pairs near;
    int64_t n_memory;
} fixture;

/* `slack` is 0 for races without an epsilon. */
static void fixture_init(fixture *f, const problem *p, double threshold, int hybrid, double slack,
                         int64_t near_slots)
{
    const int64_t n = p->n_arms;
    f->n_memory = pb_betting_memory(&p->bets, n, hybrid);
    f->near = (pb_pairs){.bets = p->bets, .items = p->items, .slack = slack};
    f->near.memory = soiled(near_slots * near_slots * pb_bets_memory(&p->bets), sizeof(double));
    f->near.claims = soiled(near_slots * near_slots, 1);
    f->race = (pb_betting){.bets = p->bets,
                           .items = p->items,
                           .threshold = threshold,
                           .hybrid = hybrid,
                           .near = slack > 0.0 ? &f->near : NULL,
                           .near_slots = near_slots,
                           .near_error = 1.0 / threshold,
                           .n_arms = n,
                           .memory = soiled(f->n_memory, sizeof(double)),
                           .scores = soiled(n, sizeof(double)),
                           .rewards = soiled(3 * n + p->bets.n_bets, sizeof(double)),
                           .arms = soiled(n, sizeof(int64_t)),
                           .columns = soiled(n, sizeof(int64_t)),
                           .slots = slack > 0.0 ? soiled(n, sizeof(int64_t)) : NULL,
                           .gone = soiled(n, 1),
                           .n_alive = n};
    for (int64_t i = 0; i < n; i++) {
        f->race.arms[i] = i;
        f->race.columns[i] = p->columns[i];
        f->race.scores[i] = p->offsets[i];
    }
    pb_betting_begin(&f->race);
}

static void fixture_free(fixture *f)
{
    pb_betting *b = &f->race;
    void *all[] = {b->memory, b->scores, b->rewards, b->arms, b->columns,
                   b->slots,  b->gone,   f->near.memory, f->near.claims};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

static pb_status add(fixture *f, const problem *p, int64_t first, int64_t n)
{
    return pb_betting_add(&f->race, (const double *const *)p->rows + first, n);
}

static void assert_same_state(const fixture *f, const fixture *g)
{
    const pb_betting *a = &f->race, *b = &g->race;
    assert(a->n_alive == b->n_alive && a->leader == b->leader && a->runner_up == b->runner_up);
    assert(a->n_read == b->n_read && a->n_evaluations == b->n_evaluations);
    assert(a->decided == b->decided && a->near_begun == b->near_begun);
    assert(same(a->memory, b->memory, f->n_memory, sizeof(double)));
    assert(same(a->scores, b->scores, a->n_arms, sizeof(double)));
    assert(same(a->arms, b->arms, a->n_arms, sizeof(int64_t)));
    assert(same(a->columns, b->columns, a->n_arms, sizeof(int64_t)));
    if (a->near_begun) {
        const int64_t n = f->near.n_slots * f->near.n_slots;
        assert(same(a->slots, b->slots, a->n_arms, sizeof(int64_t)));
        assert(same(f->near.claims, g->near.claims, n, 1));
        assert(same(f->near.memory, g->near.memory, n * pb_bets_memory(&a->bets),
                    sizeof(double)));
    }
}

/* Random races agree with the reference in logs, in one call or in many. */
static void equals_the_race_in_logs(void)
{
    uint64_t random = 1;
    int64_t early = 0, fewer = 0, near_ends = 0;
    log_race *r = allocate(1, sizeof *r);
    for (int k = 0; k < 96; k++) {
        const int n_arms = 2 + k % 6, endless = k / 2 % 2, hybrid = k % 3 == 1;
        const pb_mixture mixture = k % 3 == 2 ? PB_MIX_EBMIX : PB_MIX_PRODUCT;
        const int64_t n_rows = 20 + (int64_t)(splitmix_next(&random) % 500);
        const double slack = k % 4 == 3 ? 0.4 : 0.0, threshold = k % 8 < 4 ? 5.0 : 40.0;
        const int64_t n_bets = k % 5 ? 16 : 8, slots = slack > 0.0 ? 1 + n_arms / 2 : 0;
        problem p = problem_new(&random, bets_new(mixture, n_bets, k % 7 % 3), n_arms,
                                endless ? 0 : n_rows, n_rows, 0.1 * (1 + k % 9));
        fixture f, g;
        fixture_init(&f, &p, threshold, hybrid, slack, slots);
        fixture_init(&g, &p, threshold, hybrid, slack, slots);
        log_race_run(r, &p, threshold, hybrid, slack, slots);
        assert(add(&f, &p, 0, n_rows) == PB_OK);
        for (int64_t row = 0, n; row < n_rows; row += n) {
            n = 1 + (int64_t)(splitmix_next(&random) % 40);
            n = row + n > n_rows ? n_rows - row : n;
            assert(add(&g, &p, row, n) == PB_OK);
        }
        assert_same_state(&f, &g);
        const pb_betting *b = &f.race;
        assert(b->n_read == r->n_read && b->n_evaluations == r->n_evaluations);
        assert(b->n_alive == r->n_alive && b->arms[b->leader] == r->leader);
        for (int64_t i = 0; i < b->n_alive; i++) {
            assert(r->alive[b->arms[i]] && b->columns[i] == p.columns[b->arms[i]]);
            assert(b->scores[i] == r->scores[b->arms[i]]);
        }
        assert(b->decided || (b->n_read == n_rows && b->n_alive > 1));
        early += b->n_read < n_rows;
        fewer += b->n_alive > 1 && b->n_alive < n_arms;
        near_ends += b->decided && b->n_alive > 1;
        fixture_free(&f);
        fixture_free(&g);
        problem_free(&p);
    }
    assert(early > 30 && fewer > 5 && near_ends > 3);
    free(r);
}

/*
 * Three arms and three items by hand. The leader is 0, 1, 0 before each item and 1, 0, 2 after it.
 * The limit .9 / m always cuts the largest bet, and sometimes the second largest.
 */
static void three_items_by_hand(void)
{
    enum { N = 3, D = 3, G = 4 };
    double values[N][D] = {{.2, .5, .4}, {.6, .1, .3}, {.3, .4, .5}};
    const double m[N][D] = {{.5, .5, .5}, {.425, .525, .475}, {.55, .4, .45}};
    const double x[N][D] = {{.65, .35, .4}, {.25, .6, .4}, {.6, .45, .4}};
    const double tilt[N] = {1.0, 1.5, 3.0}, bets[G] = {.1, .5, 1., 2.};
    double *rows[N] = {values[0], values[1], values[2]}, offsets[D] = {0.0, 0.0, 0.0};
    int64_t columns[D] = {0, 1, 2};
    problem p = {bets_of(.1, .5, 1., 2.), {N, 0.0, 1.0, 1.0, NULL}, D, N, D, rows, columns, offsets};
    fixture f;
    fixture_init(&f, &p, 1e9, 0, 0.0, 0);
    for (int t = 0; t < N; t++)
        assert(add(&f, &p, t, 1) == PB_OK);
    for (int i = 0; i < D; i++)
        for (int g = 0; g < G; g++) {
            double capital = 0.25;
            for (int t = 0; t < N; t++)
                capital *= 1.0 + fmin(bets[g] * tilt[t], .9 / m[t][i]) * (x[t][i] - m[t][i]);
            assert(close_to(f.race.memory[i * pb_bets_memory(&p.bets) + g], capital, 1e-14));
        }
    assert(f.race.arms[f.race.leader] == 2 && f.race.n_read == 3 && f.race.n_evaluations == 9);
    assert(add(&f, &p, 0, N) == PB_OK && f.race.n_read == 3);  /* no further item is read */
    fixture_free(&f);
    bets_free(&p.bets);
}

/* Two items by hand, with weights 1.5 and .5: a quarter of the weight is left after the first. */
static void weighted_items_by_hand(void)
{
    enum { N = 2, D = 2, G = 4 };
    double values[N][D] = {{.2, .5}, {.6, .1}};
    const double left[N + 1] = {2.0, 0.5, 0.0}, bets[G] = {.1, .5, 1., 2.};
    const double m[N][D] = {{.5, .5}, {.05, .95}}, x[N][D] = {{.65, .35}, {.25, .75}};
    const double tilt[N] = {1.0, 4.0};
    double *rows[N] = {values[0], values[1]}, offsets[D] = {0.0, 0.0};
    int64_t columns[D] = {0, 1};
    problem p = {bets_of(.1, .5, 1., 2.), {N, 0.0, 1.0, 1.0, left}, D, N, D, rows, columns,
                 offsets};
    fixture f;
    fixture_init(&f, &p, 1e9, 0, 0.0, 0);
    assert(add(&f, &p, 0, N) == PB_OK && f.race.n_read == N && !f.race.decided);
    for (int i = 0; i < D; i++)
        for (int g = 0; g < G; g++) {
            double capital = 0.25;
            for (int t = 0; t < N; t++)
                capital *= 1.0 + fmin(bets[g] * tilt[t], .9 / m[t][i]) * (x[t][i] - m[t][i]);
            assert(close_to(f.race.memory[i * pb_bets_memory(&p.bets) + g], capital, 1e-14));
        }
    /* arm 1 gains 1.5 * .3 on the first item and loses .5 * .5 on the second */
    assert(close_to(f.race.scores[1] - f.race.scores[0], 0.2, 1e-14) && f.race.leader == 1);
    fixture_free(&f);
    bets_free(&p.bets);
}

static const double BAD[] = {NAN, -1.001, 2.001, INFINITY, -INFINITY};

/* A row with a bad reward of any arm changes nothing; with a valid row, the race continues. */
static void refuses_bad_rows(void)
{
    uint64_t random = 3;
    for (int k = 0; k < 60; k++) {
        const int n_arms = 2 + k % 4, hybrid = k % 2, wide = k % 10 >= 5;
        problem p = problem_new(&random, bets_new(PB_MIX_PRODUCT, 16, 0), n_arms, 0, 90, 0.05);
        if (wide)  /* no reward is invalid, only the difference of two */
            p.items.low = -INFINITY, p.items.high = INFINITY;
        fixture f, g;
        fixture_init(&f, &p, 1e9, hybrid, 0.0, 0);
        fixture_init(&g, &p, 1e9, hybrid, 0.0, 0);
        const int64_t row = 10 + k, arm = k % n_arms;
        double *const reward = &p.rows[row][p.columns[arm]], kept = *reward;
        *reward = wide && k % 5 == 1 ? kept + 6.1 : wide && k % 5 == 2 ? kept - 6.1 : BAD[k % 5];
        assert(add(&f, &p, 0, row) == PB_OK);
        assert(add(&g, &p, 0, 7) == PB_OK);
        assert(add(&g, &p, 7, 90 - 7) == PB_RANGE && g.race.bad_row == row - 7);
        assert_same_state(&f, &g);
        *reward = kept;
        assert(add(&f, &p, row, 90 - row) == PB_OK && add(&g, &p, row, 90 - row) == PB_OK);
        assert_same_state(&f, &g);
        assert(g.race.n_read == 90);
        fixture_free(&f);
        fixture_free(&g);
        problem_free(&p);
    }
}

/* Races that compare any two arms refuse a row if any two rewards differ by more than the range. */
static void refuses_a_wide_row(void)
{
    uint64_t random = 4;
    for (int k = 0; k < 3; k++) {
        problem p = problem_new(&random, bets_new(PB_MIX_PRODUCT, 16, 0), 3, 0, 2, 0.5);
        p.items = (pb_items){0, -INFINITY, INFINITY, 1.0, NULL};
        const double offsets[3] = {5.0, 0.0, 0.0}, rewards[2][3] = {{0, 1, 0}, {0, .9, -.9}};
        memcpy(p.offsets, offsets, sizeof offsets);
        for (int i = 0; i < 6; i++)
            p.rows[i / 3][p.columns[i % 3]] = rewards[i / 3][i % 3];
        fixture f;
        fixture_init(&f, &p, 1e9, k == 1, k == 2 ? 0.01 : 0.0, 3);
        assert(add(&f, &p, 0, 2) == (k ? PB_RANGE : PB_OK));  /* both others are near the leader */
        assert(f.race.n_read == (k ? 1 : 2));
        fixture_free(&f);
        problem_free(&p);
    }
}

/*
 * Alternating coins cost every bet of both hypotheses e^-1500 of its wealth. Then one arm wins
 * every item, and the other must be eliminated at the same item as in logs.
 */
static void recovers_from_ruin(void)
{
    uint64_t random = 5;
    log_race *r = allocate(1, sizeof *r);
    for (int k = 0; k < 6; k++) {
        enum { COINS = 10600, N = 20000 };
        const int hybrid = k % 3 == 2, worse = k % 3 == 1;
        problem p = problem_new(&random, bets_of(1.0, 1.2, 1.4, 1.6), 2, k < 3 ? 0 : N, N, 0.0);
        p.offsets[0] = p.offsets[1] = 0.0;
        for (int64_t row = 0; row < N; row++)
            for (int i = 0; i < 2; i++)
                p.rows[row][p.columns[i]] =
                    row < COINS ? (double)(row % 2 == i) : (double)(i != worse);
        p.items.low = 0.0, p.items.high = p.items.range = 1.0;
        log_race_run(r, &p, 20.0, hybrid, 0.0, 0);
        assert(r->n_read > COINS + (k < 3 ? 3000 : 300) && r->n_read < N && r->n_alive == 1);
        fixture f;
        fixture_init(&f, &p, 20.0, hybrid, 0.0, 0);
        for (int64_t row = 0; row + 64 <= N; row += 64) {
            assert(add(&f, &p, row, 64) == PB_OK);
            assert(f.race.decided || no_denormals(f.race.memory, f.n_memory));
        }
        assert(f.race.decided && f.race.arms[0] == 1 - worse && r->leader == 1 - worse);
        assert(llabs(f.race.n_read - r->n_read) <= 1);
        fixture_free(&f);
        problem_free(&p);
    }
    free(r);
}

/* An arm that the items left cannot make the best is eliminated at the next item. */
static void drops_the_impossible_at_once(void)
{
    uint64_t random = 6;
    for (int k = 0; k < 3; k++) {
        const pb_mixture mixture = k == 1 ? PB_MIX_EBMIX : PB_MIX_PRODUCT;
        problem p = problem_new(&random, bets_new(mixture, 16, 0), 3, 50, 50, 0.1);
        const double offsets[3] = {150.1, 0.0, 150.1};  /* more than 50 items of range 3 */
        memcpy(p.offsets, offsets, sizeof offsets);
        fixture f;
        fixture_init(&f, &p, 1e9, k == 2, 0.0, 0);
        assert(add(&f, &p, 0, 1) == PB_OK);
        assert(f.race.n_alive == 2 && f.race.arms[0] == 0 && f.race.arms[1] == 2);
        assert(f.race.n_evaluations == 3 && !f.race.decided);
        fixture_free(&f);
        problem_free(&p);
    }
}

/* If the wealth against every arm reaches the threshold at one item, the previous leader stays. */
static void keeps_a_leader(void)
{
    uint64_t random = 7;
    for (int hybrid = 0; hybrid < 2; hybrid++) {
        problem p = problem_new(&random, bets_new(PB_MIX_PRODUCT, 16, 0), 3, 50, 50, 0.1);
        for (int i = 0; i < 3; i++)
            p.offsets[i] = i == 1 ? 0.1 : 0.0, p.rows[0][p.columns[i]] = i == 2 ? 1.0 : 0.0;
        fixture f;
        fixture_init(&f, &p, 1e-9, hybrid, 0.0, 0);
        assert(add(&f, &p, 0, 50) == PB_OK);
        assert(f.race.decided && f.race.n_alive == 1 && f.race.n_read == 1);
        assert(f.race.arms[0] == 1 && f.race.scores[0] == 0.1 && f.race.n_evaluations == 3);
        fixture_free(&f);
        problem_free(&p);
    }
}

/*
 * Hybrid bets: when arm 2 is eliminated, the wealth of arms 0 and 1 on each other has shrunk to
 * denormals. Moving the wealth bet on arm 2 to these bets must not make it infinite.
 */
static void hands_over_to_the_ruined(void)
{
    uint64_t random = 8;
    for (int64_t coins = 4800; coins < 5400; coins += 40) {
        const int64_t n = coins + 200;
        problem p = problem_new(&random, bets_of(1.0, 1.2, 1.4, 1.6), 3, 0, n, 0.0);
        p.items = (pb_items){0, 0.0, 1.0, 1.0, NULL};
        for (int64_t row = 0; row < n; row++)
            for (int i = 0; i < 3; i++)
                p.rows[row][p.columns[i]] = row < coins ? (double)(row % 2 == i % 2) : i < 2;
        fixture f;
        fixture_init(&f, &p, 20.0, 1, 0.0, 0);
        assert(add(&f, &p, 0, coins) == PB_OK && f.race.n_alive == 3);
        assert(add(&f, &p, coins, 200) == PB_OK && f.race.n_alive == 2 && f.race.arms[1] == 1);
        for (int64_t i = 0; i < 2; i++)
            for (int64_t g = 0; g < 4; g++)  /* the bets of one arm on the other */
                assert(isfinite(f.race.memory[(3 * (i + 1) + 1 - i) * pb_bets_memory(&p.bets) +
                                              g]));
        fixture_free(&f);
        problem_free(&p);
    }
}

/* Removes the smallest score first, for ties the largest key; one arm left decides the race. */
static void withdraws_the_last(void)
{
    uint64_t random = 9;
    for (int hybrid = 0; hybrid < 2; hybrid++) {
        problem p = problem_new(&random, bets_new(PB_MIX_PRODUCT, 16, 0), 4, 50, 50, 0.1);
        const double offsets[4] = {0.1, 0.3, 0.1, 0.2};
        const int64_t keys[4] = {3, 0, 1, 2};
        memcpy(p.offsets, offsets, sizeof offsets);
        fixture f;
        fixture_init(&f, &p, 1e9, hybrid, 0.0, 0);
        unsigned char withdrawn[4] = {0, 0, 0, 0};
        pb_betting_withdraw(&f.race, 4, keys, withdrawn);
        assert(f.race.n_alive == 4 && !withdrawn[0]);
        pb_betting_withdraw(&f.race, 3, keys, withdrawn);
        assert(withdrawn[0] && f.race.n_alive == 3 && f.race.arms[0] == 1);
        assert(f.race.columns[0] == p.columns[1] && f.race.scores[2] == 0.2);
        assert(!f.race.decided && add(&f, &p, 0, 3) == PB_OK && f.race.n_evaluations == 9);
        pb_betting_withdraw(&f.race, 1, keys, withdrawn);
        assert(f.race.decided && withdrawn[0] + withdrawn[1] + withdrawn[2] + withdrawn[3] == 3);
        assert(add(&f, &p, 3, 1) == PB_OK && f.race.n_read == 3);
        fixture_free(&f);
        problem_free(&p);
    }
}

int main(void)
{
    withdraws_the_last();
    equals_the_race_in_logs();
    three_items_by_hand();
    weighted_items_by_hand();
    refuses_bad_rows();
    hands_over_to_the_ruined();
    refuses_a_wide_row();
    recovers_from_ruin();
    drops_the_impossible_at_once();
    keeps_a_leader();
    return 0;
}
