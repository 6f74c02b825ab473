/*
 * Updates arms only if they may be the largest (pybandit/policies/correlated/gaussian_lazy.h).
 *
 * A reward of arm a moves the mean of arm k by cov(k, a) change. By the Cauchy-Schwarz inequality
 * this is at most std_k std_a |change|, and variances only shrink. With std_k as of the last
 * refresh of arm k,
 *     mean_k now <= mean_k then + std_k (drift now - drift then),
 *     drift += std_a |change|,
 * so the score of k is at most ceiling_k + (factor + drift) std_k, where
 *     ceiling_k = mean_k - drift std_k
 * is stored per arm: a line in the variable factor + drift, whatever the time of its refresh. A
 * block stores the maximum of its lines at one level of that variable, and the steepest slope.
 *
 * Rounding: lines use the standard deviation of variance + blur * norm. This covers the errors of
 * products of features and spread, which are relative to the prior variance. They affect
 * variances and, times |change|, means. `margin` covers the summation of means: it is relative
 * to the longest features and the largest weight vector so far.
 */
#include <math.h>
#include <stddef.h>

#include "pybandit/policies/correlated/gaussian_lazy.h"
#include "pybandit/policies/protocol/scan.h"
#include "../../_shared/prefetch.h"
#include "gaussian_arm.h"

enum { BLOCK = 64, LINE = 8 /* doubles per cache line */ };

/* Above this drift lines are imprecise: all arms are refreshed, and the drift restarts at 0. */
static const double FAR = 1e4;

ALWAYS_INLINE int64_t padded(int64_t d) { return (d + LANES - 1) / LANES * LANES; }
ALWAYS_INLINE int64_t blocks_of(int64_t n) { return (n + BLOCK - 1) / BLOCK; }

int64_t pb_gaussian_lazy_size(int64_t n_arms, int64_t n_features)
{
    const int64_t d = n_features;
    return 2 * n_arms + 4 * blocks_of(n_arms) + d * (padded(d) + 1) + d * (d + 2) + padded(d);
}

static void lay_out(pb_gaussian_lazy *lazy)
{
    const int64_t n = lazy->gaussian->n_arms, d = lazy->gaussian->n_features;
    const int64_t n_blocks = blocks_of(n);
    lazy->ceilings = lazy->memory;
    lazy->slopes = lazy->ceilings + n;
    lazy->tops = lazy->slopes + n;
    lazy->leans = lazy->tops + n_blocks;
    lazy->levels = lazy->leans + n_blocks;
    lazy->bounds = lazy->levels + n_blocks;
    lazy->base = lazy->bounds + n_blocks;
    lazy->steps = lazy->base + d * (padded(d) + 1);
    lazy->row = lazy->steps + d * (d + 2);
}

/* Stores in `base` the weights, then L by rows, each padded with zeros. */
static void keep_base(pb_gaussian_lazy *lazy)
{
    const int64_t d = lazy->gaussian->n_features, width = padded(d);
    double *rows = lazy->base + d;
    for (int64_t i = 0; i < d; i++) {
        lazy->base[i] = lazy->gaussian->weights[i];
        for (int64_t j = 0; j < width; j++)
            rows[i * width + j] = j <= i ? lazy->gaussian->spread[j * d + i] : 0.0;
    }
}

/* Returns |L' x|^2. */
ALWAYS_INLINE double base_variance(const pb_gaussian_lazy *lazy, const double *x)
{
    const int64_t d = lazy->gaussian->n_features, width = padded(d);
    const double *rows = lazy->base + d;
    double *restrict sums = lazy->row;
    for (int64_t j = 0; j < width; j++)
        sums[j] = 0.0;
    for (int64_t i = 0; i < d; i++, rows += width)
        for (int64_t j = 0; j <= i; j += LANES)
            EACH STORED(sums + j) L += LOAD(rows + j) L * x[i];
    return dot(sums, sums, width);
}

/* Sets the line of an arm just refreshed; if it overflows, the arm's bound is infinite. */
ALWAYS_INLINE void draw_line(pb_gaussian_lazy *lazy, int64_t k)
{
    const double slope = sqrt(lazy->gaussian->variances[k] + lazy->blur * lazy->norms[k]);
    const double ceiling = lazy->gaussian->means[k] - lazy->drift * slope;
    const int holds = fabs(ceiling) < INFINITY;
    lazy->ceilings[k] = holds ? ceiling : INFINITY;
    lazy->slopes[k] = holds ? slope : 0.0;
}

ALWAYS_INLINE void refresh(pb_gaussian_lazy *lazy, int64_t k)
{
    const int64_t d = lazy->gaussian->n_features, now = lazy->n_told, start = now - now % d;
    const double *x = lazy->gaussian->features + k * d;
    double mean = lazy->gaussian->means[k], variance = lazy->gaussian->variances[k];
    int64_t n_known = lazy->made[k];
    if (n_known == now)
        return;
    if (n_known < start) {
        mean = dot(x, lazy->base, d);
        variance = base_variance(lazy, x);
        n_known = start;
    }
    for (const double *step = lazy->steps + (n_known - start) * (d + 2); n_known < now;
         n_known++, step += d + 2) {
        const double covariance = dot(x, step, d);
        mean += covariance * step[d];
        variance = above_zero(variance - covariance * step[d + 1] * covariance);
    }
    lazy->gaussian->means[k] = mean;
    lazy->gaussian->variances[k] = variance;
    lazy->made[k] = now;
    draw_line(lazy, k);
}

WIDE void pb_gaussian_lazy_refresh(pb_gaussian_lazy *lazy, int64_t arm)
{
    refresh(lazy, arm);
}

ALWAYS_INLINE void close_block(pb_gaussian_lazy *lazy, int64_t block, double level)
{
    const int64_t first = block * BLOCK;
    const int64_t last = first + BLOCK < lazy->gaussian->n_arms ? first + BLOCK
                                                                : lazy->gaussian->n_arms;
    double top = -INFINITY, lean = 0.0;
    for (int64_t k = first; k < last; k++) {
        top = larger(top, lazy->ceilings[k] + level * lazy->slopes[k]);
        lean = larger(lean, lazy->slopes[k]);
    }
    /* at an infinite level the maximum is meaningless */
    lazy->tops[block] = level < INFINITY ? top : INFINITY;
    lazy->leans[block] = lean;
    lazy->levels[block] = level;
}

WIDE static void begin_lines(pb_gaussian_lazy *lazy)
{
    lazy->drift = 0.0;
    for (int64_t k = 0; k < lazy->gaussian->n_arms; k++) {
        refresh(lazy, k);
        draw_line(lazy, k);
    }
    for (int64_t block = 0; block < blocks_of(lazy->gaussian->n_arms); block++)
        close_block(lazy, block, 0.0);
}

static void weigh(pb_gaussian_lazy *lazy)
{
    const int64_t d = lazy->gaussian->n_features;
    const double *weights = lazy->gaussian->weights;
    lazy->heaviest = larger(lazy->heaviest, sqrt(dot(weights, weights, d)));
}

void pb_gaussian_lazy_begin(pb_gaussian_lazy *lazy, int64_t n_told)
{
    const int64_t n = lazy->gaussian->n_arms, d = lazy->gaussian->n_features;
    lay_out(lazy);
    keep_base(lazy);
    lazy->n_told = n_told;
    for (int64_t k = 0; k < n; k++)
        lazy->made[k] = n_told % d ? n_told : -1;
    lazy->longest = sqrt(pb_scan_largest(lazy->norms, n));
    lazy->blur = lazy->prior_variance * 1e-14 * (double)((d + 8) * (d + 8));
    lazy->heaviest = 0.0;
    weigh(lazy);
    begin_lines(lazy);
}

void pb_gaussian_lazy_update(pb_gaussian_lazy *lazy, int64_t arm, double reward,
                             double noise_variance)
{
    pb_gaussian *gaussian = lazy->gaussian;
    const int64_t d = gaussian->n_features;
    double *step = lazy->steps + lazy->n_told % d * (d + 2);
    pb_gaussian_lazy_refresh(lazy, arm);
    const double std = sqrt(gaussian->variances[arm] + lazy->blur * lazy->norms[arm]);
    const pb_gaussian_step moved = pb_gaussian_update_weights(gaussian, arm, reward,
                                                              noise_variance);
    for (int64_t j = 0; j < d; j++)
        step[j] = gaussian->memory[j];
    step[d] = moved.change;
    step[d + 1] = moved.share;
    lazy->n_told++;
    if (lazy->n_told % d == 0)
        keep_base(lazy);
    lazy->drift += std * fabs(moved.change);
    weigh(lazy);
    if (!(lazy->drift < FAR))
        begin_lines(lazy);
}

WIDE void pb_gaussian_lazy_refresh_all(pb_gaussian_lazy *lazy)
{
    for (int64_t k = 0; k < lazy->gaussian->n_arms; k++)
        refresh(lazy, k);
}

/* The search: its parameters, and the best arm found so far. */
typedef struct {
    double factor, level, margin, score;
    int64_t arm;
} search;

ALWAYS_INLINE void look_at(pb_gaussian_lazy *lazy, int64_t k, search *found)
{
    refresh(lazy, k);
    const double score = lazy->gaussian->means[k]
                         + found->factor * sqrt(lazy->gaussian->variances[k]);
    if (score > found->score || (score == found->score && k < found->arm)) {
        found->score = score;
        found->arm = k;
    }
}

/* Prefetches the features of arm k, which are seldom in the cache. */
ALWAYS_INLINE void call(const pb_gaussian_lazy *lazy, int64_t k)
{
    const int64_t d = lazy->gaussian->n_features;
    const double *x = lazy->gaussian->features + k * d;
    for (int64_t j = 0; j < d && j < 4 * LINE; j += LINE)
        PREFETCH(x + j);
    PREFETCH(x + d - 1);
}

WIDE static void look_into(pb_gaussian_lazy *lazy, int64_t block, search *found)
{
    const int64_t n = lazy->gaussian->n_arms, first = block * BLOCK;
    const int64_t size = first + BLOCK < n ? BLOCK : n - first;
    const double *ceilings = lazy->ceilings + first, *slopes = lazy->slopes + first;
    double bounds[BLOCK];
    for (int64_t i = 0; i < size; i++)
        bounds[i] = ceilings[i] + found->level * slopes[i] + found->margin;
    for (int64_t i = 0; i < size; i++)
        if (!(bounds[i] < found->score))
            call(lazy, first + i);
    for (int64_t i = 0; i < size; i++)
        if (!(bounds[i] < found->score))
            look_at(lazy, first + i, found);
    close_block(lazy, block, found->level);
}

WIDE static void bound_blocks(pb_gaussian_lazy *lazy, const search *found)
{
    for (int64_t block = 0; block < blocks_of(lazy->gaussian->n_arms); block++) {
        const double rise = larger(0.0, found->level - lazy->levels[block]);
        const double bound = lazy->tops[block] + rise * lazy->leans[block] + found->margin;
        lazy->bounds[block] = bound < INFINITY ? bound : INFINITY;
    }
}

int64_t pb_gaussian_lazy_largest(pb_gaussian_lazy *lazy, double factor)
{
    const int64_t n = lazy->gaussian->n_arms, n_blocks = blocks_of(n);
    const double digits = 1e-13 * (double)(lazy->gaussian->n_features + 8);
    search found = {factor, (factor + lazy->drift) * (1.0 + 1e-12) + 1e-10,
                    digits * lazy->longest * lazy->heaviest, -INFINITY, 0};
    bound_blocks(lazy, &found);
    const int64_t likely = pb_scan_position(lazy->bounds, n_blocks,
                                            pb_scan_largest(lazy->bounds, n_blocks), -1);
    look_into(lazy, likely, &found);
    for (int64_t block = pb_scan_above(lazy->bounds, n_blocks, 0, found.score);
         block < n_blocks;
         block = pb_scan_above(lazy->bounds, n_blocks, block + 1, found.score))
        if (block != likely)
            look_into(lazy, block, &found);
    return found.arm;
}
