/* Races by betting with predictions and with claims of closeness stay within their arms. */
#include "fuzz.h"

#include "pybandit/betting/betting.h"

enum { MOST_ITEMS = 40, MOST_ARMS = 5 };

static const double BETS[4] = {0.2, 0.5, 1.0, 2.0}, SHARES[4] = {0.25, 0.25, 0.25, 0.25};

typedef struct {
    int64_t n_items, n_arms;
    double values[MOST_ITEMS * MOST_ARMS], guesses[MOST_ITEMS * MOST_ARMS];
    const double *rows[MOST_ITEMS], *predicted[MOST_ITEMS];
    double totals[MOST_ARMS], highest[MOST_ARMS], lowest[MOST_ARMS];
} problem;

/* Sums the predictions of the items from `first` on. */
static void sum_up(problem *q, int64_t first)
{
    for (int64_t a = 0; a < q->n_arms; a++) {
        q->totals[a] = 0.0;
        q->highest[a] = -INFINITY;
        q->lowest[a] = INFINITY;
        for (int64_t i = first; i < q->n_items; i++) {
            const double guess = q->predicted[i][a];
            q->totals[a] += guess;
            q->highest[a] = fmax(q->highest[a], guess);
            q->lowest[a] = fmin(q->lowest[a], guess);
        }
    }
}

static pb_pairs *near_of(pool *p, int64_t n, pb_items items, double slack, double threshold)
{
    pb_pairs *pairs = TAKE(p, 1, pb_pairs);
    *pairs = (pb_pairs){{PB_MIX_PRODUCT, 4, BETS, SHARES, NULL}, items, slack, threshold, n, NULL,
                        TAKE(p, n * n, unsigned char)};
    pairs->memory = TAKE(p, n * n * pb_bets_memory(&pairs->bets), double);
    return pairs;
}

static void race(pb_betting *b, problem *q, choices *c)
{
    double missing[MOST_ARMS];
    int64_t done = 0, alive = b->n_alive;
    while (done < q->n_items && !b->decided) {
        int64_t m = choose(c, 1, 12);
        m = m > q->n_items - done ? q->n_items - done : m;
        sum_up(q, done);
        const pb_predictions predictions = {q->predicted + done, q->totals, q->highest, q->lowest};
        const pb_status status = b->predicted
                                     ? pb_betting_add_predicted(b, q->rows + done, m, &predictions)
                                     : pb_betting_add(b, q->rows + done, m);
        HOLDS(status == PB_OK && b->n_alive >= 1 && b->n_alive <= alive);
        HOLDS(b->leader >= 0 && b->leader < b->n_alive && b->n_evaluations <= b->n_read * q->n_arms);
        HOLDS(b->decided ? b->n_read <= done + m : b->n_read == done + m);
        for (int64_t i = 0; i < b->n_alive; i++)
            HOLDS(b->columns[i] == b->arms[i] && !isnan(b->scores[i]) &&
                  (i == 0 || b->arms[i] > b->arms[i - 1]));
        pb_betting_missing(b, missing);
        alive = b->n_alive;
        done += m;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static problem q;
    choices c = {bytes, bytes + size};
    pool p = {.n = 0};
    const uint8_t flags = choose_byte(&c);
    const int64_t n = q.n_arms = choose(&c, 1, MOST_ARMS);
    q.n_items = choose(&c, 1, MOST_ITEMS);
    choose_units(&c, q.values, q.n_items * n);
    if (flags & 1)
        choose_numbers(&c, q.guesses, q.n_items * n, 1e3);
    else
        memcpy(q.guesses, q.values, sizeof q.values);
    for (int64_t i = 0; i < q.n_items; i++) {
        q.rows[i] = q.values + i * n;
        q.predicted[i] = q.guesses + i * n;
    }
    const int is_predicted = flags & 2;
    const pb_bets bets = is_predicted || flags & 4
                             ? (pb_bets){PB_MIX_PLUG_IN, 1, NULL, SHARES, NULL}
                             : (pb_bets){PB_MIX_PRODUCT, 4, BETS, SHARES, NULL};
    const pb_items items = {is_predicted || flags & 8 ? q.n_items : 0, 0.0, 1.0, 1.0, NULL};
    const double threshold = 1.0 / choose_unit(&c);
    pb_betting b = {.bets = bets, .items = items, .threshold = threshold,
                    .predicted = is_predicted ? 1 : 0, .n_arms = n, .n_alive = n,
                    .memory = TAKE(&p, pb_betting_memory(&bets, n, 0), double),
                    .scores = ZEROS(&p, n, double), .rewards = TAKE(&p, 3 * n + bets.n_bets, double),
                    .arms = TAKE(&p, n, int64_t), .columns = TAKE(&p, n, int64_t),
                    .slots = TAKE(&p, n, int64_t), .gone = TAKE(&p, n, unsigned char)};
    if (flags & 16 && !is_predicted) {
        b.near = near_of(&p, n, items, choose_unit(&c), 1.0 / choose_unit(&c));
        b.near_slots = n;
        b.near_error = 0.01;
    }
    for (int64_t i = 0; i < n; i++)
        b.arms[i] = b.columns[i] = i;
    pb_betting_begin(&b);
    race(&b, &q, &c);
    pool_free(&p);
    return 0;
}
