/*
 * The race by betting (pybandit/betting/betting.h); with 16 bets, a few ns per arm and item.
 *
 * Under "b is best" the mean of the next difference, reward of a minus reward of b, is at most
 * (score_b - score_a) / (items left), for any rival a chosen before the item. Each item has its
 * own bet: a bet on the mean of a block would have to be small enough for the worst block.
 */
#include "pybandit/betting/betting.h"

#include <stddef.h>

#include "hybrid.h"
#include "plug_in.h"
#include "wealth.h"

int64_t pb_betting_memory(const pb_bets *bets, int64_t n_arms, int hybrid)
{
    if (bets->mixture == PB_MIX_PLUG_IN)
        return PLUG_ROWS * n_arms;
    return pb_bets_memory(bets) * n_arms * (hybrid ? n_arms + 1 : 1);
}

static int plugs_in(const pb_betting *b)
{
    return b->bets.mixture == PB_MIX_PLUG_IN;
}

static void find_leader(pb_betting *b)
{
    if (plugs_in(b)) {
        plug_rank(b);
        return;
    }
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

/* Updates leader and runner-up after an item; cheap if both stay the same, as they mostly do. */
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
    if (plugs_in(b))
        plug_begin(b);
    for (int64_t i = 0; i < b->n_alive && !plugs_in(b); i++)
        wealth_begin(&b->bets, leader_process(b, b->arms[i]), b->hybrid ? 0.5 : 1.0,
                     b->threshold);
    if (b->hybrid)
        begin_hybrid(b);
    b->n_read = b->n_evaluations = 0;
    b->near_begun = 0;
    b->decided = b->n_alive == 1;
    find_leader(b);
}

/* Copies four values at a time and the rest one by one, so that none is stored twice. */
ALWAYS_INLINE void copy_four(double *out, const double *row, int64_t n)
{
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        STORED(out + i) = LOAD(row + i);
    for (; i < n; i++)
        out[i] = row[i];
}

/* Returns 1 if the survivors have the first columns of a row, in order. */
static int is_in_order(const pb_betting *b)
{
    int64_t i = 0;
    while (i < b->n_alive && b->columns[i] == i)
        i++;
    return i == b->n_alive;
}

/*
 * Copies the survivors' rewards of an item; returns 1 if they are valid. Adjacent rewards are
 * copied four at a time, so that later vector loads do not wait for single stores. This saves
 * 5 to 10 % of the time of plug-in bets with ten arms.
 */
ALWAYS_INLINE int take_row(pb_betting *b, const double *row, int in_order)
{
    const int64_t n = b->n_alive;
    const double low = b->items.low, high = b->items.high;
    /* tolerates rounding of the difference */
    const double most = b->items.range * (1.0 + 1e-12);
    const double lead = row[b->columns[b->leader]];
    double *const rewards = b->rewards;
    const int64_t *const columns = b->columns;
    if (in_order)
        copy_four(rewards, row, n);
    else
        for (int64_t i = 0; i < n; i++)
            rewards[i] = row[columns[i]];
    int64_t good = 1;
    for (int64_t i = 0; i < n; i++)
        good &= (int64_t)(rewards[i] >= low) & (int64_t)(rewards[i] <= high) &
                (int64_t)(fabs(lead - rewards[i]) <= most);
    /* if any two arms may be compared, any two differences must be in range */
    if (b->hybrid || (plugs_in(b) && high - low > most) || (b->near && n <= b->near_slots))
        good &= (int64_t)pb_items_allow(&b->items, row, columns, n);
    return (int)good;
}

/* Bets on one arm after the other, for any mixture; returns how many hypotheses are rejected. */
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
 * Writes the gain x - m and the largest bet of every arm, compared with the leader; the leader
 * is compared with the runner-up. Returns 1 if a hypothesis is impossible.
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
    /* the leader is not behind, so its m is at least 1/2; if m >= 1 there is no bet */
    const double expected = (score - scores[second]) * per_left;
    const double m = expected * half + 0.5;
    gain[leader] = m < 1.0 ? (rewards[second] - reward - expected) * half : 0.0;
    most[leader] = RISK / m;
    return impossible != 0;
}

/* Like bet_each, for products only: in passes over the arms that can be vectorised. */
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

/* Bets on one item; marks the arms whose hypothesis is rejected and returns their number. */
ALWAYS_INLINE int64_t bet_item(pb_betting *b, const int n_vectors)
{
    if (n_vectors == PLUGGED)
        return plug_item(b, 0);
    if (n_vectors == PREDICTED)
        return plug_item(b, 1);
    wager w;
    wager_begin(&w, &b->bets, b->rewards + 3 * b->n_arms, &b->items, b->n_read, n_vectors);
    return b->hybrid || !n_vectors ? bet_each(b, &w, n_vectors) : bet_all(b, &w, n_vectors);
}

/* Rescales all processes; called every REST items. */
static void rest(pb_betting *b)
{
    if (plugs_in(b)) {
        plug_rest(b);
        return;
    }
    for (int64_t i = 0; i < b->n_alive; i++) {
        wealth_rest(&b->bets, leader_process(b, b->arms[i]));
        for (int64_t j = 0; b->hybrid && j < b->n_alive; j++)
            wealth_rest(&b->bets, pair_process(b, b->arms[i], b->arms[j]));
    }
}

/* Removes the marked arms; if all are marked, the leader stays. */
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
        if (plugs_in(b))
            plug_move(b, kept, i);
        if (b->near_begun)
            b->slots[kept] = b->slots[i];
        kept++;
    }
    b->n_alive = kept;
    find_leader(b);
}

/* Returns 1 if position i is removed before position j. */
ALWAYS_INLINE int is_behind(const pb_betting *b, const int64_t *keys, int64_t i, int64_t j)
{
    return b->scores[i] < b->scores[j] ||
           (b->scores[i] == b->scores[j] && keys[b->arms[i]] > keys[b->arms[j]]);
}

void pb_betting_withdraw(pb_betting *b, int64_t n_kept, const int64_t *keys,
                         unsigned char *withdrawn)
{
    /* positions to remove, the first to go first; overwrites the rewards of the item */
    double *const last = b->rewards;
    const int64_t n_gone = b->n_alive - n_kept;
    int64_t n = 0;
    for (int64_t i = 0; i < b->n_alive && n_gone > 0; i++) {
        b->gone[i] = 0;
        if (n == n_gone && !is_behind(b, keys, i, (int64_t)last[n - 1]))
            continue;
        int64_t at = n < n_gone ? n++ : n - 1;
        for (; at > 0 && is_behind(b, keys, i, (int64_t)last[at - 1]); at--)
            last[at] = last[at - 1];
        last[at] = (double)i;
    }
    for (int64_t out = 0; out < n; out++) {
        b->gone[(int64_t)last[out]] = 1;
        withdrawn[b->arms[(int64_t)last[out]]] = 1;
    }
    if (n_gone > 0)
        drop_gone(b, n_gone);
    b->decided |= b->n_alive == 1;
}

/* Returns 1 if the leader has a claim of being within the tolerance of every survivor. */
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
    /* for large rewards only differences are exact */
    const double lead = rewards[b->leader], weight = pb_items_weight(&b->items, b->n_read);
    for (int64_t i = 0; i < n; i++)
        scores[i] += weight * (rewards[i] - lead);
    b->n_read++;
    b->n_evaluations += n;
    if (n_gone)
        drop_gone(b, n_gone);
    else if (n_vectors < 0)
        plug_follow(b);
    else
        follow_leader(b);
    b->decided = b->n_alive == 1 || (b->near_begun && leads_nearly(b));
}

ALWAYS_INLINE pb_status add_rows(pb_betting *b, const double *const *rows, int64_t n_rows,
                                 const int n_vectors, const double *const *predictions)
{
    int64_t n_ordered = b->n_alive;
    int in_order = is_in_order(b);
    for (int64_t r = 0; r < n_rows && !b->decided; r++) {
        if (b->items.n_items && b->n_read == b->items.n_items)
            break;
        if (b->n_alive != n_ordered) {
            n_ordered = b->n_alive;
            in_order = is_in_order(b);
        }
        if (!take_row(b, rows[r], in_order)) {
            b->bad_row = r;
            return PB_RANGE;
        }
        if (n_vectors == PREDICTED)
            plug_adjust(b, predictions[r], 1.0 / (double)(b->items.n_items - b->n_read));
        read_item(b, n_vectors);
    }
    return PB_OK;
}

/* Sixteen bets, the default, unrolled: two thirds of the instructions. */
WIDE static pb_status add_sixteen(pb_betting *b, const double *const *rows, int64_t n_rows)
{
    return add_rows(b, rows, n_rows, 4, NULL);
}

WIDE static pb_status add_plugged(pb_betting *b, const double *const *rows, int64_t n_rows)
{
    return add_rows(b, rows, n_rows, PLUGGED, NULL);
}

WIDE static pb_status add_any(pb_betting *b, const double *const *rows, int64_t n_rows)
{
    const int64_t n_bets = b->bets.mixture == PB_MIX_PRODUCT ? b->bets.n_bets : 0;
    return add_rows(b, rows, n_rows, (int)(n_bets / LANES), NULL);
}

pb_status pb_betting_add(pb_betting *b, const double *const *rows, int64_t n_rows)
{
    if (plugs_in(b))
        return add_plugged(b, rows, n_rows);
    const int sixteen = b->bets.mixture == PB_MIX_PRODUCT && b->bets.n_bets == 16;
    return sixteen ? add_sixteen(b, rows, n_rows) : add_any(b, rows, n_rows);
}

WIDE static pb_status add_predicted(pb_betting *b, const double *const *rows, int64_t n_rows,
                                    const double *const *predictions)
{
    return add_rows(b, rows, n_rows, PREDICTED, predictions);
}

pb_status pb_betting_add_predicted(pb_betting *b, const double *const *rows, int64_t n_rows,
                                   const pb_predictions *predictions)
{
    for (int64_t i = 0; i < b->n_alive; i++) {
        const int64_t column = b->columns[i];
        plug_row(b, LEFT)[i] = predictions->totals[column];
        plug_row(b, HIGH)[i] = predictions->highest[column];
        plug_row(b, LOW)[i] = predictions->lowest[column];
    }
    return add_predicted(b, rows, n_rows, predictions->rows);
}

void pb_betting_missing(const pb_betting *b, double *missing)
{
    const int known = b->bets.mixture == PB_MIX_PRODUCT && !b->hybrid;
    for (int64_t i = 0; i < b->n_alive; i++) {
        if (plugs_in(b))
            missing[i] = log(plug_row(b, LIMIT)[i] / plug_row(b, CAPITAL)[i]);
        else
            missing[i] = known ? log(b->threshold / wealth_total(&b->bets,
                                     leader_process(b, b->arms[i]))) : NAN;
    }
}
