#ifndef PLUG_FOUR_H
#define PLUG_FOUR_H

/*
 * Plug-in bets on four arms at a time, one a lane (pybandit/betting/bets.h); private to
 * plug_in.h.
 */
#include "pybandit/betting/betting.h"

#include <math.h>

#include "wealth.h"

enum { GROUPS = 3, RANKED = PB_BETTING_RANKED, MEMBERS = RANKED - 1 };

typedef int64_t mask __attribute__((vector_size(LANES * sizeof(int64_t))));

/* lane by lane the one or the other */
#define PICK(which, a, b) ((vector)(((which) & (mask)(a)) | (~(which) & (mask)(b))))
#define ALL(a) ((vector){(a), (a), (a), (a)})

/* Mean scores and rewards of the groups, as four arms see them. */
typedef struct {
    vector score[GROUPS], reward[GROUPS];
    vector sum[GROUPS], over[GROUPS], raw[GROUPS]; /* with predictions */
} groups;

/* Four arms and one item. */
typedef struct {
    vector score, reward, squares[GROUPS], capital, limit, outside;
    vector sum, under, raw;          /* with predictions */
} four;

/* What an item is to all arms. */
typedef struct {
    double range, gain;          /* range, PLUG_GAIN range */
    double per_left, tilt;       /* 1 / items left, N / items left */
    double scale;                /* of all bets */
} moment;

/* What the bets of an item come to: gains, their squares, whether a hypothesis fell. */
typedef struct {
    vector won, promised;
    mask fell;
} outcome;

/* From the first four others by rank: the first, the mean of two, of four. */
ALWAYS_INLINE void plug_means(vector *made, const vector *first, const vector *second,
                              const vector *third, const vector *fourth)
{
    const vector two = *first + *second;
    made[0] = *first;
    made[1] = two * 0.5;
    made[2] = (two + *third + *fourth) * 0.25;
}

/* The groups as the four members see them: each among the others. */
ALWAYS_INLINE void plug_among(vector *made, const double *s)
{
    const vector first = {s[1], s[0], s[0], s[0]}, second = {s[2], s[2], s[1], s[1]};
    const vector third = {s[3], s[3], s[3], s[2]}, fourth = ALL(s[4]);
    plug_means(made, &first, &second, &third, &fourth);
}

/* As all others see them. */
ALWAYS_INLINE void plug_above(vector *made, const double *s)
{
    const vector first = ALL(s[0]), second = ALL(s[1]), third = ALL(s[2]), fourth = ALL(s[3]);
    plug_means(made, &first, &second, &third, &fourth);
}

/* max(0, what is promised, and a little more) */
#define HOPED(promised) PICK((promised) + at->gain > none, (promised) + at->gain, none)

/*
 * Bets, each on the group that promises most. The squares, one a group, take the item
 * in. Infinite capital where the hypothesis is impossible; `counts` is 0 for lanes that
 * are bet on elsewhere.
 */
ALWAYS_INLINE void plug_four(const groups *rivals, const moment *at, const vector *counts, four *f,
                             outcome *all, const int predicted)
{
    const vector none = ALL(0.0), tiny = ALL(2.0 * TINY * at->range);
    vector lead = none, spread = none, gap = none, difference = none;
    vector over = none, raw = none;
    for (int g = 0; g < GROUPS; g++) {
        const vector ahead = rivals->score[g] - f->score;
        const vector promised = predicted ? rivals->sum[g] - f->sum : ahead;
        const vector beats = rivals->reward[g] - f->reward;
        const vector square = f->squares[g];
        const vector hoped = HOPED(promised), best = HOPED(lead);
        const mask better = hoped * hoped * spread > best * best * square;
        lead = g ? PICK(better, promised, lead) : promised;
        spread = g ? PICK(better, square, spread) : square;
        gap = g && predicted ? PICK(better, ahead, gap) : predicted ? ahead : lead;
        difference = g ? PICK(better, beats, difference) : beats;
        if (predicted) {
            const vector beats_raw = rivals->raw[g] - f->raw;
            over = g ? PICK(better, rivals->over[g], over) : rivals->over[g];
            raw = g ? PICK(better, beats_raw, raw) : beats_raw;
        }
        f->squares[g] += beats * beats;
    }
    const vector num = HOPED(lead);
    const vector expected = gap * -at->per_left, room = expected + at->range;
    const vector mean = PICK(room > tiny, room, tiny) - at->range;
    vector least = mean + at->range;
    const vector wanted = num * at->tilt;
    if (predicted) {
        /* more may be lost where a prediction may be off: no prediction where that binds */
        const vector worst = least + over + f->under;
        const mask tight = wanted * worst > spread * RISK;
        least = PICK(tight, least, worst);
        difference = PICK(tight, raw, difference);
    }
    /* wanted / spread, at most RISK / least: one division */
    const mask free = wanted * least < spread * RISK;
    const vector bet = PICK(free, wanted, ALL(RISK)) / PICK(free, spread, least);
    const vector edge = PICK(expected < at->range, difference - mean, none);
    const vector gain = bet * edge, counted = gain * *counts;
    all->won += counted;
    all->promised += counted * counted;
    f->capital *= gain * at->scale + 1.0;
    f->capital = PICK(room < -tiny, ALL((double)INFINITY), f->capital);
    all->fell |= f->capital >= f->limit;
}

#endif
