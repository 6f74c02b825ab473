#ifndef PLUG_FOUR_H
#define PLUG_FOUR_H

/* Plug-in bets on four arms at a time, one per lane (pybandit/betting/bets.h). Private to
   plug_in.h. */
#include "pybandit/betting/betting.h"

#include <math.h>

#include "wealth.h"

enum { GROUPS = 3, RANKED = PB_BETTING_RANKED, MEMBERS = RANKED - 1 };

/* Mean scores and rewards of the groups that four arms are compared with. */
typedef struct {
    vector score[GROUPS], reward[GROUPS];
    vector sum[GROUPS], over[GROUPS], raw[GROUPS]; /* only with predictions */
} groups;

/* State of four arms, and their rewards of one item. */
typedef struct {
    vector score, reward, squares[GROUPS], capital, limit, outside;
    vector sum, under, raw;          /* only with predictions */
} four;

/* Values that all arms share for one item. */
typedef struct {
    double range, gain;          /* range, PLUG_GAIN range */
    double per_left, tilt;       /* 1 / items left, N / items left */
    double scale;                /* factor of all bets */
} moment;

/* Sums over the bets on an item: gains and their squares; `fell`: hypotheses rejected. */
typedef struct {
    vector won, promised;
    mask fell;
} outcome;

/* Computes, from the first four other arms, the first, the mean of two, and the mean of four. */
ALWAYS_INLINE void plug_means(vector *out, const vector *first, const vector *second,
                              const vector *third, const vector *fourth)
{
    VECTOR(two, (*first) L + (*second) L);
    out[0] = *first;
    EACH out[1] L = two L * 0.5;
    EACH out[2] L = (two L + (*third) L + (*fourth) L) * 0.25;
}

/* Computes the groups for the first four arms: each is compared with the others. */
ALWAYS_INLINE void plug_among(vector *out, const double *s)
{
    const vector first = FOUR(s[1], s[0], s[0], s[0]), second = FOUR(s[2], s[2], s[1], s[1]);
    const vector third = FOUR(s[3], s[3], s[3], s[2]), fourth = ALL(s[4]);
    plug_means(out, &first, &second, &third, &fourth);
}

/* Computes the groups for all other arms. */
ALWAYS_INLINE void plug_above(vector *out, const double *s)
{
    const vector first = ALL(s[0]), second = ALL(s[1]), third = ALL(s[2]), fourth = ALL(s[3]);
    plug_means(out, &first, &second, &third, &fourth);
}

/* hoped = max(0, promised + gain) */
ALWAYS_INLINE void plug_hoped(vector *hoped, const vector *promised, double gain)
{
    const vector none = ALL(0.0);
    EACH (*hoped) L = PICK((*promised) L + gain > none L, (*promised) L + gain, none L);
}

/*
 * Bets on four arms, each on the group that promises the largest gain, and adds the item to the
 * sums of squares, one per group. The wealth becomes infinite if the hypothesis is impossible.
 * `counts` is 0 for lanes that do not count in `all` because they are bet on elsewhere.
 */
ALWAYS_INLINE void plug_four(const groups *rivals, const moment *at, const vector *counts, four *f,
                             outcome *all, const int predicted)
{
    const vector none = ALL(0.0), tiny = ALL(2.0 * TINY * at->range);
    vector lead = none, spread = none, gap = none, difference = none;
    vector over = none, raw = none;
    for (int g = 0; g < GROUPS; g++) {
        VECTOR(ahead, rivals->score[g] L - f->score L);
        VECTOR(promised, predicted ? rivals->sum[g] L - f->sum L : ahead L);
        VECTOR(beats, rivals->reward[g] L - f->reward L);
        const vector square = f->squares[g];
        vector hoped, best;
        plug_hoped(&hoped, &promised, at->gain);
        plug_hoped(&best, &lead, at->gain);
        MASK(better, hoped L * hoped L * spread L > best L * best L * square L);
        EACH lead L = g ? PICK(better L, promised L, lead L) : promised L;
        EACH spread L = g ? PICK(better L, square L, spread L) : square L;
        EACH gap L = g && predicted ? PICK(better L, ahead L, gap L)
                     : predicted    ? ahead L
                                    : lead L;
        EACH difference L = g ? PICK(better L, beats L, difference L) : beats L;
        if (predicted) {
            VECTOR(beats_raw, rivals->raw[g] L - f->raw L);
            EACH over L = g ? PICK(better L, rivals->over[g] L, over L) : rivals->over[g] L;
            EACH raw L = g ? PICK(better L, beats_raw L, raw L) : beats_raw L;
        }
        EACH f->squares[g] L += beats L * beats L;
    }
    vector num;
    plug_hoped(&num, &lead, at->gain);
    VECTOR(expected, gap L * -at->per_left);
    VECTOR(room, expected L + at->range);
    VECTOR(mean, PICK(room L > tiny L, room L, tiny L) - at->range);
    VECTOR(least, mean L + at->range);
    VECTOR(wanted, num L * at->tilt);
    if (predicted) {
        /* A wrong prediction increases the worst loss. If that limits the bet, the prediction is
           not used. */
        VECTOR(worst, least L + over L + f->under L);
        MASK(tight, wanted L * worst L > spread L * RISK);
        EACH least L = PICK(tight L, least L, worst L);
        EACH difference L = PICK(tight L, raw L, difference L);
    }
    /* min(wanted / spread, RISK / least), with one division */
    MASK(free, wanted L * least L < spread L * RISK);
    VECTOR(bet, PICK(free L, wanted L, EVERY(RISK)) / PICK(free L, spread L, least L));
    VECTOR(edge, PICK(expected L < at->range, difference L - mean L, none L));
    VECTOR(gain, bet L * edge L);
    VECTOR(counted, gain L * (*counts) L);
    EACH all->won L += counted L;
    EACH all->promised L += counted L * counted L;
    EACH f->capital L *= gain L * at->scale + 1.0;
    EACH f->capital L = PICK(room L < -tiny L, EVERY((double)INFINITY), f->capital L);
    EACH all->fell L |= f->capital L >= f->limit L;
}

#endif
