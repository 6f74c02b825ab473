#include "betting_logs.h"

#include "pybandit/betting/top_k.h"

typedef struct {
    pb_top_k top;
    int64_t n_memory;  /* size of each of the two sets of claims */
} fixture;

static pb_pairs claims_new(const problem *p, double slack, double threshold)
{
    const int64_t n = p->n_arms * p->n_arms;
    pb_pairs made = {.bets = p->bets, .items = p->items, .slack = slack, .threshold = threshold};
    made.n_slots = p->n_arms;
    made.memory = soiled(n * pb_bets_memory(&p->bets), sizeof(double));
    made.claims = soiled(n, 1);
    return made;
}

static void fixture_init(fixture *f, const problem *p, int64_t k, double threshold, double slack)
{
    const int64_t n = p->n_arms;
    f->n_memory = n * n * pb_bets_memory(&p->bets);
    f->top = (pb_top_k){.n_arms = n,
                        .k = k,
                        .beats = claims_new(p, 0.0, threshold),
                        .verdicts = soiled(n, sizeof(int64_t)),
                        .arms = soiled(n, sizeof(int64_t)),
                        .columns = soiled(n, sizeof(int64_t)),
                        .sums = soiled(n, sizeof(double)),
                        .rewards = soiled(n, sizeof(double)),
                        .inside = soiled(n, 1)};
    if (slack > 0.0)
        f->top.near = claims_new(p, slack, threshold);
    memcpy(f->top.columns, p->columns, (size_t)n * sizeof(int64_t));
    pb_top_k_begin(&f->top);
}

static void fixture_free(fixture *f)
{
    pb_top_k *t = &f->top;
    void *all[] = {t->beats.memory, t->beats.claims, t->near.memory, t->near.claims, t->verdicts,
                   t->arms, t->columns, t->sums, t->rewards, t->inside};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

static pb_status add(fixture *f, const problem *p, int64_t first, int64_t n)
{
    return pb_top_k_add(&f->top, (const double *const *)p->rows + first, n);
}

static void assert_same_state(const fixture *f, const fixture *g)
{
    const pb_top_k *a = &f->top, *b = &g->top;
    const int64_t n = a->n_arms;
    assert(a->n_open == b->n_open && a->n_read == b->n_read && a->decided == b->decided);
    assert(a->n_accepted == b->n_accepted && a->n_rejected == b->n_rejected);
    assert(a->n_evaluations == b->n_evaluations);
    assert(same(a->verdicts, b->verdicts, n, sizeof(int64_t)));
    assert(same(a->arms, b->arms, n, sizeof(int64_t)));
    assert(same(a->columns, b->columns, n, sizeof(int64_t)));
    assert(same(a->sums, b->sums, n, sizeof(double)));
    assert(same(a->beats.memory, b->beats.memory, f->n_memory, sizeof(double)));
    assert(same(a->beats.claims, b->beats.claims, n * n, 1));
    if (a->near.memory) {
        assert(same(a->near.memory, b->near.memory, f->n_memory, sizeof(double)));
        assert(same(a->near.claims, b->near.claims, n * n, 1));
    }
}

/* The race for the top k in logs; indexed by arm number, with verdicts coded as in the kernel. */
typedef struct {
    log_claims beats, near;
    int verdicts[MOST_ARMS], winners[MOST_ARMS], n_open, near_end;
    int64_t n_read, n_evaluations;
    double sums[MOST_ARMS];
} log_top_k;

static int count(const log_top_k *t, int n_arms, int verdict)
{
    int n = 0;
    for (int i = 0; i < n_arms; i++)
        n += t->verdicts[i] == verdict;
    return n;
}

/* Gives verdicts in one round, by claims between the arms that were undecided before it. */
static int settle(log_top_k *t, int n_arms, int k)
{
    const int places = k - count(t, n_arms, 1), others = n_arms - k - count(t, n_arms, -1);
    int verdicts[MOST_ARMS] = {0}, changed = 0;
    if (places <= 0 || others <= 0)
        return 0;
    for (int i = 0; i < n_arms; i++) {
        int beaten = 0, beats = 0;
        for (int j = 0; j < n_arms; j++)
            if (i != j && !t->verdicts[i] && !t->verdicts[j]) {
                beaten += t->beats.made[j][i];
                beats += t->beats.made[i][j];
            }
        verdicts[i] = beaten >= places ? -1 : beats >= others ? 1 : 0;
    }
    for (int i = 0; i < n_arms; i++)
        if (verdicts[i])
            t->verdicts[i] = verdicts[i], changed = 1;
    return changed;
}

/* Finds the winners: accepted arms, then undecided arms by their sums until there are k. */
static void find_winners(log_top_k *t, int n_arms, int k)
{
    int places = k - count(t, n_arms, 1);
    for (int i = 0; i < n_arms; i++)
        t->winners[i] = t->verdicts[i] == 1;
    for (; places > 0; places--) {
        int first = -1;
        for (int i = 0; i < n_arms; i++)
            if (!t->verdicts[i] && !t->winners[i] && (first < 0 || t->sums[i] > t->sums[first]))
                first = i;
        t->winners[first] = 1;
    }
}

static void log_top_k_run(log_top_k *t, const problem *p, int k, double threshold, double slack)
{
    const int n = (int)p->n_arms;
    *t = (log_top_k){.n_read = 0};
    log_claims_begin(&t->beats, &p->bets, 0.0, threshold);
    log_claims_begin(&t->near, &p->bets, slack, threshold);
    for (int64_t row = 0; row < p->n_rows; row++) {
        int open[MOST_ARMS];
        double rewards[MOST_ARMS];
        for (int i = 0; i < n; i++) {
            open[i] = !t->verdicts[i];
            rewards[i] = reward_of(p, row, i);
            t->n_evaluations += open[i];
        }
        log_claims_add(&t->beats, &p->bets, &p->items, row, n, open, t->sums, rewards);
        if (slack > 0.0)
            log_claims_add(&t->near, &p->bets, &p->items, row, n, open, t->sums, rewards);
        int first = 0;
        while (!open[first])
            first++;
        for (int i = 0; i < n; i++)
            t->sums[i] += open[i] ? rewards[i] - rewards[first] : 0.0;
        t->n_read++;
        while (settle(t, n, k))
            ;
        find_winners(t, n, k);
        if (count(t, n, 1) >= k || count(t, n, -1) >= n - k)
            break;
        int separate = slack > 0.0;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                if (!t->verdicts[i] && !t->verdicts[j] && t->winners[i] && !t->winners[j])
                    separate &= t->near.made[i][j];
        t->near_end = separate;
        if (separate)
            break;
    }
    t->n_open = count(t, n, 0);
}

static void equals_top_k_in_logs(void)
{
    uint64_t random = 31;
    int64_t early = 0, near_ends = 0, open = 0, accepted = 0;
    log_top_k *t = allocate(1, sizeof *t);
    for (int c = 0; c < 96; c++) {
        const int n_arms = 2 + c % 6, k = 1 + (c / 6) % (n_arms - 1);
        const int64_t n_rows = 20 + (int64_t)(splitmix_next(&random) % 400);
        const double slack = c % 4 == 3 ? 0.5 : 0.0, threshold = c % 8 < 4 ? 5.0 : 100.0;
        const pb_mixture mixture = c % 5 > 2 ? PB_MIX_EBMIX : PB_MIX_PRODUCT;
        problem p = problem_new(&random, bets_new(mixture, 12, c % 3), n_arms,
                                c / 2 % 2 ? 0 : n_rows, n_rows, 0.1 * (1 + c % 9));
        fixture f, g;
        fixture_init(&f, &p, k, threshold, slack);
        fixture_init(&g, &p, k, threshold, slack);
        log_top_k_run(t, &p, k, threshold, slack);
        assert(add(&f, &p, 0, n_rows) == PB_OK);
        for (int64_t row = 0, n; row < n_rows; row += n) {
            n = 1 + (int64_t)(splitmix_next(&random) % 40);
            n = row + n > n_rows ? n_rows - row : n;
            assert(add(&g, &p, row, n) == PB_OK);
        }
        assert_same_state(&f, &g);
        unsigned char *flags = soiled(n_arms, 1);
        pb_top_k_leaders(&f.top, flags);
        assert(f.top.n_read == t->n_read && f.top.n_evaluations == t->n_evaluations);
        assert(f.top.n_open == t->n_open && f.top.n_accepted == count(t, n_arms, 1));
        assert(f.top.n_rejected == count(t, n_arms, -1));
        for (int i = 0; i < n_arms; i++)
            assert(f.top.verdicts[i] == t->verdicts[i] && flags[i] == t->winners[i]);
        for (int64_t i = 0; i < f.top.n_open; i++) {
            assert(!t->verdicts[f.top.arms[i]] && f.top.sums[i] == t->sums[f.top.arms[i]]);
            assert(f.top.columns[i] == p.columns[f.top.arms[i]]);
        }
        assert(f.top.decided || f.top.n_read == n_rows);
        early += t->n_read < n_rows;
        near_ends += t->near_end;
        open += !f.top.decided;
        accepted += f.top.n_accepted > 0 && f.top.n_accepted < k;
        free(flags);
        fixture_free(&f);
        fixture_free(&g);
        problem_free(&p);
    }
    assert(early > 30 && near_ends > 3 && open > 3 && accepted > 3);
    free(t);
}

/* A row with a bad reward of any arm changes nothing; with a valid row, the race continues. */
static void refuses_bad_rows(void)
{
    const double bad[] = {NAN, -1.001, 2.001, INFINITY, -INFINITY};
    uint64_t random = 33;
    for (int c = 0; c < 60; c++) {
        const int n_arms = 2 + c % 4, wide = c % 10 >= 5;
        problem p = problem_new(&random, bets_new(PB_MIX_PRODUCT, 16, 0), n_arms, 0, 90, 0.05);
        if (wide)  /* no reward is invalid, only the difference of two */
            p.items.low = -INFINITY, p.items.high = INFINITY;
        fixture f, g;
        fixture_init(&f, &p, 1, 1e9, c % 2 ? 0.1 : 0.0);
        fixture_init(&g, &p, 1, 1e9, c % 2 ? 0.1 : 0.0);
        const int64_t row = 10 + c;
        double *const reward = &p.rows[row][p.columns[c % n_arms]], kept = *reward;
        *reward = wide && c % 5 == 1 ? kept + 6.1 : wide && c % 5 == 2 ? kept - 6.1 : bad[c % 5];
        assert(add(&f, &p, 0, row) == PB_OK && add(&g, &p, 0, 7) == PB_OK);
        assert(add(&g, &p, 7, 90 - 7) == PB_RANGE && g.top.bad_row == row - 7);
        assert_same_state(&f, &g);
        *reward = kept;
        assert(add(&f, &p, row, 90 - row) == PB_OK && add(&g, &p, row, 90 - row) == PB_OK);
        assert_same_state(&f, &g);
        assert(g.top.n_read == 90);
        fixture_free(&f);
        fixture_free(&g);
        problem_free(&p);
    }
}

/* Rejects the smallest sums, for ties the largest keys, until k arms are left. */
static void withdraws_the_last(void)
{
    uint64_t random = 9;
    problem p = problem_new(&random, bets_new(PB_MIX_PRODUCT, 16, 0), 5, 50, 50, 0.1);
    for (int i = 0; i < 5; i++)
        p.rows[0][p.columns[i]] = i == 1 ? 1.0 : i == 4 ? 0.5 : 0.0;
    const int64_t keys[5] = {3, 0, 4, 2, 1};
    unsigned char withdrawn[5] = {0, 0, 0, 0, 0};
    fixture f;
    fixture_init(&f, &p, 2, 1e9, 0.0);
    assert(add(&f, &p, 0, 1) == PB_OK);
    pb_top_k_withdraw(&f.top, 3, keys, withdrawn);
    assert(withdrawn[2] && withdrawn[0] && !withdrawn[3] && f.top.n_open == 3);
    assert(f.top.n_rejected == 2 && f.top.verdicts[2] == -1 && !f.top.decided);
    pb_top_k_withdraw(&f.top, 2, keys, withdrawn);
    assert(withdrawn[3] && f.top.decided && f.top.arms[0] == 1 && f.top.arms[1] == 4);
    fixture_free(&f);
    problem_free(&p);
}

int main(void)
{
    withdraws_the_last();
    equals_top_k_in_logs();
    refuses_bad_rows();
    return 0;
}
