/*
 * Confidence sequences by betting, and cheaper methods.
 *
 * Betting against "the mean is mu": each bet of a geometric grid multiplies its wealth by
 * 1 + b (x - m), where m is the mean of x if mu is true, and b <= 0.9/m keeps the factor at 0.1
 * or more. If mu is true, the mean wealth is a nonnegative martingale and ever reaches 2/alpha
 * with probability at most alpha/2. The mean wealth falls as mu grows, so excluding mu excludes
 * all smaller values.
 *
 * Bisection for the largest excluded mu would replay the history some twenty times per value.
 * Instead, each side keeps one candidate slightly above its bound, and the wealth against it.
 * The history is replayed only when the candidate is excluded, which happens as rarely as the
 * bound moves.
 */
#include "pybandit/betting/confidence.h"

#include <float.h>

#include "candidate.h"
#include "tilted.h"

enum { STEPS = 256 }; /* a candidate lies width / STEPS above the bound */

static const double FINEST = 1e-9; /* smallest step of a candidate */
static const double LARGEST_SIZE = 1e200;
static const double CLOSE = 1e-9;  /* tolerance for rounding on other machines */
/* The asymptotic bound is tightest when n / (1 - n/N), the clock, has this value. */
static const double BEST_CLOCK = 1000.0;

/*
 * Sets the candidate and plays the whole history against it; returns 1 if it is excluded. If
 * n_vectors is above 0, only that many vectors of bets play, and only the last wealth counts.
 */
static int replay(pb_confidence *c, int side, const double *values, double candidate,
                  int n_vectors)
{
    c->candidate[side] = candidate;
    for (int64_t g = 0; g < c->n_bets; g++)
        c->capital[side][g] =
            !n_vectors || g < n_vectors * LANES ? 1.0 / (double)c->n_bets : 0.0;
    return play(c, side, values, 0, c->count, 0.0, n_vectors);
}

/* Returns the number of vectors of bets with a share of the wealth that is not negligible. */
static int vectors_alive(const pb_confidence *c, int side)
{
    double total = 0.0;
    for (int64_t g = 0; g < c->n_bets; g++)
        total += c->capital[side][g];
    return vectors_above(c, side, total * NEGLIGIBLE);
}

/*
 * Moves the bound of a side past every excluded candidate; `other` is the other side's bound.
 *
 * If the last value excluded the candidate, a larger one cannot have been excluded before: wealth
 * falls as the mean grows. So only its last wealth counts, and a bet has less of it than against
 * the smaller candidate.
 */
static void walk(pb_confidence *c, int side, const double *values, double other, int crossed)
{
    int n_vectors = crossed ? vectors_alive(c, side) : 0;
    while (c->candidate[side] < INFINITY) {
        double *bound = &c->bound[side];
        if (crossed)
            *bound = larger(*bound, c->candidate[side]);
        const double width = 1.0 - *bound - other;
        const double step = larger(width / STEPS, FINEST);
        /* a candidate placed when the width was twice as large is too far away */
        if (!crossed && c->candidate[side] > *bound && c->candidate[side] <= *bound + 2.0 * step)
            return;
        if (step < width)
            crossed = replay(c, side, values, *bound + step, n_vectors);
        else
            c->candidate[side] = INFINITY;
    }
}

/* Raises the bounds to the smallest mean still possible: the one if all remaining values are 0. */
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
                        play_one(c, side, values[c->count]);
    c->sum[0] += values[c->count];
    c->sum[1] += 1.0 - values[c->count];
    c->count++;
    bound_by_logic(c);
    /* both sides use the old bound of the other: reflected values give reflected bounds */
    const double others[2] = {c->bound[1], c->bound[0]};
    for (int side = 0; side < 2; side++)
        walk(c, side, values, others[side], crossed[side]);
}

/* Adds a value to the exponential forms, whose bounds follow at once. */
static void add_tilted(pb_confidence *c, double x)
{
    tilt_exponents(c, x);
    c->sum[0] += x;
    c->sum[1] += 1.0 - x;
    c->count++;
    bound_by_logic(c);
    solve(c, 0);
    solve(c, 1);
}

/* Bounds: mean +- radius, Waudby-Smith et al. 2021, Theorem 2.2; not intersected over time. */
ALWAYS_INLINE void bound_by_normal(pb_confidence *c)
{
    const double n = (double)c->count;
    double radius = INFINITY;
    if (c->count >= 2 && remaining(c, n) > 0.0) {
        const double log_term = -2.0 * log(c->alpha);
        /* size * n could overflow; such a population counts as infinite */
        const double clock = c->size < LARGEST_SIZE ? n * c->size / remaining(c, n) : n;
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

static void add_asymptotic(pb_confidence *c, double x)
{
    c->sum[0] += x;
    c->sum[1] += 1.0 - x;
    c->count++;
    const double deviation = x - c->mean;
    c->mean += deviation / (double)c->count;
    c->square += deviation * (x - c->mean);
}

/* Computes the reported bounds. A bound that the values have proved wrong is replaced by the
   end of the range that is still possible. */
ALWAYS_INLINE void report(pb_confidence *c)
{
    if (c->method == PB_CONFIDENCE_ASYMPTOTIC) {
        bound_by_normal(c);
    } else {
        c->lower = smaller(c->bound[0], 1.0 - c->drained * c->sum[1] / c->size);
        c->upper = larger(1.0 - c->bound[1], c->drained * c->sum[0] / c->size);
    }
    if (remaining(c, (double)c->count) <= 0.0)
        c->lower = c->upper = c->sum[0] / c->size;
}

void pb_confidence_init(pb_confidence *confidence, pb_confidence_method method,
                        double population, double alpha, const double *bets, int64_t n_bets,
                        int bounded)
{
    const int finite = population < INFINITY;
    *confidence = (pb_confidence){.method = method, .n_bets = n_bets, .bounded = bounded,
                                  .size = finite ? population : 1.0,
                                  .drained = finite ? 1.0 : 0.0, .alpha = alpha,
                                  .level = log(2.0 / alpha)};
    for (int64_t g = 0; g < n_bets; g++)
        confidence->bets[g] = bets[g];
    if (method == PB_CONFIDENCE_BERNSTEIN)
        prices(confidence, 1.0, confidence->price);
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
        report(confidence);
        lower[i] = confidence->lower;
        upper[i] = confidence->upper;
    }
}

static int near(double a, double b, double scale)
{
    return a == b || fabs(a - b) <= CLOSE * scale;
}

/* Returns 1 if the values exclude the bound of a side, or if it is the logical bound. */
static int is_excluded(pb_confidence *c, int side, const double *values)
{
    const double bound = c->bound[side];
    const double logic = c->drained > 0.0 ? c->sum[side] / c->size : 0.0;
    return bound == logic || (bound > logic && bound < 1.0 && replay(c, side, values, bound, 0));
}

/* Returns 1 if the wealth against a side's candidate is that of the values and excludes nothing. */
static int is_played(pb_confidence *c, int side, const double *values)
{
    const double candidate = c->candidate[side];
    if (candidate == INFINITY)
        return 1;
    double kept[PB_CONFIDENCE_BETS];
    for (int64_t g = 0; g < c->n_bets; g++)
        kept[g] = c->capital[side][g];
    int same = candidate > c->bound[side] && candidate < 1.0 &&
               !replay(c, side, values, candidate, 0);
    /* bets that are not played any more have no wealth */
    for (int64_t g = 0; same && g < c->n_bets; g++)
        same = kept[g] == 0.0 ||
               fabs(kept[g] - c->capital[side][g]) <= CLOSE * c->capital[side][g];
    return same;
}

static int betting_agrees(pb_confidence *c, const double *values)
{
    double sum[2] = {0.0, 0.0};
    for (int64_t t = 0; t < c->count; t++) {
        sum[0] += values[t];
        sum[1] += 1.0 - values[t];
    }
    if (sum[0] != c->sum[0] || sum[1] != c->sum[1])
        return 0;
    for (int side = 0; side < 2; side++) {
        const double candidate = c->candidate[side], alpha = c->alpha;
        if (!is_played(c, side, values))
            return 0;
        c->alpha *= 1.0 + CLOSE; /* the grid of another machine may differ in its last bits */
        if (!is_excluded(c, side, values))
            return 0;
        c->candidate[side] = candidate;
        c->alpha = alpha;
    }
    return 1;
}

/* Returns 1 if the bounds follow from the exponents: solving again does not move them. */
static int exponents_agree(pb_confidence *c)
{
    const double before[2] = {c->bound[0], c->bound[1]};
    for (int side = 0; side < 2; side++) {
        const double logic = c->drained > 0.0 ? c->sum[side] / c->size : 0.0;
        if (!(before[side] >= logic && before[side] <= 1.0 + CLOSE))
            return 0;
        for (int64_t g = 0; g < c->n_bets; g++)
            if (!(c->clock[g] > 0.0 && c->gain[g] <= c->clock[g] * (1.0 + CLOSE)))
                return 0;
        solve(c, side);
        if (!near(c->bound[side], before[side], 1.0))
            return 0;
    }
    return 1;
}

int pb_confidence_agrees(const pb_confidence *confidence, const double *values)
{
    pb_confidence c = *confidence;
    const double n = (double)c.count;
    if (c.count == 0)
        return 1;
    const double spread = c.bounded ? 1.0 : 1.0 + fabs(c.sum[0]) + sqrt(n * c.square);
    if (c.bounded && !(c.sum[0] >= 0.0 && c.sum[0] <= n && c.sum[1] >= 0.0 && c.sum[1] <= n &&
                       near(c.sum[0] + c.sum[1], n, n)))
        return 0;
    if (c.method == PB_CONFIDENCE_BETTING && !betting_agrees(&c, values))
        return 0;
    if ((c.method == PB_CONFIDENCE_BERNSTEIN || c.method == PB_CONFIDENCE_HOEFFDING) &&
        !exponents_agree(&c))
        return 0;
    if (c.method == PB_CONFIDENCE_ASYMPTOTIC && !near(c.mean * n, c.sum[0], spread * n))
        return 0;
    report(&c);
    return near(c.lower, confidence->lower, spread) && near(c.upper, confidence->upper, spread);
}
