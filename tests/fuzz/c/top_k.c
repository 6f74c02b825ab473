/* Races for the k best arms, in pieces and at once, and the schedule of successive rejects. */
#include "fuzz.h"

#include "pybandit/betting/rejects.h"
#include "pybandit/betting/top_k.h"

enum { MOST_ITEMS = 60, MOST_ARMS = 6 };

static const double BETS[4] = {0.2, 0.5, 1.0, 2.0}, SHARES[4] = {0.25, 0.25, 0.25, 0.25};
static const double MIXED[4] = {0.1, 0.3, 0.5, 0.7};

static pb_pairs claims(pool *p, int64_t n, pb_items items, int is_mixed, double slack,
                       double threshold)
{
    static double psi[4];
    for (int g = 0; g < 4; g++)
        psi[g] = -log1p(-MIXED[g]) - MIXED[g];
    const pb_bets product = {PB_MIX_PRODUCT, 4, BETS, SHARES, NULL};
    const pb_bets mixed = {PB_MIX_EBMIX, 4, MIXED, SHARES, psi};
    pb_pairs pairs = {is_mixed ? mixed : product, items, slack, threshold, n, NULL,
                      TAKE(p, n * n, unsigned char)};
    pairs.memory = TAKE(p, n * n * pb_bets_memory(&pairs.bets), double);
    return pairs;
}

static pb_top_k make(pool *p, int64_t n, int64_t k, pb_items items, int is_mixed, double threshold,
                     double tolerance)
{
    pb_top_k t = {.n_arms = n, .k = k, .beats = claims(p, n, items, is_mixed, 0.0, threshold),
                  .verdicts = TAKE(p, n, int64_t), .arms = TAKE(p, n, int64_t),
                  .columns = TAKE(p, n, int64_t), .sums = TAKE(p, n, double),
                  .rewards = TAKE(p, n, double), .inside = TAKE(p, n, unsigned char)};
    if (tolerance > 0.0)
        t.near = claims(p, n, items, is_mixed, tolerance, threshold);
    for (int64_t i = 0; i < n; i++)
        t.columns[i] = i;
    pb_top_k_begin(&t);
    return t;
}

static void check(const pb_top_k *t, unsigned char *flags)
{
    int64_t open = 0, accepted = 0, rejected = 0, leaders = 0;
    pb_top_k_leaders(t, flags);
    for (int64_t i = 0; i < t->n_arms; i++) {
        open += t->verdicts[i] == 0;
        accepted += t->verdicts[i] == 1;
        rejected += t->verdicts[i] == -1;
        leaders += flags[i];
        HOLDS(flags[i] <= 1 && (t->verdicts[i] != 1 || flags[i]) && (t->verdicts[i] != -1 || !flags[i]));
    }
    HOLDS(open == t->n_open && accepted == t->n_accepted && rejected == t->n_rejected);
    HOLDS(accepted <= t->k && rejected <= t->n_arms - t->k && leaders == t->k);
    for (int64_t i = 0; i < open; i++)
        HOLDS(t->verdicts[t->arms[i]] == 0 && t->columns[i] == t->arms[i] && !isnan(t->sums[i]));
}

static void top_k(choices *c, pool *p)
{
    const int64_t n = choose(c, 2, MOST_ARMS), k = choose(c, 1, n - 1);
    const int64_t n_items = choose(c, 1, MOST_ITEMS), flags = choose(c, 0, 255);
    const pb_items items = {flags & 1 ? 0 : n_items, 0.0, 1.0, 1.0, NULL};
    const double threshold = 1.0 / choose_unit(c), tolerance = flags & 2 ? choose_unit(c) : 0.0;
    double *values = TAKE(p, n_items * n, double);
    const double **rows = TAKE(p, n_items, const double *);
    choose_units(c, values, n_items * n);
    const int is_odd = (flags & 12) == 12;
    if (is_odd)
        values[choose(c, 0, n_items - 1) * n + choose(c, 0, n - 1)] = flags & 16 ? NAN : 1.5;
    for (int64_t i = 0; i < n_items; i++)
        rows[i] = values + i * n;
    pb_top_k whole = make(p, n, k, items, flags & 32 ? 1 : 0, threshold, tolerance);
    pb_top_k parts = make(p, n, k, items, flags & 32 ? 1 : 0, threshold, tolerance);
    unsigned char *leaders = TAKE(p, n, unsigned char), *withdrawn = ZEROS(p, n, unsigned char);
    int64_t *keys = TAKE(p, n, int64_t), done = 0;
    for (int64_t i = 0; i < n; i++)
        keys[i] = n - i;
    const pb_status status = pb_top_k_add(&whole, rows, n_items);
    HOLDS(status == PB_OK || (status == PB_RANGE && is_odd));
    check(&whole, leaders);
    while (done < n_items && !parts.decided) {
        int64_t m = choose(c, 1, 20);
        m = m > n_items - done ? n_items - done : m;
        const pb_status of_part = pb_top_k_add(&parts, rows + done, m);
        check(&parts, leaders);
        if (of_part != PB_OK) {
            HOLDS(status == of_part && parts.bad_row + done == whole.bad_row);
            break;
        }
        done += m;
    }
    HOLDS(parts.n_read == whole.n_read && parts.n_evaluations == whole.n_evaluations);
    HOLDS(memcmp(parts.verdicts, whole.verdicts, (size_t)n * sizeof *keys) == 0);
    const int64_t places = k - parts.n_accepted;
    if (parts.n_open > places) {
        pb_top_k_withdraw(&parts, choose(c, places, parts.n_open), keys, withdrawn);
        check(&parts, leaders);
    }
}

/* Runs the schedule as a race with a budget does: it stays within the budget, and ends. */
static void rejects(choices *c, pool *p)
{
    const int64_t n_arms = choose(c, 2, 60), k = choose(c, 1, n_arms - 1);
    const int64_t n_items = choose(c, 1, 400);
    pb_rejects s = {n_items, TAKE(p, n_arms + 1, double)};
    pb_rejects_begin(&s, n_arms, k, choose_byte(c) / 255.0);
    int64_t n_alive = n_arms, n_read = 0, cells = choose(c, 0, 8000);
    while (n_alive > k && n_read < n_items) {
        const int64_t kept = pb_rejects_keep(&s, n_alive, k, n_read, cells);
        HOLDS(kept >= k && kept <= n_alive);
        n_alive = kept;
        const int64_t block = pb_rejects_block(&s, n_alive, k, n_read, cells);
        HOLDS(block >= 0 && block <= n_items - n_read && block * n_alive <= cells);
        HOLDS(block > 0 || n_alive == k || cells < n_alive);
        if (!block)
            return;
        n_read += block;
        cells -= block * n_alive;
        if (choose_byte(c) < 8 && n_alive > k + 1)  /* an arm eliminated by a bet */
            n_alive--;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    choices c = {bytes, bytes + size};
    pool p = {.n = 0};
    if (choose_byte(&c) < 192)
        top_k(&c, &p);
    else
        rejects(&c, &p);
    pool_free(&p);
    return 0;
}
