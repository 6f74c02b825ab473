/*
 * Confidence sequences by betting, and cheaper methods.
 *
 * Betting against "the mean is mu": each bet multiplies its wealth by 1 + b (x - m), where m is the
 * mean of x if mu is true (pybandit/betting/scaled.h). If mu is true, the total wealth is a
 * nonnegative martingale and ever reaches 2/alpha with probability at most alpha/2. The wealth
 * falls as mu grows, so excluding mu excludes all smaller values.
 *
 * Bisection for the largest excluded mu would replay the history some twenty times per value.
 * Instead, each side keeps one candidate slightly above its bound, and the wealth against it. When
 * it is excluded, the next one starts with a lower bound on its wealth that follows from a second
 * candidate further above (candidate.h). The history is replayed only when the bound reaches that,
 * or the width has become much smaller than the distance.
 *
 * Up to HAND values are tried together against the candidates, because wealth is needed only to
 * see whether a value excludes one. This changes no bit.
 */
#include "pybandit/betting/confidence.h"

#include <float.h>
#include <stddef.h>

#include "candidate.h"
#include "tilted.h"

enum {
    STEPS = 256, /* a candidate lies width / STEPS above the bound */
    MANY = 1000, /* from this number of values on, candidates ahead may be further away: the bound
                    on the wealth improves with the number (`furthest`) */
    FEW = 128    /* up to as many values, every candidate is played exactly */
};

static const double FINEST = 1e-9; /* smallest step of a candidate */
static const double LARGEST_SIZE = 1e200;
static const double CLOSE = 1e-9;  /* tolerance for rounding on other machines */
/* The asymptotic bound is tightest when n / (1 - n/N), the clock, has this value. */
static const double BEST_CLOCK = 1000.0;

/*
 * Returns how far away, in widths, a candidate ahead may be. For bets below their caps the bound on
 * the log wealth leaves out the third order in the distance. A bet that decides about the bound is
 * about sqrt(2 log(2/alpha) / n) standard deviations, and so is the width. At k widths the error is
 * therefore at most about (2 k log(2/alpha))^3 / (3 n^2).
 */
static double furthest(int64_t count)
{
    return larger(0.5, smaller((double)count / MANY, 64.0));
}

/* Sets the next candidate of a side; returns its wealth, or a lower bound on it. */
static double place(pb_confidence *c, int side, const pb_scaled_value *history, double mean,
                    double width)
{
    pb_candidate *next = &c->candidate[side], *ahead = &c->ahead[side];
    if (c->count <= FEW) {
        begin_candidate(&c->scaled, next, mean);
        return play(&c->scaled, next, side, history, 0, c->count, 0.0);
    }
    if (!(mean < ahead->mean && ahead->mean - mean <= furthest(c->count) * width)) {
        ahead->reach = width / (c->count < MANY ? 4.0 : 2.0);
        begin_candidate(&c->scaled, ahead, mean + ahead->reach);
        play_ahead(&c->scaled, ahead, side, history, 0, c->count, 0.0);
    }
    return place_below(ahead, next, mean);
}

/* Returns 1 if a side needs no new candidate unless the present one is excluded. */
static int is_settled(const pb_confidence *c, int side)
{
    const double candidate = c->candidate[side].mean, bound = c->bound[side];
    const double width = 1.0 - bound - c->bound[!side];
    /* a candidate placed when the width was twice as large is too far away */
    return !(candidate < INFINITY) ||
           (candidate > bound && candidate <= bound + 2.0 * larger(width / STEPS, FINEST));
}

/* Moves the bound of a side past every excluded candidate; `other` is the other side's bound. */
static void walk(pb_confidence *c, int side, const pb_scaled_value *history, double other,
                 int crossed)
{
    double *candidate = &c->candidate[side].mean, *bound = &c->bound[side];
    const double enough = 2.0 / c->alpha;
    while (*candidate < INFINITY) {
        if (crossed)
            *bound = larger(*bound, *candidate);
        const double width = 1.0 - *bound - other;
        const double step = larger(width / STEPS, FINEST);
        /* a candidate placed when the width was twice as large is too far away */
        if (!crossed && *candidate > *bound && *candidate <= *bound + 2.0 * step)
            return;
        if (step < width)
            crossed = place(c, side, history, *bound + step, width) >= enough;
        else
            *candidate = INFINITY;
    }
}

/* Raises the bounds to the smallest mean still possible: the one if all remaining values are 0. */
static void bound_by_logic(pb_confidence *c)
{
    if (c->drained > 0.0)
        for (int side = 0; side < 2; side++)
            c->bound[side] = larger(c->bound[side], c->sum[side] / c->size);
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

/* Values that are added together, with the sums of each side before and after each of them. */
typedef struct {
    int n;
    double before[2][HAND], after[2][HAND];
} additions;

static void add_up(const pb_confidence *c, const double *values, int n, additions *a)
{
    double sums[2] = {c->sum[0], c->sum[1]};
    a->n = n;
    for (int i = 0; i < n; i++) {
        a->before[0][i] = sums[0];
        a->before[1][i] = sums[1];
        a->after[0][i] = sums[0] += values[i];
        a->after[1][i] = sums[1] += 1.0 - values[i];
    }
}

/* Plays values first .. last of the additions against all candidates. `tried` is the wealth of the
   next candidates then, or NULL if fewer values are played than were tried. */
static void settle(pb_confidence *c, const pb_scaled_value *history, const additions *a,
                   int first, int last, double (*tried)[PB_SCALED_BETS])
{
    const int64_t end = c->count, begin = end - (last - first);
    for (int side = 0; side < 2; side++) {
        const double sum = a->before[side][first];
        pb_candidate *const next = &c->candidate[side];
        if (next->mean < INFINITY && !tried)
            play(&c->scaled, next, side, history, begin, end, sum);
        for (int g = 0; g < PB_SCALED_BETS && next->mean < INFINITY && tried; g++)
            next->capital[g] = tried[side][g];
        if (c->ahead[side].mean < INFINITY)
            play_ahead(&c->scaled, &c->ahead[side], side, history, begin, end, sum);
    }
}

/*
 * Adds values from `first` on, up to the first one that needs a new candidate. Returns how many of
 * the additions were added. All are tried together against both candidates, which takes a third of
 * the time of one after the other.
 */
static int add_until_excluded(pb_confidence *c, const pb_scaled_value *history,
                              const additions *a, int first, double *lower, double *upper)
{
    /* the first values exclude a candidate nearly every time */
    const int n = c->count < FEW ? 1 : a->n - first;
    const int64_t begin = c->count;
    double capital[2][PB_SCALED_BETS], wealth[2][HAND];
    int crossed[2] = {0, 0}, i = 0;
    for (int side = 0; side < 2; side++)
        if (c->candidate[side].mean < INFINITY)
            try_hand(&c->scaled, &c->candidate[side], side, history + begin, begin, n,
                     a->before[side] + first, capital[side], wealth[side]);
        else
            for (int j = 0; j < n; j++)
                wealth[side][j] = 0.0;
    for (int stops = 0; i < n && !stops; i++) {
        for (int side = 0; side < 2; side++)
            c->sum[side] = a->after[side][first + i];
        c->count++;
        bound_by_logic(c);
        for (int side = 0; side < 2; side++)
            crossed[side] = wealth[side][i] >= 2.0 / c->alpha;
        stops = crossed[0] || crossed[1] || !is_settled(c, 0) || !is_settled(c, 1);
        if (stops)
            continue;
        report(c);
        lower[first + i] = c->lower;
        upper[first + i] = c->upper;
    }
    settle(c, history, a, first, first + i, i == n ? capital : NULL);
    /* both sides use the old bound of the other: reflected values give reflected bounds */
    const double others[2] = {c->bound[1], c->bound[0]};
    for (int side = 0; side < 2; side++)
        walk(c, side, history, others[side], crossed[side]);
    report(c);
    lower[first + i - 1] = c->lower;
    upper[first + i - 1] = c->upper;
    return first + i;
}

static void add_betting(pb_confidence *c, const double *values, int64_t n,
                        pb_scaled_value *history, double *lower, double *upper)
{
    for (int64_t i = 0, size; i < n; i += size) {
        size = HAND - c->count % HAND;
        size = size < n - i ? size : n - i;
        additions a;
        add_up(c, values + i, (int)size, &a);
        pb_scaled_prepare(&c->scaled, &c->moments, values + i, size, history + c->count);
        for (int done = 0; done < a.n;)
            done = add_until_excluded(c, history, &a, done, lower + i, upper + i);
    }
}

static void add_asymptotic(pb_confidence *c, const double *values, int64_t n, double *lower,
                           double *upper)
{
    for (int64_t i = 0; i < n; i++) {
        const double x = values[i], deviation = x - c->mean;
        c->sum[0] += x;
        c->sum[1] += 1.0 - x;
        c->count++;
        c->mean += deviation / (double)c->count;
        c->square += deviation * (x - c->mean);
        report(c);
        lower[i] = c->lower;
        upper[i] = c->upper;
    }
}

/* Adds the values of a piece to the exponential forms, whose bounds follow at once. */
static void add_piece(pb_confidence *c, const double *values, int n, double *lower, double *upper)
{
    piece p;
    int added = 0;
    find_base(c, c->count);
    prepare(c, values, n, &p);
    for (int i = 0; i < n; i++) {
        for (int side = 0; side < 2; side++)
            c->bound[side] = larger(c->bound[side], p.logic[side][i]);
        for (int side = 0; side < 2; side++) {
            if (stays(&c->screen[side], side, p.tilt[i], p.excess[i], p.square[i]))
                continue;
            add_exponents(c, &p, added, i + 1);
            added = i + 1;
            solve(c, side);
        }
        lower[i] = smaller(c->bound[0], 1.0 - p.logic[1][i]);
        upper[i] = larger(1.0 - c->bound[1], p.logic[0][i]);
    }
    add_exponents(c, &p, added, n);
    c->count += n;
    c->sum[0] = p.sum[0][n - 1];
    c->sum[1] = p.sum[1][n - 1];
    report(c); /* may be the last value of the population */
    lower[n - 1] = c->lower;
    upper[n - 1] = c->upper;
}

static void add_tilted(pb_confidence *c, const double *values, int64_t n, double *lower,
                       double *upper)
{
    for (int64_t i = 0, size; i < n; i += size) {
        size = PIECE - c->count % PIECE;
        size = size < n - i ? size : n - i;
        add_piece(c, values + i, (int)size, lower + i, upper + i);
    }
}

void pb_confidence_init(pb_confidence *confidence, pb_confidence_method method,
                        double population, double alpha, const pb_scaled *scaled,
                        const double *bets, int64_t n_bets, int bounded)
{
    const int finite = population < INFINITY;
    *confidence = (pb_confidence){.method = method, .n_bets = n_bets, .bounded = bounded,
                                  .size = finite ? population : 1.0,
                                  .drained = finite ? 1.0 : 0.0, .alpha = alpha,
                                  .level = log(2.0 / alpha * larger((double)n_bets, 1.0))};
    for (int64_t g = 0; g < n_bets; g++)
        confidence->bets[g] = bets[g];
    if (method == PB_CONFIDENCE_BETTING)
        confidence->scaled = *scaled;
    for (int side = 0; side < 2; side++)
        confidence->ahead[side].mean = INFINITY;
    for (int side = 0; side < 2; side++)
        confidence->screen[side].most = -INFINITY; /* evaluate at the first value */
    confidence->lower = bounded ? 0.0 : -INFINITY;
    confidence->upper = bounded ? 1.0 : INFINITY;
}

void pb_confidence_add(pb_confidence *confidence, const double *values, int64_t n,
                       pb_scaled_value *history, double *lower, double *upper)
{
    switch (confidence->method) {
    case PB_CONFIDENCE_BETTING:
        add_betting(confidence, values, n, history, lower, upper);
        break;
    case PB_CONFIDENCE_ASYMPTOTIC: add_asymptotic(confidence, values, n, lower, upper); break;
    default: add_tilted(confidence, values, n, lower, upper); break;
    }
}

static int is_near(double a, double b, double scale)
{
    return a == b || fabs(a - b) <= CLOSE * scale;
}

/* Returns 1 if the bounds follow from the exponents: solving again does not move them. */
static int exponents_agree(pb_confidence *c)
{
    const double before[2] = {c->bound[0], c->bound[1]};
    find_base(c, c->count - 1);
    for (int side = 0; side < 2; side++) {
        const double logic = c->drained > 0.0 ? c->sum[side] / c->size : 0.0;
        if (!(before[side] >= logic && before[side] <= 1.0 + CLOSE))
            return 0;
        for (int64_t g = 0; g < c->n_bets; g++)
            if (!(c->clock[g] > 0.0 && c->gain[g] <= c->clock[g] * (1.0 + CLOSE)))
                return 0;
        solve(c, side);
        if (!is_near(c->bound[side], before[side], 1.0))
            return 0;
    }
    return 1;
}

int pb_confidence_agrees(const pb_confidence *confidence)
{
    pb_confidence c = *confidence;
    const double n = (double)c.count;
    if (c.count == 0)
        return 1;
    const double spread = c.bounded ? 1.0 : 1.0 + fabs(c.sum[0]) + sqrt(n * c.square);
    if (c.bounded && !(c.sum[0] >= 0.0 && c.sum[0] <= n && c.sum[1] >= 0.0 && c.sum[1] <= n &&
                       is_near(c.sum[0] + c.sum[1], n, n)))
        return 0;
    if ((c.method == PB_CONFIDENCE_BERNSTEIN || c.method == PB_CONFIDENCE_HOEFFDING) &&
        !exponents_agree(&c))
        return 0;
    if (c.method == PB_CONFIDENCE_ASYMPTOTIC && !is_near(c.mean * n, c.sum[0], spread * n))
        return 0;
    report(&c);
    return is_near(c.lower, confidence->lower, spread) &&
           is_near(c.upper, confidence->upper, spread);
}
