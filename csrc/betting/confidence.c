/*
 * Confidence sequences by betting, and the cheaper ones it is compared with.
 *
 * Betting against "the mean is mu": each bet of a geometric grid multiplies its
 * capital by 1 + b (x - m), where m is what x is expected to be if mu is true
 * and b <= 0.9/m keeps the factor at 0.1 or more. If mu is true the mean
 * capital is a nonnegative martingale, and exceeds 2/alpha with probability at
 * most alpha/2. It falls as mu grows, so one mu that is excluded excludes all
 * below it.
 *
 * Bisection for the largest excluded mu would replay the history some twenty
 * times for every value. Instead a side keeps one candidate a little above its
 * bound and the capital against it. The history is replayed only once the
 * candidate falls, which is as rare as the bound is slow.
 */
#include "pybandit/betting/confidence.h"

#include "../_shared/wide.h"

#include <math.h>
#include <stddef.h>

enum {
    BLOCK = 64,  /* values between two looks at small capital; a multiple of LANES */
    STEPS = 256, /* a candidate is this share of the width above the bound */
    VECTORS = PB_CONFIDENCE_BETS / LANES
};

static const double CAP = 0.9;            /* of what a bet may lose; of a Bernstein bet */
static const double FINEST = 1e-9;        /* step of a candidate */
static const double SMALLEST_MEAN = 1e-9; /* m is positive; a sum may be rounded */
/* Is no denormal after 64 factors of 0.1. What is dropped is lost: the bound stays valid. */
static const double SMALLEST_CAPITAL = 0x1p-800;
/* The asymptotic bound is tightest where the clock, n / (1 - n/N), shows this. */
static const double BEST_CLOCK = 1000.0;

/* fmax and fmin are calls, for they look after NaN */
ALWAYS_INLINE double larger(double a, double b) { return a > b ? a : b; }
ALWAYS_INLINE double smaller(double a, double b) { return a < b ? a : b; }

/* A block of values as the bets see them. */
typedef struct {
    double before[BLOCK]; /* sum of the values before */
    double edge[BLOCK];   /* (x - m) N / (N - t + 1) */
    double cap[BLOCK];    /* largest bet: 0.9 / m in the same units */
} block;

/* What is left of the population before the value with index t. */
ALWAYS_INLINE double remaining(const pb_confidence *c, double t)
{
    return c->size - c->drained * t;
}

/* Fills in n values of a side from index `first`; returns the sum with them. */
ALWAYS_INLINE double prepare(block *b, const pb_confidence *c, int side, const double *values,
                             int64_t first, int n, double sum)
{
    for (int i = 0; i < n; i++) {
        b->edge[i] = side ? 1.0 - values[i] : values[i];
        b->before[i] = sum;
        sum += b->edge[i];
    }
    const double start = (double)first, total = c->size * c->candidate[side];
    for (int i = 0; i < n; i++) {
        const double inverse = 1.0 / remaining(c, start + (double)i);
        const double expected = (total - c->drained * b->before[i]) * inverse;
        const double mean = larger(expected, SMALLEST_MEAN);
        const double tilt = c->size * inverse;
        b->edge[i] = (b->edge[i] - mean) * tilt;
        b->cap[i] = CAP / (mean * tilt);
    }
    /* values that change no capital */
    for (int i = n; i % LANES; i++) {
        b->edge[i] = 0.0;
        b->cap[i] = INFINITY;
    }
    return sum;
}

typedef int64_t mask __attribute__((vector_size(sizeof(vector))));

/* out = first ? a : b, lane by lane: C has no ?: of vectors, and GCC makes this a blend */
ALWAYS_INLINE void choose(vector *out, const mask *first, const vector *a, const vector *b)
{
    *out = (vector)((*first & (mask)*a) | (~*first & (mask)*b));
}

/* four of the eight lanes of two vectors */
#ifdef __clang__
#define PICK(a, b, i, j, k, l) __builtin_shufflevector(a, b, i, j, k, l)
#else
#define PICK(a, b, i, j, k, l) __builtin_shuffle(a, b, (mask){i, j, k, l})
#endif

/* The totals of the lanes of four vectors. */
ALWAYS_INLINE void add_lanes(vector *out, const vector *in)
{
    const vector a = PICK(in[0], in[1], 0, 4, 2, 6) + PICK(in[0], in[1], 1, 5, 3, 7);
    const vector b = PICK(in[2], in[3], 0, 4, 2, 6) + PICK(in[2], in[3], 1, 5, 3, 7);
    *out = PICK(a, b, 0, 1, 4, 5) + PICK(a, b, 2, 3, 6, 7);
}

/*
 * Plays n prepared values; returns the largest total capital on the way. The
 * first n_free vectors of bets are below every cap of the block.
 */
ALWAYS_INLINE double bet(double *capital, const double *bets, const block *b, int n,
                         const int n_vectors, const int n_free)
{
    vector kept[VECTORS], stake[VECTORS], peak = {0.0};
#pragma GCC unroll 4
    for (int v = 0; v < n_vectors; v++) {
        kept[v] = *(const unaligned *)(capital + v * LANES);
        stake[v] = *(const unaligned *)(bets + v * LANES);
    }
    for (int i = 0; i < n; i += LANES) {
        vector total[LANES], sums;
#pragma GCC unroll 4
        for (int j = 0; j < LANES; j++) {
            const vector cap = b->cap[i + j] - (vector){0.0};
#pragma GCC unroll 4
            for (int v = 0; v < n_vectors; v++) {
                vector placed = stake[v];
                if (v >= n_free) {
                    const mask below = placed < cap;
                    choose(&placed, &below, &placed, &cap);
                }
                kept[v] *= 1.0 + placed * b->edge[i + j];
                total[j] = v ? total[j] + kept[v] : kept[v];
            }
        }
        add_lanes(&sums, total);
        const mask above = sums > peak;
        choose(&peak, &above, &sums, &peak);
    }
#pragma GCC unroll 4
    for (int v = 0; v < n_vectors; v++)
        *(unaligned *)(capital + v * LANES) = kept[v];
    return larger(larger(peak[0], peak[1]), larger(peak[2], peak[3]));
}

/*
 * Of the four vectors that sixteen bets are, those below every cap of the block:
 * m N / (N - t + 1) is at most its first numerator over its last denominator.
 */
ALWAYS_INLINE int count_free(const pb_confidence *c, int side, int64_t last, double sum)
{
    const double left = remaining(c, (double)last);
    const double total = c->size * c->candidate[side] - c->drained * sum;
    const double least = CAP * left * left / (c->size * larger(total, SMALLEST_MEAN * left));
    int64_t below = 0;
    while (below < c->n_bets && c->bets[below] <= least)
        below++;
    return below == c->n_bets ? 4 : (int)(below / LANES);
}

/*
 * Plays values[first .. last) against the candidate of a side, whose sum of
 * values before them is `sum`; whether that excludes it.
 */
WIDE static int play(pb_confidence *c, int side, const double *values, int64_t first,
                     int64_t last, double sum)
{
    block b;
    const double enough = 2.0 / c->alpha;
    const int n_vectors = (int)((c->n_bets + LANES - 1) / LANES);
    double *capital = c->capital[side];
    while (first < last) {
        const int64_t whole = BLOCK - first % BLOCK, left = last - first;
        const int n = (int)(left < whole ? left : whole);
        const int n_free = count_free(c, side, first + n - 1, sum);
        sum = prepare(&b, c, side, values + first, first, n, sum);
        double peak;
        if (n_vectors > 4)
            peak = bet(capital, c->bets, &b, n, n_vectors, 0);
        else
            switch (n_free) {
            case 4: peak = bet(capital, c->bets, &b, n, 4, 4); break;
            case 3: peak = bet(capital, c->bets, &b, n, 4, 3); break;
            case 2: peak = bet(capital, c->bets, &b, n, 4, 2); break;
            default: peak = bet(capital, c->bets, &b, n, 4, 0); break;
            }
        if (peak >= enough)
            return 1;
        first += n;
        if (first % BLOCK == 0)
            for (int g = 0; g < PB_CONFIDENCE_BETS; g++)
                capital[g] = capital[g] < SMALLEST_CAPITAL ? 0.0 : capital[g];
    }
    return 0;
}

/* Places the candidate and plays all of the history against it. */
static int replay(pb_confidence *c, int side, const double *values, double candidate)
{
    c->candidate[side] = candidate;
    for (int64_t g = 0; g < c->n_bets; g++)
        c->capital[side][g] = 1.0 / (double)c->n_bets;
    return play(c, side, values, 0, c->count, 0.0);
}

/* Moves the bound of a side past every candidate that falls; `other` bounds the other side. */
static void walk(pb_confidence *c, int side, const double *values, double other, int crossed)
{
    while (c->candidate[side] < INFINITY) {
        double *bound = &c->bound[side];
        if (crossed)
            *bound = larger(*bound, c->candidate[side]);
        const double width = 1.0 - *bound - other;
        const double step = larger(width / STEPS, FINEST);
        /* a candidate placed when the width was twice as large tells too little */
        if (!crossed && c->candidate[side] > *bound && c->candidate[side] <= *bound + 2.0 * step)
            return;
        if (step < width)
            crossed = replay(c, side, values, *bound + step);
        else
            c->candidate[side] = INFINITY;
    }
}

/* What the values so far leave possible: the rest are all 0 or all 1. */
static void bound_by_logic(pb_confidence *c)
{
    if (c->drained > 0.0)
        for (int side = 0; side < 2; side++)
            c->bound[side] = larger(c->bound[side], c->sum[side] / c->size);
}

static void add_betting(pb_confidence *c, const double *values)
{
    int crossed[2];
    for (int side = 0; side < 2; side++)
        crossed[side] = c->candidate[side] < INFINITY &&
                        play(c, side, values, c->count, c->count + 1, c->sum[side]);
    c->sum[0] += values[c->count];
    c->sum[1] += 1.0 - values[c->count];
    c->count++;
    bound_by_logic(c);
    /* each side sees the other as it was: reflected values give reflected bounds */
    const double others[2] = {c->bound[1], c->bound[0]};
    for (int side = 0; side < 2; side++)
        walk(c, side, values, others[side], crossed[side]);
}

/*
 * Log capital of every bet against mu; returns the largest. On side 1 the gain
 * of 1 - x is clock - gain.
 */
static double exponents(const pb_confidence *c, int side, double mu, double *out)
{
    double top = -INFINITY;
    for (int64_t g = 0; g < c->n_bets; g++) {
        const double gain = side ? c->clock[g] - c->gain[g] : c->gain[g];
        out[g] = gain - mu * c->clock[g] - c->cost[g];
        top = larger(top, out[g]);
    }
    return top;
}

/*
 * Moves the bound of a side to the mu where the mean capital is 2/alpha. The log
 * of the mean is convex and falls: Newton from below stays below.
 */
static void solve(pb_confidence *c, int side)
{
    const double level = log(2.0 / c->alpha);
    double log_capital[PB_CONFIDENCE_BETS];
    for (int iteration = 0; iteration < 50; iteration++) {
        const double top = exponents(c, side, c->bound[side], log_capital);
        if (top < level) /* so is the mean */
            return;
        double sum = 0.0, slope = 0.0;
        for (int64_t g = 0; g < c->n_bets; g++) {
            const double capital = exp(log_capital[g] - top);
            sum += capital;
            slope += capital * c->clock[g];
        }
        const double excess = top + log(sum / (double)c->n_bets) - level;
        if (excess < 1e-10)
            return;
        c->bound[side] += excess * sum / slope;
    }
}

static void add_tilted(pb_confidence *c, double x)
{
    const double left = remaining(c, (double)c->count);
    const double tilt = c->size / left, centre = c->drained * c->sum[0] / left;
    const double deviation = x - (0.5 + c->sum[0]) / (double)(c->count + 1);
    for (int64_t g = 0; g < c->n_bets; g++) {
        double stake = c->bets[g] * tilt;
        if (c->method == PB_CONFIDENCE_BERNSTEIN) {
            stake = smaller(stake, CAP);
            c->cost[g] += (-log(1.0 - stake) - stake) * (deviation * deviation);
        } else {
            c->cost[g] += stake * stake / 8.0;
        }
        c->gain[g] += stake * (x + centre);
        c->clock[g] += stake * tilt;
    }
    c->sum[0] += x;
    c->sum[1] += 1.0 - x;
    c->count++;
    bound_by_logic(c);
    solve(c, 0);
    solve(c, 1);
}

/* mean +- radius, Waudby-Smith et al. 2021, Theorem 2.2; not intersected over time. */
static void add_asymptotic(pb_confidence *c, double x)
{
    c->sum[0] += x;
    c->sum[1] += 1.0 - x;
    c->count++;
    const double n = (double)c->count, deviation = x - c->mean;
    c->mean += deviation / n;
    c->square += deviation * (x - c->mean);
    double radius = INFINITY;
    if (c->count >= 2 && remaining(c, n) > 0.0) {
        const double log_term = -2.0 * log(c->alpha);
        const double clock = n * c->size / remaining(c, n);
        const double scaled = clock * (log_term + log1p(log_term)) / BEST_CLOCK;
        radius = sqrt(c->square / (n - 1.0) * 2.0 * (scaled + 1.0) / (clock * scaled) *
                      (0.5 * log1p(scaled) - log(c->alpha)));
    }
    c->lower = c->mean - radius;
    c->upper = c->mean + radius;
    if (c->bounded) {
        c->lower = larger(c->lower, c->drained * c->sum[0] / c->size);
        c->upper = smaller(c->upper, 1.0 - c->drained * c->sum[1] / c->size);
    }
}

/* Bounds that the values have proved wrong give way to what is still possible. */
static void report(pb_confidence *c)
{
    c->lower = smaller(c->bound[0], 1.0 - c->drained * c->sum[1] / c->size);
    c->upper = larger(1.0 - c->bound[1], c->drained * c->sum[0] / c->size);
}

void pb_confidence_init(pb_confidence *confidence, pb_confidence_method method,
                        double population, double alpha, const double *bets, int64_t n_bets,
                        int bounded)
{
    const int finite = population < INFINITY;
    *confidence = (pb_confidence){.method = method, .n_bets = n_bets, .bounded = bounded,
                                  .size = finite ? population : 1.0,
                                  .drained = finite ? 1.0 : 0.0, .alpha = alpha};
    for (int64_t g = 0; g < n_bets; g++)
        confidence->bets[g] = bets[g];
    confidence->lower = bounded ? 0.0 : -INFINITY;
    confidence->upper = bounded ? 1.0 : INFINITY;
}

void pb_confidence_add(pb_confidence *confidence, const double *values, int64_t n,
                       double *lower, double *upper)
{
    const int again = confidence->method == PB_CONFIDENCE_BETTING;
    const double *all = again ? values - confidence->count : values;
    for (int64_t i = 0; i < n; i++) {
        switch (confidence->method) {
        case PB_CONFIDENCE_BETTING: add_betting(confidence, all); break;
        case PB_CONFIDENCE_ASYMPTOTIC: add_asymptotic(confidence, values[i]); break;
        default: add_tilted(confidence, values[i]); break;
        }
        if (confidence->method != PB_CONFIDENCE_ASYMPTOTIC)
            report(confidence);
        if (remaining(confidence, (double)confidence->count) <= 0.0)
            confidence->lower = confidence->upper = confidence->sum[0] / confidence->size;
        lower[i] = confidence->lower;
        upper[i] = confidence->upper;
    }
}
