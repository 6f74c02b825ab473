/* Races with plug-in bets, compared with a scalar reference that stores logarithms of wealth. */
#include "betting_check.h"

#include "pybandit/betting/betting.h"

enum { GROUPS = 3 };

static const int SIZES[GROUPS] = {1, 2, 4};

typedef struct {
    int alive[MOST_ARMS], n_alive, leader;
    int64_t n_read, n_evaluations;
    double scores[MOST_ARMS], capital[MOST_ARMS], squares[MOST_ARMS][GROUPS];
    double won, promised;
} log_race;

/* Sorts the surviving arms by score; returns their number. */
static int rank(const log_race *r, int n_arms, int but, int *order)
{
    int n = 0;
    for (int i = 0; i < n_arms; i++) {
        if (!r->alive[i] || i == but)
            continue;
        int at = n++;
        for (; at > 0 && r->scores[i] > r->scores[order[at - 1]]; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    return n;
}

/* Returns the gain of an arm's bet at scale 1; infinite if the hypothesis is impossible. */
static double gain_of(log_race *r, const problem *p, int64_t row, int arm)
{
    int order[MOST_ARMS];
    const int n = rank(r, (int)p->n_arms, arm, order);
    const double left = p->items.n_items ? (double)(p->items.n_items - row) : INFINITY;
    const double tilt = p->items.n_items ? (double)p->items.n_items / left : 1.0;
    double best[4] = {0.0, 0.0, -1.0, 1.0};
    for (int g = 0; g < GROUPS && SIZES[g] <= n; g++) {
        double ahead = 0.0, beats = 0.0;
        for (int j = 0; j < SIZES[g]; j++) {
            ahead += r->scores[order[j]] / SIZES[g];
            beats += reward_of(p, row, order[j]) / SIZES[g];
        }
        ahead = (ahead - r->scores[arm]) / p->items.range;
        beats = (beats - reward_of(p, row, arm)) / p->items.range;
        const double hoped = fmax(0.0, 1.0 + ahead), square = r->squares[arm][g];
        r->squares[arm][g] += beats * beats;
        if (best[2] < 0.0 || hoped * hoped * best[3] > best[2] * best[2] * square * (1 + 1e-12))
            best[0] = ahead, best[1] = beats, best[2] = hoped, best[3] = square;
    }
    const double expected = -best[0] / left, least = fmax(1.0 + expected, 2e-9);
    if (expected < -1.0 - 2e-9)
        return INFINITY;
    if (expected >= 1.0)
        return 0.0;
    return fmin(best[2] / best[3] * tilt, 0.9 / least) * (best[1] - (least - 1.0));
}

static void race_in_logs(log_race *r, const problem *p, double threshold)
{
    const int n = (int)p->n_arms;
    *r = (log_race){.n_alive = n, .won = 20.0, .promised = 20.0};
    for (int i = 0; i < n; i++) {
        r->alive[i] = 1;
        r->scores[i] = p->offsets[i];
        for (int g = 0; g < GROUPS; g++)
            r->squares[i][g] = 5.0;
    }
    for (int64_t row = 0; row < p->n_rows && r->n_alive > 1; row++) {
        int order[MOST_ARMS], n_left = 0;
        rank(r, n, -1, order);
        const double scale = fmin(1.0, fmax(0.0, r->won / r->promised));
        double won = 0.0, promised = 0.0;
        int stays[MOST_ARMS] = {0};
        for (int i = 0; i < n; i++) {
            if (!r->alive[i])
                continue;
            const double gain = gain_of(r, p, row, i);
            r->capital[i] += isinf(gain) ? gain : log1p(scale * gain);
            won += isinf(gain) ? 0.0 : gain;
            promised += isinf(gain) ? 0.0 : gain * gain;
            stays[i] = r->capital[i] < log(threshold);
            n_left += stays[i];
        }
        if (!n_left)
            stays[order[0]] = n_left = 1;
        const double kept = 1.0 - 2.0 / ((double)row + 22.0);
        r->won = kept * r->won + won;
        r->promised = kept * r->promised + promised;
        r->n_evaluations += r->n_alive;
        r->n_alive = n_left;
        r->n_read++;
        for (int i = 0; i < n; i++) {
            r->alive[i] = stays[i];
            r->scores[i] += reward_of(p, row, i) - reward_of(p, row, order[0]);
        }
    }
    int order[MOST_ARMS];
    rank(r, n, -1, order);
    r->leader = order[0];
}

typedef struct {
    pb_betting race;
    int64_t n_memory;
} fixture;

/* A race in memory of exactly the size that the headers state. */
static void fixture_init(fixture *f, const problem *p, double threshold)
{
    const int64_t n = p->n_arms;
    f->n_memory = pb_betting_memory(&p->bets, n, 0);
    f->race = (pb_betting){.bets = p->bets,
                           .items = p->items,
                           .threshold = threshold,
                           .n_arms = n,
                           .memory = soiled(f->n_memory, sizeof(double)),
                           .scores = soiled(n, sizeof(double)),
                           .rewards = soiled(3 * n + p->bets.n_bets, sizeof(double)),
                           .arms = soiled(n, sizeof(int64_t)),
                           .columns = soiled(n, sizeof(int64_t)),
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
    void *all[] = {b->memory, b->scores, b->rewards, b->arms, b->columns, b->gone};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

static pb_bets plug_in(void)
{
    pb_bets made = bets_new(PB_MIX_PRODUCT, 2, 0);
    made.mixture = PB_MIX_PLUG_IN;
    made.n_bets = 1;
    ((double *)made.shares)[0] = 1.0;
    return made;
}

static pb_status add(fixture *f, const problem *p, int64_t first, int64_t n)
{
    return pb_betting_add(&f->race, (const double *const *)p->rows + first, n);
}

/* One call and several calls give the same bits, and the same race as the one in logs. */
static void equals_the_race_in_logs(void)
{
    uint64_t random = 11;
    int early = 0, fewer = 0, other = 0;
    log_race *r = allocate(1, sizeof *r);
    for (int k = 0; k < 300; k++) {
        const int n_arms = 2 + k % 7;
        const int64_t n_rows = 400, n_items = k % 3 ? n_rows : 0;
        problem p = problem_new(&random, plug_in(), n_arms, n_items, n_rows, 0.3);
        const double threshold = k % 2 ? 20.0 : 500.0;
        race_in_logs(r, &p, threshold);
        fixture f, g;
        fixture_init(&f, &p, threshold);
        fixture_init(&g, &p, threshold);
        assert(add(&f, &p, 0, n_rows) == PB_OK);
        for (int64_t row = 0, n; row < n_rows; row += n) {
            n = 1 + (int64_t)(splitmix_next(&random) % 70);
            n = n < n_rows - row ? n : n_rows - row;
            assert(add(&g, &p, row, n) == PB_OK);
        }
        const pb_betting *a = &f.race, *b = &g.race;
        assert(a->n_read == b->n_read && a->n_alive == b->n_alive && a->leader == b->leader);
        assert(a->won == b->won && a->promised == b->promised);
        assert(same(a->memory, b->memory, f.n_memory, sizeof(double)));
        assert(same(a->scores, b->scores, n_arms, sizeof(double)));
        assert(a->n_read == r->n_read && a->n_evaluations == r->n_evaluations);
        assert(a->n_alive == r->n_alive && a->arms[a->leader] == r->leader);
        for (int64_t i = 0; i < a->n_alive; i++)
            assert(close_to(a->scores[i], r->scores[a->arms[i]], 1e-9));
        double missing[MOST_ARMS];
        pb_betting_missing(a, missing);
        for (int64_t i = 0; a->n_alive > 1 && i < a->n_alive; i++)
            other += !close_to(missing[i], log(threshold) - r->capital[a->arms[i]], 1e-7);
        early += a->n_read < n_rows;
        fewer += a->n_alive > 1 && a->n_alive < n_arms;
        fixture_free(&f);
        fixture_free(&g);
        problem_free(&p);
    }
    assert(early > 50 && fewer > 20);
    assert(other < 5);  /* if two groups promise the same up to rounding, either choice is right */
    free(r);
}

/*
 * Two arms by hand, two of three items: bets are 1 / 5 on the first item, then
 * (1 + .3) / (5 + .09) 3 / 2 against the arm behind. The scale is 1 until the first update.
 */
static void two_items_by_hand(void)
{
    double values[2][2] = {{.5, .2}, {.4, .6}};
    double *rows[2] = {values[0], values[1]}, offsets[2] = {0.0, 0.0};
    int64_t columns[2] = {0, 1};
    problem p = {plug_in(), {3, 0.0, 1.0, 1.0, NULL}, 2, 2, 2, rows, columns, offsets};
    fixture f;
    fixture_init(&f, &p, 1e9);
    assert(add(&f, &p, 0, 1) == PB_OK);
    /* the arms are tied, so the bets against each arm are on the other */
    assert(close_to(f.race.memory[0], 1.0 - .2 * .3, 1e-14));
    assert(close_to(f.race.memory[1], 1.0 + .2 * .3, 1e-14));
    assert(close_to(f.race.won, 20.0 * 20.0 / 22.0, 1e-14));
    const double promised = 20.0 * 20.0 / 22.0 + 2.0 * .06 * .06;
    assert(close_to(f.race.promised, promised, 1e-14));
    assert(add(&f, &p, 1, 1) == PB_OK);
    const double scale = 20.0 * 20.0 / 22.0 / promised, c = -.3 / 2.0;
    const double behind = (1.0 + .3) / (5.0 + .09) * 1.5, ahead = (1.0 - .3) / (5.0 + .09) * 1.5;
    assert(close_to(f.race.memory[1], 1.06 * (1.0 + scale * behind * (-.2 - c)), 1e-14));
    assert(close_to(f.race.memory[0], .94 * (1.0 + scale * ahead * (.2 + c)), 1e-14));
    fixture_free(&f);
    bets_free(&p.bets);
}

/* Refuses a row in which any two rewards differ by more than the range. */
static void refuses_a_wide_row(void)
{
    uint64_t random = 4;
    problem p = problem_new(&random, plug_in(), 3, 0, 2, 0.5);
    p.items = (pb_items){0, -INFINITY, INFINITY, 1.0, NULL};
    const double offsets[3] = {5.0, 0.0, 0.0}, rewards[2][3] = {{0, .9, 0}, {0, .9, -.9}};
    memcpy(p.offsets, offsets, sizeof offsets);
    for (int i = 0; i < 6; i++)
        p.rows[i / 3][p.columns[i % 3]] = rewards[i / 3][i % 3];
    fixture f;
    fixture_init(&f, &p, 1e9);
    assert(add(&f, &p, 0, 2) == PB_RANGE && f.race.n_read == 1 && f.race.bad_row == 1);
    fixture_free(&f);
    problem_free(&p);
}

/* Small wealth and its limit are multiplied by the same power of two, which changes no digit. */
static void shifts_small_capital(void)
{
    enum { N = 3000 };
    uint64_t random = 5;
    for (int k = 0; k < 20; k++) {
        problem p = problem_new(&random, plug_in(), 6, k % 2 ? N : 0, N, 0.05);
        fixture f, g;
        fixture_init(&f, &p, 1e6);
        fixture_init(&g, &p, ldexp(1e6, -500));
        for (int i = 0; i < 6; i++)
            g.race.memory[i] = ldexp(1.0, -500);
        assert(add(&g, &p, 0, 128) == PB_OK && no_denormals(g.race.memory, g.n_memory));
        assert(g.race.n_alive < 3 || g.race.memory[2 * 6] > 0.0);  /* shift of the first arm */
        assert(add(&f, &p, 0, N) == PB_OK && add(&g, &p, 128, N - 128) == PB_OK);
        assert(f.race.n_read == g.race.n_read && f.race.n_evaluations == g.race.n_evaluations);
        assert(same(f.race.arms, g.race.arms, 6, sizeof(int64_t)));
        assert(same(f.race.scores, g.race.scores, 6, sizeof(double)));
        fixture_free(&f);
        fixture_free(&g);
        problem_free(&p);
    }
}

int main(void)
{
    two_items_by_hand();
    equals_the_race_in_logs();
    refuses_a_wide_row();
    shifts_small_capital();
    return 0;
}
