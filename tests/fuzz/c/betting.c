/* Races by betting, also against a threshold; rewards may be NaN or out of range. */
#include "fuzz.h"

#include "pybandit/betting/betting.h"
#include "pybandit/betting/threshold.h"

enum { MOST_ITEMS = 120, MOST_ARMS = 6 };

typedef struct {
    int64_t n_items, n_arms, is_odd;
    double bets[8], shares[8], psi[8], left[MOST_ITEMS + 1];
    double values[MOST_ITEMS * MOST_ARMS];
    const double *rows[MOST_ITEMS];
    pb_bets kind;
    pb_items items;
} problem;

static void make_bets(problem *q, choices *c)
{
    const pb_mixture mixture = (pb_mixture)choose(c, 0, 2);
    const int64_t n = choose_byte(c) & 1 ? 8 : 4;
    double sum = 0.0;
    for (int64_t g = 0; g < n; g++) {
        q->bets[g] = (0.05 + 0.9 * (double)(g + 1) / (double)(n + 1)) *
                     (mixture == PB_MIX_EBMIX ? 0.9 : 1.0 + 4.0 * choose_unit(c));
        if (g && q->bets[g] <= q->bets[g - 1])
            q->bets[g] = q->bets[g - 1] * 1.01;
        q->shares[g] = 0.1 + choose_unit(c);
        sum += q->shares[g];
    }
    for (int64_t g = 0; g < n; g++) {
        q->shares[g] /= sum;
        q->psi[g] = mixture == PB_MIX_EBMIX ? -log1p(-q->bets[g]) - q->bets[g] : NAN;
    }
    q->kind = (pb_bets){mixture, mixture == PB_MIX_PLUG_IN ? 1 : n, q->bets, q->shares, q->psi};
}

static void make_problem(problem *q, choices *c, int64_t flags)
{
    q->n_items = choose(c, 1, MOST_ITEMS);
    q->n_arms = choose(c, 1, MOST_ARMS);
    make_bets(q, c);
    q->left[q->n_items] = 0.0;
    for (int64_t i = q->n_items; i-- > 0;)
        q->left[i] = q->left[i + 1] + 0.1 + choose_unit(c);
    uint64_t counter = choose_bits(c);
    const double spread = choose_unit(c), shift = choose_unit(c);
    for (int64_t i = 0; i < q->n_items * q->n_arms; i++) {
        const double u = fuzz_double(&counter) * spread + shift * (double)(i % q->n_arms) / 6.0;
        q->values[i] = flags & 1 ? (u > 0.5) : u < 1.0 ? u : 1.0;
    }
    q->is_odd = (flags & 6) == 6;
    if (q->is_odd)
        q->values[choose(c, 0, q->n_items * q->n_arms - 1)] = flags & 8 ? NAN : 1.5;
    for (int64_t i = 0; i < q->n_items; i++)
        q->rows[i] = q->values + i * q->n_arms;
    q->items = (pb_items){flags & 16 ? 0 : q->n_items, 0.0, 1.0, 1.0, NULL};
}

/* Checks that a race gives the same result if it gets its rewards in pieces or all at once. */
static void race(problem *q, choices *c, pool *p, int64_t flags)
{
    const int64_t n = q->n_arms;
    const int hybrid = q->kind.mixture == PB_MIX_PRODUCT && (flags & 32);
    if ((flags & 64) && q->items.n_items)
        q->items.left = q->left;
    pb_betting b = {.bets = q->kind, .items = q->items, .threshold = 1.0 / (0.5 * choose_unit(c)),
                    .hybrid = hybrid, .n_arms = n, .n_alive = n,
                    .memory = TAKE(p, pb_betting_memory(&q->kind, n, hybrid), double),
                    .scores = TAKE(p, n, double),
                    .rewards = TAKE(p, 3 * n + q->kind.n_bets, double),
                    .arms = TAKE(p, n, int64_t), .columns = TAKE(p, n, int64_t),
                    .gone = TAKE(p, n, unsigned char)};
    for (int64_t i = 0; i < n; i++) {
        b.arms[i] = b.columns[i] = i;
        b.scores[i] = choose_byte(c) < 64 ? choose_number(c, 3.0) : 0.0;
    }
    int64_t *keys = TAKE(p, n, int64_t);
    unsigned char *withdrawn = TAKE(p, n, unsigned char);
    for (int64_t i = 0; i < n; i++)
        keys[i] = i;
    pb_betting_begin(&b);
    int64_t done = 0, alive = b.n_alive;
    while (done < q->n_items && !b.decided) {
        int64_t m = choose(c, 1, 30);
        m = m > q->n_items - done ? q->n_items - done : m;
        const pb_status status = pb_betting_add(&b, q->rows + done, m);
        HOLDS(status == PB_OK || (status == PB_RANGE && q->is_odd));
        HOLDS(b.n_alive >= 1 && b.n_alive <= alive && b.leader >= 0 && b.leader < b.n_alive);
        HOLDS(b.n_read <= done + m && b.n_evaluations <= b.n_read * n);
        for (int64_t i = 0; i < b.n_alive; i++) {
            HOLDS(b.arms[i] >= 0 && b.arms[i] < n && (i == 0 || b.arms[i] > b.arms[i - 1]));
            HOLDS(b.columns[i] == b.arms[i] && !isnan(b.scores[i]));
        }
        HOLDS(!(b.n_alive == 1 && n > 1 && status == PB_OK) || b.decided);
        alive = b.n_alive;
        done += m;
        if (status != PB_OK) {
            HOLDS(b.bad_row >= 0 && b.bad_row < m);
            return;
        }
        if (choose_byte(c) < 16 && !b.decided) {
            memset(withdrawn, 0, (size_t)n);
            alive = choose(c, 1, alive);
            pb_betting_withdraw(&b, alive, keys, withdrawn);
            HOLDS(b.n_alive == alive);
        }
    }
}

static void threshold(problem *q, choices *c, pool *p)
{
    const int64_t n = q->n_arms;
    if (q->kind.mixture == PB_MIX_PLUG_IN)
        return;
    pb_threshold t = {.bets = q->kind, .items = q->items, .tau = choose_unit(c),
                      .slack = choose_byte(c) < 128 ? 0.0 : 0.1 * choose_unit(c),
                      .threshold = (double)n / (0.5 * choose_unit(c)), .n_arms = n,
                      .memory = TAKE(p, 2 * n * pb_bets_memory(&q->kind), double),
                      .verdicts = TAKE(p, n, int64_t), .arms = TAKE(p, n, int64_t),
                      .columns = TAKE(p, n, int64_t), .sums = TAKE(p, n, double)};
    for (int64_t i = 0; i < n; i++)
        t.columns[i] = i;
    pb_threshold_begin(&t);
    HOLDS(t.n_open == n);
    const pb_status status = pb_threshold_add(&t, q->rows, q->n_items);
    HOLDS(status == PB_OK || (status == PB_RANGE && q->is_odd));
    HOLDS(t.n_open >= 0 && t.n_open <= n && t.n_read <= q->n_items);
    HOLDS(t.n_evaluations <= t.n_read * n);
    int64_t open = 0;
    for (int64_t i = 0; i < n; i++) {
        HOLDS(t.verdicts[i] >= -1 && t.verdicts[i] <= 1);
        open += t.verdicts[i] == 0;
    }
    HOLDS(open == t.n_open);
    for (int64_t i = 0; i < open; i++)
        HOLDS(t.verdicts[t.arms[i]] == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    choices c = {bytes, bytes + size};
    pool p = {.n = 0};
    const int64_t flags = choose(&c, 0, 255);
    problem q;
    memset(&q, 0, sizeof q);
    make_problem(&q, &c, flags);
    if (flags & 128)
        threshold(&q, &c, &p);
    else
        race(&q, &c, &p, flags);
    pool_free(&p);
    return 0;
}
