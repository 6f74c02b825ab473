#ifndef CANDIDATE_H
#define CANDIDATE_H

/*
 * The wealth of bets against one candidate for a bound, value by value: the hot loop of
 * confidence sequences by betting. Private to confidence.c.
 */
#include "pybandit/betting/confidence.h"

#include "../_shared/wide.h"

#include <math.h>
#include <stddef.h>

enum {
    BLOCK = 64, /* values between two removals of small wealth; a multiple of LANES */
    VECTORS = PB_CONFIDENCE_BETS / LANES
};

static const double CAP = 0.9;            /* share of wealth at risk; Bernstein bet */
static const double SMALLEST_MEAN = 1e-9; /* keeps m positive despite rounding */
/* Stays normal after 64 factors of 0.1. Smaller wealth is set to 0; the bound stays valid. */
static const double SMALLEST_CAPITAL = 0x1p-800;
/* Bets with a smaller share of the wealth are not played again; the bound stays valid. */
static const double NEGLIGIBLE = 0x1p-70;

/* A block of values, prepared for the bets. */
typedef struct {
    double before[BLOCK]; /* sum of the earlier values */
    double edge[BLOCK];   /* (x - m) N / (N - t + 1) */
    double cap[BLOCK];    /* largest bet: 0.9 / m in these units */
} block;

/* Returns the size of the remaining population before the value with index t. */
ALWAYS_INLINE double remaining(const pb_confidence *c, double t)
{
    return c->size - c->drained * t;
}

/*
 * Prepares n values of a side from index `first`; returns the sum of values including them.
 * Without `drains` the values are independent, so that m never changes; the sum is not computed.
 * Without `caps` no bet reaches its cap. Either saves a division per value.
 */
ALWAYS_INLINE double prepare(block *b, const pb_confidence *c, int side, const double *values,
                             int64_t first, int n, double sum, const int drains, const int caps)
{
    for (int i = 0; i < n; i++) {
        b->edge[i] = side ? 1.0 - values[i] : values[i];
        b->before[i] = sum;
        if (drains)
            sum += b->edge[i];
    }
    const double start = (double)first, total = c->size * c->candidate[side];
    for (int i = 0; i < n; i++) {
        const double inverse = drains ? 1.0 / remaining(c, start + (double)i) : 1.0;
        const double expected = drains ? (total - c->drained * b->before[i]) * inverse : total;
        const double mean = larger(expected, SMALLEST_MEAN);
        const double tilt = c->size * inverse;
        b->edge[i] = (b->edge[i] - mean) * tilt;
        if (caps)
            b->cap[i] = CAP / (mean * tilt);
    }
    /* padding that does not change the wealth */
    for (int i = n; i % LANES; i++) {
        b->edge[i] = 0.0;
        b->cap[i] = INFINITY;
    }
    return sum;
}

/* four of the eight lanes of two vectors, selected by index */
#if defined(HAS_VECTORS) && defined(__clang__)
#define SHUFFLE(a, b, i, j, k, l) __builtin_shufflevector(a, b, i, j, k, l)
#elif defined(HAS_VECTORS)
#define SHUFFLE(a, b, i, j, k, l) __builtin_shuffle(a, b, (mask){i, j, k, l})
#endif

/* Writes the sum of the lanes of each of four vectors. */
ALWAYS_INLINE void add_lanes(vector *out, const vector *in)
{
#ifdef SHUFFLE
    const vector a = SHUFFLE(in[0], in[1], 0, 4, 2, 6) + SHUFFLE(in[0], in[1], 1, 5, 3, 7);
    const vector b = SHUFFLE(in[2], in[3], 0, 4, 2, 6) + SHUFFLE(in[2], in[3], 1, 5, 3, 7);
    *out = SHUFFLE(a, b, 0, 1, 4, 5) + SHUFFLE(a, b, 2, 3, 6, 7);
#else
    for (int v = 0; v < LANES; v++)
        LANE(*out, v) = (LANE(in[v], 0) + LANE(in[v], 1)) + (LANE(in[v], 2) + LANE(in[v], 3));
#endif
}

ALWAYS_INLINE double sum_of_lanes(const vector *v)
{
    return (LANE(*v, 0) + LANE(*v, 1)) + (LANE(*v, 2) + LANE(*v, 3));
}

/*
 * Plays n prepared values; returns the largest total wealth along the way, or only the last one
 * if `peaks` is 0. The first n_free vectors of bets are below every cap of the block.
 */
ALWAYS_INLINE double bet(double *capital, const double *bets, const block *b, int n,
                         const int n_vectors, const int n_free, const int peaks)
{
    vector kept[VECTORS], stake[VECTORS], peak = ALL(0.0);
    UNROLL
    for (int v = 0; v < n_vectors; v++) {
        kept[v] = LOAD(capital + v * LANES);
        stake[v] = LOAD(bets + v * LANES);
    }
    for (int i = 0; i < n; i += LANES) {
        vector total[LANES], sums;
        UNROLL
        for (int j = 0; j < LANES; j++) {
            const double most = b->cap[i + j], edge = b->edge[i + j];
            const vector cap = ALL(most);
            UNROLL
            for (int v = 0; v < n_vectors; v++) {
                vector placed = stake[v];
                if (v >= n_free)
                    EACH placed L = PICK(placed L < cap L, placed L, cap L);
                EACH kept[v] L *= 1.0 + placed L * edge;
                if (peaks)
                    EACH total[j] L = v ? total[j] L + kept[v] L : kept[v] L;
            }
        }
        if (peaks) {
            add_lanes(&sums, total);
            EACH peak L = PICK(sums L > peak L, sums L, peak L);
        }
    }
    UNROLL
    for (int v = 0; v < n_vectors; v++)
        STORED(capital + v * LANES) = kept[v];
    if (!peaks) {
        UNROLL
        for (int v = 1; v < n_vectors; v++)
            EACH kept[0] L += kept[v] L;
        return sum_of_lanes(&kept[0]);
    }
    return larger(larger(LANE(peak, 0), LANE(peak, 1)), larger(LANE(peak, 2), LANE(peak, 3)));
}

/*
 * Returns how many of the first four vectors of bets are below every cap of the block. The
 * caps are bounded below with m N / (N - t + 1) <= (first numerator) / (last denominator).
 */
ALWAYS_INLINE int count_free(const pb_confidence *c, int side, int64_t last, double sum)
{
    const double left = remaining(c, (double)last);
    const double total = c->size * c->candidate[side] - c->drained * sum;
    const double least = CAP * left * left / (c->size * larger(total, SMALLEST_MEAN * left));
    int64_t below = 0;
    while (below < c->n_bets && c->bets[below] <= least)
        below++;
    return below == c->n_bets || below > 4 * LANES ? 4 : (int)(below / LANES);
}

/* Plays n prepared values with all bets; see bet(). */
ALWAYS_INLINE double bet_all(double *capital, const double *bets, const block *b, int n,
                             int n_vectors, int n_free, const int peaks)
{
    if (n_vectors > 4)
        return bet(capital, bets, b, n, n_vectors, 0, peaks);
    switch (n_free) {
    case 4: return bet(capital, bets, b, n, 4, 4, peaks);
    case 3: return bet(capital, bets, b, n, 4, 3, peaks);
    case 2: return bet(capital, bets, b, n, 4, 2, peaks);
    default: return bet(capital, bets, b, n, 4, 0, peaks);
    }
}

/* Plays n prepared values with the first few vectors of bets; returns the last total wealth. */
ALWAYS_INLINE double bet_few(double *capital, const double *bets, const block *b, int n,
                             int n_vectors, int n_free)
{
    if (n_vectors <= n_free) /* no caps */
        switch (n_vectors) {
        case 1: return bet(capital, bets, b, n, 1, 1, 0);
        case 2: return bet(capital, bets, b, n, 2, 2, 0);
        case 3: return bet(capital, bets, b, n, 3, 3, 0);
        default: break;
        }
    return bet_all(capital, bets, b, n, n_vectors > 4 ? n_vectors : 4, n_free, 0);
}

static void drop_small(double *capital)
{
    for (int g = 0; g < PB_CONFIDENCE_BETS; g++)
        capital[g] = capital[g] < SMALLEST_CAPITAL ? 0.0 : capital[g];
}

/* Returns the number of vectors up to the last bet whose wealth is at least `least`, or above 0. */
static int vectors_above(const pb_confidence *c, int side, double least)
{
    int64_t last = c->n_bets;
    while (last > 1 && (c->capital[side][last - 1] < least || c->capital[side][last - 1] == 0.0))
        last--;
    return (int)((last + LANES - 1) / LANES);
}

/*
 * Plays values[first .. last) against the candidate of a side; `sum` is the sum of the earlier
 * values of that side. Returns 1 if the candidate is excluded: at any time, or if n_vectors is
 * above 0, after the last value, by the bets of that many vectors.
 */
WIDE static int play(pb_confidence *c, int side, const double *values, int64_t first,
                     int64_t last, double sum, int n_vectors)
{
    block b;
    const double enough = 2.0 / c->alpha;
    const int all = (int)((c->n_bets + LANES - 1) / LANES);
    double *capital = c->capital[side], wealth = 0.0;
    while (first < last) {
        const int64_t whole = BLOCK - first % BLOCK, left = last - first;
        const int n = (int)(left < whole ? left : whole);
        const int n_free = count_free(c, side, first + n - 1, sum);
        const int played = n_vectors ? n_vectors : all;
        /* bet_all() plays at least four vectors, some perhaps without bets */
        const int caps = played > 4 || n_free < (n_vectors ? played : 4);
        if (c->drained == 0.0)
            prepare(&b, c, side, values + first, first, n, sum, 0, 1);
        else if (caps)
            sum = prepare(&b, c, side, values + first, first, n, sum, 1, 1);
        else
            sum = prepare(&b, c, side, values + first, first, n, sum, 1, 0);
        wealth = n_vectors ? bet_few(capital, c->bets, &b, n, n_vectors, n_free)
                           : bet_all(capital, c->bets, &b, n, all, n_free, 1);
        if (!n_vectors && wealth >= enough)
            return 1;
        first += n;
        if (first % BLOCK == 0)
            drop_small(capital);
    }
    return n_vectors && wealth >= enough;
}

/* Plays one more value, as play() does; most values need nothing else. */
WIDE static int play_one(pb_confidence *c, int side, double value)
{
    const double inverse = 1.0 / remaining(c, (double)c->count), tilt = c->size * inverse;
    const double expected =
        (c->size * c->candidate[side] - c->drained * c->sum[side]) * inverse;
    const double mean = larger(expected, SMALLEST_MEAN);
    const double edge = ((side ? 1.0 - value : value) - mean) * tilt, most = CAP / (mean * tilt);
    double *const capital = c->capital[side];
    const int n_vectors = vectors_above(c, side, 0.0);
    vector total = ALL(0.0);
    const vector cap = ALL(most);
    for (int v = 0; v < n_vectors; v++) {
        vector kept = LOAD(capital + v * LANES), placed = LOAD(c->bets + v * LANES);
        EACH placed L = PICK(placed L < cap L, placed L, cap L);
        EACH kept L *= 1.0 + placed L * edge;
        EACH total L = v ? total L + kept L : kept L;
        STORED(capital + v * LANES) = kept;
    }
    if (sum_of_lanes(&total) >= 2.0 / c->alpha)
        return 1;
    if ((c->count + 1) % BLOCK == 0)
        drop_small(capital);
    return 0;
}

#endif
