/* Finds the arms above a threshold by betting (pybandit/betting/threshold.h). */
#include "pybandit/betting/threshold.h"

#include "wealth.h"

enum { ABOVE = 1, BELOW = -1, OPEN = 0 };

static double *process_of(const pb_threshold *t, int64_t arm, int below)
{
    return t->memory + (2 * arm + below) * pb_bets_memory(&t->bets);
}

void pb_threshold_begin(pb_threshold *t)
{
    for (int64_t i = 0; i < t->n_arms; i++) {
        t->verdicts[i] = OPEN;
        t->arms[i] = i;
        t->sums[i] = 0.0;
        for (int below = 0; below < 2; below++)
            wealth_begin(&t->bets, process_of(t, i, below), 1.0, t->threshold);
    }
    t->n_open = t->n_arms;
    t->n_read = t->n_evaluations = 0;
    t->decided = 0;
}

static int in_range(const pb_threshold *t, const double *row)
{
    int good = 1;
    for (int64_t i = 0; i < t->n_open; i++) {
        const double reward = row[t->columns[i]];
        good &= (reward >= t->items.low) & (reward <= t->items.high);
    }
    return good;
}

/*
 * Returns the mean of the next item if the mean of all items is tau + slack, on the scale where
 * [low, high] is [0, 1]. Sums are of reward - tau: for large rewards only differences are exact.
 */
static double expected_of(const pb_threshold *t, const wager *w, int64_t i, double slack)
{
    const double above = t->items.n_items
                             ? (slack * (double)t->items.n_items - t->sums[i]) * w->per_left
                             : slack;
    return (t->tau - t->items.low + above) / (t->items.high - t->items.low);
}

/* Bets on one reward of the undecided arm at position i and returns the verdict. */
ALWAYS_INLINE int64_t judge(const pb_threshold *t, const wager *w, int64_t i, double reward,
                            const int n_vectors)
{
    const double x = (reward - t->items.low) / (t->items.high - t->items.low);
    const double least = expected_of(t, w, i, -t->slack);
    const double most = expected_of(t, w, i, t->slack);
    const int above =
        wealth_bet(w, process_of(t, t->arms[i], 0), x - least, least, n_vectors);
    const int below =
        wealth_bet(w, process_of(t, t->arms[i], 1), most - x, 1.0 - most, n_vectors);
    return above ? ABOVE : below ? BELOW : OPEN;
}

WIDE static void read_item(pb_threshold *t, const double *row)
{
    const int n_vectors =
        t->bets.mixture == PB_MIX_PRODUCT ? (int)(t->bets.n_bets / LANES) : 0;
    const int resting = (t->n_read + 1) % REST == 0;
    double tilted[PB_MOST_BETS];
    wager w;
    wager_begin(&w, &t->bets, tilted, &t->items, t->n_read, n_vectors);
    int64_t kept = 0;
    t->n_evaluations += t->n_open;
    for (int64_t i = 0; i < t->n_open; i++) {
        const int64_t arm = t->arms[i], column = t->columns[i];
        t->verdicts[arm] = judge(t, &w, i, row[column], n_vectors);
        for (int below = 0; resting && below < 2; below++)
            wealth_rest(&t->bets, process_of(t, arm, below));
        /* kept <= i, so only used entries are overwritten */
        if (t->verdicts[arm] == OPEN) {
            t->arms[kept] = arm;
            t->columns[kept] = column;
            t->sums[kept++] = t->sums[i] + (row[column] - t->tau);
        }
    }
    t->n_open = kept;
    t->n_read++;
    t->decided = kept == 0;
}

pb_status pb_threshold_add(pb_threshold *t, const double *const *rows, int64_t n_rows)
{
    for (int64_t r = 0; r < n_rows && !t->decided; r++) {
        if (t->items.n_items && t->n_read == t->items.n_items)
            break;
        if (!in_range(t, rows[r])) {
            t->bad_row = r;
            return PB_RANGE;
        }
        read_item(t, rows[r]);
    }
    return PB_OK;
}
