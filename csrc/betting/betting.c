/*
 * The race by betting (pybandit/betting/betting.h), at 16 bets a few ns an arm and item.
 *
 * Under "b is best" the items that are left hold at most what b is behind, so the
 * mean of the next difference is at most (score_b - score_a) / left whichever
 * rival a was chosen before. Bets must follow one another item by item: a bet on
 * the mean of a block has to be small enough for the block's worst case.
 */
#include "pybandit/betting/betting.h"

#include <stddef.h>

#include "wealth.h"

int64_t pb_betting_memory(const pb_bets *bets, int64_t n_arms, int hybrid)
{
    return pb_bets_memory(bets) * n_arms * (hybrid ? n_arms + 1 : 1);
}

static double *leader_process(const pb_betting *b, int64_t arm)
{
    return b->memory + arm * pb_bets_memory(&b->bets);
}

/* HYBRID: what `arm` has to fear from `rival`. */
static double *pair_process(const pb_betting *b, int64_t arm, int64_t rival)
{
    return b->memory +
           (b->n_arms * (arm + 1) + rival) * pb_bets_memory(&b->bets);
}

static void find_leader(pb_betting *b)
{
    const double *const scores = b->scores;
    int64_t first = 0, second = -1;
    for (int64_t i = 1; i < b->n_alive; i++)
        if (scores[i] > scores[first]) {
            second = first;
            first = i;
        } else if (second < 0 || scores[i] > scores[second]) {
            second = i;
        }
    b->leader = first;
    b->runner_up = second;
}

/* The same after an item: seldom does the order of the first two change. */
ALWAYS_INLINE void follow_leader(pb_betting *b)
{
    const int64_t n = b->n_alive;
    const double *const scores = b->scores;
    const double first = scores[b->leader], second = scores[b->runner_up];
    int64_t n_not_below = 0;
    for (int64_t i = 0; i < n; i++)
        n_not_below += scores[i] >= second;
    if (n_not_below != 2 || first <= second)
        find_leader(b);
}

static void begin_hybrid(pb_betting *b)
{
    const double rivals = (double)(b->n_alive - 1);
    for (int64_t i = 0; i < b->n_alive; i++)
        for (int64_t j = 0; j < b->n_alive; j++)
            wealth_begin(&b->bets, pair_process(b, b->arms[i], b->arms[j]),
                         i == j ? 0.0 : 0.5 / rivals, b->threshold);
}

static void begin_near(pb_betting *b)
{
    pb_pairs *near = b->near;
    b->near_begun = 1;
    near->n_slots = b->n_alive;
    near->threshold = (double)(b->n_alive - 1) / b->near_error;
    for (int64_t i = 0; i < b->n_alive; i++)
        b->slots[i] = i;
    pb_pairs_begin(near);
}

void pb_betting_begin(pb_betting *b)
{
    for (int64_t i = 0; i < b->n_alive; i++)
        wealth_begin(&b->bets, leader_process(b, b->arms[i]), b->hybrid ? 0.5 : 1.0,
                     b->threshold);
    if (b->hybrid)
        begin_hybrid(b);
    b->n_read = b->n_evaluations = 0;
    b->near_begun = 0;
    b->decided = b->n_alive == 1;
    find_leader(b);
}

/* Gathers the item's rewards of the alive; whether they may be used. */
ALWAYS_INLINE int take_row(pb_betting *b, const double *row)
{
    const int64_t n = b->n_alive;
    const double low = b->items.low, high = b->items.high;
    /* the last bit of a difference is rounding */
    const double most = b->items.range * (1.0 + 1e-12);
    const double lead = row[b->columns[b->leader]];
    double *const rewards = b->rewards;
    const int64_t *const columns = b->columns;
    for (int64_t i = 0; i < n; i++)
        rewards[i] = row[columns[i]];
    int64_t good = 1;
    for (int64_t i = 0; i < n; i++)
        good &= (int64_t)(rewards[i] >= low) & (int64_t)(rewards[i] <= high) &
                (int64_t)(fabs(lead - rewards[i]) <= most);
    /* where any two bet on each other, any two have to be in range */
    if (b->hybrid || (b->near && n <= b->near_slots))
        good &= (int64_t)pb_items_allow(&b->items, row, columns, n);
    return (int)good;
}

/* One bet that the arm at position i is not best, on what it is behind the rival. */
ALWAYS_INLINE int bet_against(const pb_betting *b, const wager *w, double *process, int64_t i,
                              int64_t rival, const int n_vectors)
{
    const double half = 0.5 / b->items.range;
    const double expected = (b->scores[i] - b->scores[rival]) * w->per_left;
    const double difference = b->rewards[rival] - b->rewards[i];
    return wealth_bet(w, process, (difference - expected) * half, expected * half + 0.5,
                      n_vectors);
}

/* HYBRID: the arm's capital against the leader and all rivals together. */
static int bet_hybrid(const pb_betting *b, const wager *w, int64_t i, int64_t rival,
                      int n_vectors)
{
    double *process = leader_process(b, b->arms[i]);
    int falls = bet_against(b, w, process, i, rival, n_vectors);
    double total = wealth_total(&b->bets, process);
    for (int64_t j = 0; j < b->n_alive; j++) {
        if (j == i)
            continue;
        process = pair_process(b, b->arms[i], b->arms[j]);
        falls |= bet_against(b, w, process, i, j, n_vectors);
        total += wealth_total(&b->bets, process);
    }
    return falls || total >= b->threshold;
}

/* HYBRID: the capital against a rival that is gone goes to the others in proportion. */
static void hand_over(pb_betting *b, int64_t i)
{
    double total = 0.0, kept = 0.0;
    for (int64_t j = 0; j < b->n_alive; j++) {
        if (j == i)
            continue;
        const double capital =
            wealth_total(&b->bets, pair_process(b, b->arms[i], b->arms[j]));
        total += capital;
        kept += b->gone[j] ? 0.0 : capital;
    }
    if (kept < 0x1p-500)  /* near the denormals the ratio could be infinite */
        return;
    for (int64_t j = 0; j < b->n_alive; j++)
        if (j != i && !b->gone[j]) {
            double *process = pair_process(b, b->arms[i], b->arms[j]);
            for (int64_t g = 0; g < b->bets.n_bets; g++)
                process[g] *= total / kept;
        }
}

/* One arm after the other, whatever the mixture; returns how many hypotheses fall. */
static int64_t bet_each(pb_betting *b, const wager *w, int n_vectors)
{
    int64_t n_gone = 0;
    for (int64_t i = 0; i < b->n_alive; i++) {
        const int64_t rival = i == b->leader ? b->runner_up : b->leader;
        const int falls =
            b->hybrid ? bet_hybrid(b, w, i, rival, n_vectors)
                      : bet_against(b, w, leader_process(b, b->arms[i]), i, rival, n_vectors);
        b->gone[i] = (unsigned char)falls;
        n_gone += falls;
    }
    return n_gone;
}

/*
 * For every arm its gain x - m and its largest bet: against the leader, and for
 * the leader against the runner-up. Whether a hypothesis is impossible.
 */
ALWAYS_INLINE int expect(const pb_betting *b, double per_left, double *restrict gain,
                         double *restrict most)
{
    const int64_t n = b->n_alive, leader = b->leader, second = b->runner_up;
    const double *const scores = b->scores, *const rewards = b->rewards;
    const double half = 0.5 / b->items.range;
    const double score = scores[leader], reward = rewards[leader];
    int64_t impossible = 0;
    for (int64_t i = 0; i < n; i++) {
        const double expected = (scores[i] - score) * per_left;
        const double m = expected * half + 0.5;
        const double least = m > TINY ? m : TINY;
        gain[i] = (reward - rewards[i] - expected) * half + (m - least);
        most[i] = RISK / least;
        impossible |= (int64_t)(m < -TINY);
    }
    /* the leader is not behind: its m is at least 1/2, and from 1 on it does not bet */
    const double expected = (score - scores[second]) * per_left;
    const double m = expected * half + 0.5;
    gain[leader] = m < 1.0 ? (rewards[second] - reward - expected) * half : 0.0;
    most[leader] = RISK / m;
    return impossible != 0;
}

/* The same for products, in passes over the arms that vectors can take. */
ALWAYS_INLINE int64_t bet_all(pb_betting *b, const wager *w, const int n_vectors)
{
    const int64_t n = b->n_alive, size = pb_bets_memory(&b->bets);
    double *const gain = b->rewards + b->n_arms, *const most = gain + b->n_arms;
    if (expect(b, w->per_left, gain, most))
        return bet_each(b, w, n_vectors);
    double *const memory = b->memory;
    const int64_t *const arms = b->arms;
    unsigned char *const gone = b->gone;
    int64_t n_gone = 0;
    for (int64_t i = 0; i < n; i++) {
        double *const process = memory + arms[i] * size;
        const int falls = wealth_multiply(w, process, gain[i], most[i], n_vectors) >=
                          process[n_vectors * LANES];
        gone[i] = (unsigned char)falls;
        n_gone += falls;
    }
    return n_gone;
}

/* Bets on one item; marks the arms whose hypothesis falls and returns how many. */
ALWAYS_INLINE int64_t bet_item(pb_betting *b, const int n_vectors)
{
    wager w;
    wager_begin(&w, &b->bets, b->rewards + 3 * b->n_arms, &b->items, b->n_read, n_vectors);
    return b->hybrid || !n_vectors ? bet_each(b, &w, n_vectors) : bet_all(b, &w, n_vectors);
}

/* Every REST items. */
static void rest(pb_betting *b)
{
    for (int64_t i = 0; i < b->n_alive; i++) {
        wealth_rest(&b->bets, leader_process(b, b->arms[i]));
        for (int64_t j = 0; b->hybrid && j < b->n_alive; j++)
            wealth_rest(&b->bets, pair_process(b, b->arms[i], b->arms[j]));
    }
}

/* Drops the marked arms; where all are, the leader stays. */
static void drop_gone(pb_betting *b, int64_t n_gone)
{
    if (n_gone == b->n_alive)
        b->gone[b->leader] = 0;
    if (b->hybrid)
        for (int64_t i = 0; i < b->n_alive; i++)
            if (!b->gone[i])
                hand_over(b, i);
    int64_t kept = 0;
    for (int64_t i = 0; i < b->n_alive; i++) {
        if (b->gone[i])
            continue;
        b->arms[kept] = b->arms[i];
        b->columns[kept] = b->columns[i];
        b->scores[kept] = b->scores[i];
        if (b->near_begun)
            b->slots[kept] = b->slots[i];
        kept++;
    }
    b->n_alive = kept;
    find_leader(b);
}

void pb_betting_withdraw(pb_betting *b, int64_t n_kept, const int64_t *keys,
                         unsigned char *withdrawn)
{
    while (b->n_alive > n_kept) {
        int64_t last = 0;
        for (int64_t i = 0; i < b->n_alive; i++) {
            b->gone[i] = 0;
            if (b->scores[i] < b->scores[last] ||
                (b->scores[i] == b->scores[last] && keys[b->arms[i]] > keys[b->arms[last]]))
                last = i;
        }
        b->gone[last] = 1;
        withdrawn[b->arms[last]] = 1;
        drop_gone(b, 1);
    }
    b->decided |= b->n_alive == 1;
}

/* Whether the leader is within the tolerance of everything alive. */
static int leads_nearly(const pb_betting *b)
{
    const unsigned char *claims =
        b->near->claims + b->slots[b->leader] * b->near->n_slots;
    for (int64_t i = 0; i < b->n_alive; i++)
        if (i != b->leader && !claims[b->slots[i]])
            return 0;
    return 1;
}

ALWAYS_INLINE void read_item(pb_betting *b, const int n_vectors)
{
    const int64_t n = b->n_alive;
    double *const scores = b->scores;
    const double *const rewards = b->rewards;
    if (b->near && !b->near_begun && n <= b->near_slots)
        begin_near(b);
    const int64_t n_gone = bet_item(b, n_vectors);
    if ((b->n_read + 1) % REST == 0)
        rest(b);
    if (b->near_begun)
        pb_pairs_add(b->near, b->n_read, b->slots, n, b->scores, b->rewards);
    /* of large rewards only differences are exact */
    const double lead = rewards[b->leader], weight = pb_items_weight(&b->items, b->n_read);
    for (int64_t i = 0; i < n; i++)
        scores[i] += weight * (rewards[i] - lead);
    b->n_read++;
    b->n_evaluations += n;
    if (n_gone)
        drop_gone(b, n_gone);
    else
        follow_leader(b);
    b->decided = b->n_alive == 1 || (b->near_begun && leads_nearly(b));
}

ALWAYS_INLINE pb_status add_rows(pb_betting *b, const double *const *rows, int64_t n_rows,
                                 const int n_vectors)
{
    for (int64_t r = 0; r < n_rows && !b->decided; r++) {
        if (b->items.n_items && b->n_read == b->items.n_items)
            break;
        if (!take_row(b, rows[r])) {
            b->bad_row = r;
            return PB_RANGE;
        }
        read_item(b, n_vectors);
    }
    return PB_OK;
}

/* Sixteen bets, the default, in straight lines: two thirds of the instructions. */
WIDE static pb_status add_sixteen(pb_betting *b, const double *const *rows, int64_t n_rows)
{
    return add_rows(b, rows, n_rows, 4);
}

WIDE static pb_status add_any(pb_betting *b, const double *const *rows, int64_t n_rows)
{
    const int64_t n_bets = b->bets.mixture == PB_MIX_PRODUCT ? b->bets.n_bets : 0;
    return add_rows(b, rows, n_rows, (int)(n_bets / LANES));
}

pb_status pb_betting_add(pb_betting *b, const double *const *rows, int64_t n_rows)
{
    const int sixteen = b->bets.mixture == PB_MIX_PRODUCT && b->bets.n_bets == 16;
    return sixteen ? add_sixteen(b, rows, n_rows) : add_any(b, rows, n_rows);
}
