#ifndef PLUG_IN_H
#define PLUG_IN_H

/*
 * The race with one plug-in bet per arm, recomputed before every item (PLUG_IN in
 * pybandit/betting/bets.h). Private to betting.c.
 *
 * The bet against an arm is on the mean reward of a group: the first of the other arms, the
 * first two or the first four. Under "b is best" b is behind no group in total. The mean of
 * several nearly equal arms varies less than the first of them; but if b is close to the first,
 * only that one is ahead of b. So the group is chosen for each arm, as the one with the largest
 * expected growth num^2 / (PLUG_SQUARES + Q).
 *
 * Leaders are selected for being ahead, so expected gains are too large, especially with many
 * arms. The bets of all arms are therefore scaled by the gains of earlier bets divided by their
 * expected gains.
 *
 * The values of the arms are stored by position among the survivors, one row per kind of value,
 * so that loops over arms can be vectorised.
 */
#include "plug_four.h"

enum { CAPITAL, LIMIT, SHIFTS, OUTSIDE, SQUARES, AFTER_SQUARES = SQUARES + GROUPS };
/* With predictions: adjusted sum and reward; by how much a prediction may exceed or fall below
   its mean; total, highest and lowest prediction of the items left. */
enum { ADJUSTED = AFTER_SQUARES, VALUE, OVER, UNDER, LEFT, HIGH, LOW, PLUG_ROWS };

/* Up to this number of arms, all are bet on in one loop, the first ones included. */
enum { FEW = 32 };

static inline double *plug_row(const pb_betting *b, int which)
{
    return b->memory + which * b->n_arms;
}

/* Returns the values that rank the arms: scores, adjusted by predictions if there are any. */
static inline const double *plug_order(const pb_betting *b)
{
    return b->predicted ? plug_row(b, ADJUSTED) : b->scores;
}

/* Finds the first RANKED positions, ties to the lowest, and the leader and runner-up. */
static void plug_rank(pb_betting *b)
{
    const double *const scores = plug_order(b);
    int64_t *const ranked = b->ranked;
    int64_t n = 0;
    for (int64_t i = 0; i < b->n_alive; i++) {
        if (n == RANKED && scores[i] <= scores[ranked[n - 1]])
            continue;
        int64_t at = n < RANKED ? n++ : n - 1;
        for (; at > 0 && scores[i] > scores[ranked[at - 1]]; at--)
            ranked[at] = ranked[at - 1];
        ranked[at] = i;
    }
    for (int64_t i = 0; i < b->n_alive; i++)
        plug_row(b, OUTSIDE)[i] = 1.0;
    for (int64_t r = 0; r < n && r < MEMBERS; r++)
        plug_row(b, OUTSIDE)[ranked[r]] = 0.0;
    b->n_ranked = n;
    b->leader = ranked[0];
    b->runner_up = n > 1 ? ranked[1] : -1;
    for (int64_t i = 0; b->predicted && i < b->n_alive; i++)  /* scores decide who wins */
        if (b->scores[i] > b->scores[b->leader] ||
            (b->scores[i] == b->scores[b->leader] && i < b->leader))
            b->leader = i;
}

/* Updates the ranks after an item; cheap if the first few stay the same, as they mostly do. */
ALWAYS_INLINE void plug_follow(pb_betting *b)
{
    const double *const scores = b->scores;
    const double last = scores[b->ranked[b->n_ranked - 1]];
    const int64_t n = b->n_alive;
    int64_t n_not_below = 0;
    for (int64_t i = 0; i < n; i++)
        n_not_below += scores[i] >= last;
    int falls = n_not_below == b->n_ranked;
    for (int64_t r = 1; r < b->n_ranked; r++)
        falls &= scores[b->ranked[r - 1]] > scores[b->ranked[r]];
    if (!falls || b->predicted)
        plug_rank(b);
}

static inline void plug_begin(pb_betting *b)
{
    for (int64_t i = 0; i < b->n_alive; i++) {
        plug_row(b, CAPITAL)[i] = 1.0;
        plug_row(b, LIMIT)[i] = b->threshold;
        plug_row(b, SHIFTS)[i] = 0.0;
        plug_row(b, ADJUSTED)[i] = b->scores[i];
        for (int g = 0; g < GROUPS; g++)
            plug_row(b, SQUARES + g)[i] = PLUG_SQUARES * b->items.range * b->items.range;
    }
    b->won = b->promised = PLUG_BELIEF;
    plug_rank(b);
}

#define GATHER(row, at) FOUR((row)[(at)[0]], (row)[(at)[1]], (row)[(at)[2]], (row)[(at)[3]])

/* Returns the state of the arms at four positions, which may repeat. */
ALWAYS_INLINE four plug_gather(const pb_betting *b, const int64_t *at, const int predicted)
{
    four f;
    f.score = GATHER(b->scores, at);
    f.reward = predicted ? GATHER(plug_row(b, VALUE), at) : GATHER(b->rewards, at);
    if (predicted) {
        f.sum = GATHER(plug_row(b, ADJUSTED), at);
        f.under = GATHER(plug_row(b, UNDER), at);
        f.raw = GATHER(b->rewards, at);
    }
    f.capital = GATHER(plug_row(b, CAPITAL), at);
    f.limit = GATHER(plug_row(b, LIMIT), at);
    for (int g = 0; g < GROUPS; g++)
        f.squares[g] = GATHER(plug_row(b, SQUARES + g), at);
    return f;
}

/* Writes back the state of the arms at the first n of four positions. */
ALWAYS_INLINE void plug_scatter(pb_betting *b, const int64_t *at, int64_t n, const four *f)
{
    for (int lane = 0; lane < n; lane++) {
        const int64_t i = at[lane];
        plug_row(b, CAPITAL)[i] = LANE(f->capital, lane);
        for (int g = 0; g < GROUPS; g++)
            plug_row(b, SQUARES + g)[i] = LANE(f->squares[g], lane);
    }
}

/* Returns the state of the arms at positions i to i + 3. */
ALWAYS_INLINE four plug_load(const pb_betting *b, int64_t i, const int predicted)
{
    const double *const rows = b->memory + i;
    const int64_t n = b->n_arms;
    four f;
    f.score = LOAD(b->scores + i);
    f.reward = LOAD(predicted ? rows + VALUE * n : b->rewards + i);
    if (predicted) {
        f.sum = LOAD(rows + ADJUSTED * n);
        f.under = LOAD(rows + UNDER * n);
        f.raw = LOAD(b->rewards + i);
    }
    f.capital = LOAD(rows + CAPITAL * n);
    f.limit = LOAD(rows + LIMIT * n);
    f.outside = LOAD(rows + OUTSIDE * n);
    for (int g = 0; g < GROUPS; g++)
        f.squares[g] = LOAD(rows + (SQUARES + g) * n);
    return f;
}

ALWAYS_INLINE void plug_store(const pb_betting *b, int64_t i, const four *f)
{
    double *const rows = b->memory + i;
    const int64_t n = b->n_arms;
    STORED(rows + CAPITAL * n) = f->capital;
    for (int g = 0; g < GROUPS; g++)
        STORED(rows + (SQUARES + g) * n) = f->squares[g];
}

/* Copies the values of the ranked arms from a row, with `none` for missing ranks. */
ALWAYS_INLINE void plug_ranked(const pb_betting *b, const double *row, double none, double *out)
{
    for (int rank = 0; rank < RANKED; rank++)
        out[rank] = rank < b->n_ranked ? row[b->ranked[rank]] : none;
}

/* Values of the ranked arms, from which groups are formed. */
typedef struct {
    double score[RANKED], reward[RANKED], sum[RANKED], over[RANKED], raw[RANKED];
} firsts;

ALWAYS_INLINE void plug_firsts(const pb_betting *b, firsts *first, const int predicted)
{
    /* missing arms promise no gain */
    plug_ranked(b, b->scores, predicted ? 0.0 : -INFINITY, first->score);
    plug_ranked(b, predicted ? plug_row(b, VALUE) : b->rewards, 0.0, first->reward);
    if (predicted) {
        plug_ranked(b, plug_row(b, ADJUSTED), -INFINITY, first->sum);
        plug_ranked(b, plug_row(b, OVER), 0.0, first->over);
        plug_ranked(b, b->rewards, 0.0, first->raw);
    }
}

/* Bets on all arms as if none were among the first four. Those four do not count in `all`, and
   the caller overwrites them. */
ALWAYS_INLINE void plug_outside(pb_betting *b, const moment *at, const firsts *first,
                                outcome *all, const int predicted)
{
    groups rivals;
    plug_above(rivals.score, first->score);
    plug_above(rivals.reward, first->reward);
    if (predicted) {
        plug_above(rivals.sum, first->sum);
        plug_above(rivals.over, first->over);
        plug_above(rivals.raw, first->raw);
    }
    const int64_t last = b->n_alive - LANES;
    /* the last four arms may overlap the earlier ones: bet on them first, store them last */
    four end = plug_load(b, last, predicted);
    const int64_t seen = -last & (LANES - 1);
    const vector lane = FOUR(0.0, 1.0, 2.0, 3.0);
    VECTOR(counts, PICK(lane L >= EVERY((double)seen), end.outside L, EVERY(0.0)));
    plug_four(&rivals, at, &counts, &end, all, predicted);
    for (int64_t i = 0; i < last; i += LANES) {
        four f = plug_load(b, i, predicted);
        plug_four(&rivals, at, &f.outside, &f, all, predicted);
        plug_store(b, i, &f);
    }
    plug_store(b, last, &end);
}

/* Loads the groups of the arms at positions i to i + 3. */
ALWAYS_INLINE void plug_own(groups *own, double rivals[2 * GROUPS][FEW], int64_t i)
{
    for (int g = 0; g < GROUPS; g++) {
        own->score[g] = LOAD(rivals[g] + i);
        own->reward[g] = LOAD(rivals[GROUPS + g] + i);
    }
}

/*
 * Bets on all of at most FEW arms: each loads its own groups, which differ for the first four
 * only. With few arms this is less work than a separate bet on the first four.
 */
ALWAYS_INLINE void plug_few(pb_betting *b, const moment *at, const firsts *first, outcome *all)
{
    double rivals[2 * GROUPS][FEW];
    const int64_t n = b->n_alive, last = n - LANES, seen = -last & (LANES - 1);
    groups above, among, own;
    plug_above(above.score, first->score);
    plug_above(above.reward, first->reward);
    plug_among(among.score, first->score);
    plug_among(among.reward, first->reward);
    for (int g = 0; g < GROUPS; g++) {
        for (int64_t i = 0; i < n; i += LANES) {
            STORED(rivals[g] + i) = above.score[g];
            STORED(rivals[GROUPS + g] + i) = above.reward[g];
        }
        /* arms beyond the first 2^g are compared with the same group as all others */
        for (int rank = 0; rank < 1 << g; rank++) {
            rivals[g][b->ranked[rank]] = LANE(among.score[g], rank);
            rivals[GROUPS + g][b->ranked[rank]] = LANE(among.reward[g], rank);
        }
    }
    /* the last four arms may overlap the earlier ones: bet on them first, store them last */
    four end = plug_load(b, last, 0);
    const vector lane = FOUR(0.0, 1.0, 2.0, 3.0), every = ALL(1.0);
    VECTOR(counts, PICK(lane L >= EVERY((double)seen), every L, EVERY(0.0)));
    plug_own(&own, rivals, last);
    plug_four(&own, at, &counts, &end, all, 0);
    for (int64_t i = 0; i < last; i += LANES) {
        four f = plug_load(b, i, 0);
        plug_own(&own, rivals, i);
        plug_four(&own, at, &every, &f, all, 0);
        plug_store(b, i, &f);
    }
    plug_store(b, last, &end);
}

/* Bets on all arms; each of the first four is compared with groups of the others. */
ALWAYS_INLINE void plug_bet(pb_betting *b, const moment *at, outcome *all, const int predicted)
{
    firsts first;
    if (!predicted && b->n_alive > MEMBERS && b->n_alive <= FEW) {
        plug_firsts(b, &first, 0);
        plug_few(b, at, &first, all);
        return;
    }
    int64_t members[MEMBERS];
    vector counts = ALL(1.0);
    plug_firsts(b, &first, predicted);
    for (int rank = 0; rank < MEMBERS; rank++) {
        members[rank] = b->ranked[rank < b->n_ranked ? rank : 0];
        LANE(counts, rank) = rank < b->n_ranked;
    }
    groups rivals;
    plug_among(rivals.score, first.score);
    plug_among(rivals.reward, first.reward);
    if (predicted) {
        plug_among(rivals.sum, first.sum);
        plug_among(rivals.over, first.over);
        plug_among(rivals.raw, first.raw);
    }
    four f = plug_gather(b, members, predicted);
    plug_four(&rivals, at, &counts, &f, all, predicted);
    if (b->n_alive > MEMBERS)
        plug_outside(b, at, &first, all, predicted);
    plug_scatter(b, members, b->n_ranked < MEMBERS ? b->n_ranked : MEMBERS, &f);
}

ALWAYS_INLINE double lanes_sum(const vector *total)
{
    return (LANE(*total, 0) + LANE(*total, 2)) + (LANE(*total, 1) + LANE(*total, 3));
}

/*
 * Replaces the reward of each arm by reward - prediction + mean prediction of the items left.
 * Predictions of all items left depend on earlier items only, so the mean of this value over
 * the items left is the mean of the rewards. Bets are placed on it.
 */
ALWAYS_INLINE void plug_adjust(pb_betting *b, const double *predictions, double per_left)
{
    const int64_t n = b->n_alive;
    double *const left = plug_row(b, LEFT);
    for (int64_t i = 0; i < n; i++) {
        const double prediction = predictions[b->columns[i]], mean = left[i] * per_left;
        plug_row(b, VALUE)[i] = b->rewards[i] - (prediction - mean);
        plug_row(b, OVER)[i] = plug_row(b, HIGH)[i] - mean;
        plug_row(b, UNDER)[i] = mean - plug_row(b, LOW)[i];
        left[i] -= prediction;
    }
}

ALWAYS_INLINE void plug_adjust_sums(pb_betting *b)
{
    const double *const values = plug_row(b, VALUE), lead = values[b->leader];
    for (int64_t i = 0; i < b->n_alive; i++)
        plug_row(b, ADJUSTED)[i] += values[i] - lead;
}

/* Bets on one item; marks the arms whose hypothesis is rejected and returns their number. */
ALWAYS_INLINE int64_t plug_item(pb_betting *b, const int predicted)
{
    const double range = b->items.range;
    const double ratio = b->won / b->promised;
    moment at = {range, PLUG_GAIN * range, 0.0, 1.0,
                 ratio < 0.0 ? 0.0 : ratio > 1.0 ? 1.0 : ratio};
    if (b->items.n_items) {
        at.per_left = 1.0 / pb_items_left(&b->items, b->n_read);
        at.tilt = (double)b->items.n_items * at.per_left;
    }
    outcome all = {.won = ALL(0.0), .promised = ALL(0.0)};
    plug_bet(b, &at, &all, predicted);
    if (predicted)
        plug_adjust_sums(b);
    const double kept = 1.0 - 2.0 / ((double)b->n_read + PLUG_MEMORY);
    b->won = kept * b->won + lanes_sum(&all.won);
    b->promised = kept * b->promised + lanes_sum(&all.promised);
    if (!ANY(all.fell))
        return 0;
    int64_t n_gone = 0;
    for (int64_t i = 0; i < b->n_alive; i++) {
        b->gone[i] = plug_row(b, CAPITAL)[i] >= plug_row(b, LIMIT)[i];
        n_gone += b->gone[i];
    }
    return n_gone;
}

/* Rescales the wealth of all arms; called every REST items. */
static inline void plug_rest(pb_betting *b)
{
    for (int64_t i = 0; i < b->n_alive; i++) {
        double *const capital = plug_row(b, CAPITAL) + i, *const shifts = plug_row(b, SHIFTS) + i;
        const double factor = wealth_shift(*capital, shifts);
        *capital = wealth_kept(*capital * factor);
        if (factor != 1.0)
            plug_row(b, LIMIT)[i] = wealth_limit(b->threshold, *shifts);
    }
}

/* Moves the values of position `from` to position `to`. */
static inline void plug_move(pb_betting *b, int64_t to, int64_t from)
{
    for (int which = 0; which < PLUG_ROWS; which++)
        plug_row(b, which)[to] = plug_row(b, which)[from];
}

#endif
