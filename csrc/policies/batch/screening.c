/*
 * A screen on few plates (pybandit/policies/batch/screening.h).
 *
 * The model: arms are normal draws and rewards are normal about them, with both spreads estimated
 * from quartiles and replicates. With s more wells, the posterior mean of an arm moves by about
 *
 *     u(s) = v sqrt(s / (v s + noise)),    v: the posterior variance of the arm,
 *
 * and the expected gain is u(s) E(X - |d| / u(s))+, with d the distance from the boundary. X is
 * logistic instead of normal: its heavier tails keep arms under consideration when rewards have
 * outliers. All remaining wells are allocated at once, each to the arm with the largest gain. The
 * batch is its share of that plan, and the next batch makes a new plan.
 *
 * Measured against planning each batch alone, and against normal, Student and Laplace X: planning
 * all batches finds more when noise is large, logistic X when rewards are skewed. Two precautions
 * also help: an arm is not taken to be far above the boundary until it has TRUSTED results, and
 * no batch except the last gives an arm more wells than it already had.
 */
#include "pybandit/policies/batch/screening.h"

#include <math.h>
#include <stddef.h>

/* TRUSTED: results that an arm needs before it is taken to be far above the boundary. */
enum { TRUSTED = 5, STEPS = 50, MANY_NEAR = 16384 };

static const double LOGISTIC = 0.5513288954217921;  /* scale with variance 1, sqrt(3) / pi */

/* BELOW: the two arms next to the boundary are equally far from it; this ranks the better first,
 * despite rounding. CLOSE: see distance_of. */
static const double BELOW = 1.0 + 1e-9, CLOSE = 0.5;

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

int64_t pb_screening_near(int64_t n, int64_t size)
{
    /* 4 size may overflow */
    return least(n, most(size, 4 * least(size, MANY_NEAR / 4)));
}

/* Returns entry `level` of 1, 2, 3, 4, 6, 8, 12, ... */
static int64_t level_wells(int64_t level)
{
    if (level == 0)
        return 1;
    return level % 2 ? (int64_t)2 << level / 2 : (int64_t)3 << (level / 2 - 1);
}

int64_t pb_screening_levels(int64_t most_wells)
{
    int64_t n = 1;
    while (n < 80 && level_wells(n) <= most_wells)
        n++;
    return n;
}

/* Ranks the first n arms in `line` by `keys`, largest first. */
static void rank_by_keys(const pb_normal_means *belief, int64_t n)
{
    pb_ranking_sort(belief->line, n, belief->keys, belief->ranked, belief->ranked + belief->n);
}

/* Returns the gain from s wells on an arm at this distance from the boundary. */
static double gain(double distance, double variance, double noise, double s)
{
    const double moves = LOGISTIC * variance * sqrt(s / (variance * s + noise));
    const double value = moves * log1p(exp(-distance / moves));
    return isfinite(value) ? value : 0.0;
}

/*
 * Computes the concave hull of an arm's gains as a function of wells: the decreasing slopes of its
 * segments and the number of wells at which each ends, padded with 0. Returns the first slope.
 */
static double hull(double distance, double variance, double noise, int64_t n_levels,
                   double *slopes, double *ends)
{
    double values[81];
    int64_t n = 0;
    for (int64_t level = 0; level < n_levels; level++) {
        const double s = (double)level_wells(level), value = gain(distance, variance, noise, s);
        for (;; n--) {
            const double before = n ? values[n - 1] : 0.0, start = n ? ends[n - 1] : 0.0;
            const double slope = (value - before) / (s - start);
            if (n == 0 || slope < slopes[n - 1]) {
                slopes[n] = slope > 0.0 ? slope : 0.0;
                break;
            }
        }
        ends[n] = s;
        values[n++] = value;
    }
    for (; n < n_levels; n++)
        slopes[n] = ends[n] = 0.0;
    return slopes[0];
}

/* Returns the number of wells in the plan in which every well gains at least `price`. */
static double wells_at(const pb_screening *screen, int64_t n_near, int64_t n_levels,
                       double price, int64_t *planned)
{
    double sum = 0.0;
    for (int64_t i = 0; i < n_near; i++) {
        const double *const slopes = screen->slopes + i * n_levels;
        int64_t n = 0;
        while (n < n_levels && slopes[n] >= price)
            n++;
        const double wells = n ? screen->ends[i * n_levels + n - 1] : 0.0;
        sum += wells;
        if (planned)
            planned[i] = (int64_t)wells;
    }
    return sum;
}

/* Returns the boundary, halfway between the k-th and the (k + 1)-th largest mean. */
static double boundary_of(const pb_screening *screen)
{
    const pb_normal_means *const belief = &screen->belief;
    for (int64_t i = 0; i < belief->n; i++) {
        belief->keys[i] = belief->means[i];
        belief->line[i] = i;
    }
    rank_by_keys(belief, belief->n);
    return 0.5 * belief->means[belief->ranked[screen->k - 1].arm] +
           0.5 * belief->means[belief->ranked[screen->k].arm];
}

/*
 * Returns the distance of an arm from the boundary, in posterior standard deviations. An arm far
 * above it with few results gets the distance CLOSE.
 */
static double distance_of(const pb_normal_means *belief, const int64_t *pulls, int64_t arm,
                          double boundary)
{
    const double off = (belief->means[arm] - boundary) / sqrt(belief->variances[arm]);
    if (off < 0.0)
        return -off * BELOW;
    return off > CLOSE && pulls[arm] < TRUSTED ? CLOSE : off;
}

/*
 * Puts the arms with results into `line`, the least certain first, and returns how many of them
 * may get wells in the batch.
 */
static int64_t line_up(const pb_screening *screen, const int64_t *pulls, double boundary)
{
    const pb_normal_means *const belief = &screen->belief;
    int64_t n = 0;
    for (int64_t i = 0; i < belief->n; i++) {
        if (pulls[i] == 0)
            continue;
        const double off = distance_of(belief, pulls, i, boundary);
        belief->keys[i] = isnan(off) ? -INFINITY : -off;
        belief->line[n++] = i;
    }
    rank_by_keys(belief, n);
    n = least(n, pb_screening_near(belief->n, screen->size));
    for (int64_t i = 0; i < n; i++)
        belief->line[i] = belief->ranked[i].arm;
    return n;
}

/* Plans `wanted` wells for the arms in line; returns the number of these arms. */
static int64_t plan(pb_screening *screen, const pb_seen *seen, int64_t batches_left,
                    double wanted)
{
    const pb_normal_means *const belief = &screen->belief;
    const double noise = pb_normal_means_fit(&screen->belief, seen);
    const double boundary = boundary_of(screen);
    const int64_t n_near = line_up(screen, seen->pulls, boundary);
    const int64_t n_levels = pb_screening_levels(screen->repeats * batches_left);
    double high = 0.0;
    for (int64_t i = 0; i < n_near; i++) {
        const int64_t arm = belief->line[i];
        const double off = distance_of(belief, seen->pulls, arm, boundary) *
                           sqrt(belief->variances[arm]);
        high = fmax(high, hull(off, belief->variances[arm], noise, n_levels,
                               screen->slopes + i * n_levels, screen->ends + i * n_levels));
    }
    double low = 1e-12 * high;
    for (int step = 0; step < STEPS; step++) {
        const double price = sqrt(low) * sqrt(high);
        if (wells_at(screen, n_near, n_levels, price, NULL) > wanted)
            low = price;
        else
            high = price;
    }
    wells_at(screen, n_near, n_levels, high, screen->planned);
    return n_near;
}

/* Gives wells one at a time to the arms in ranked order, up to `limits`; returns the wells left. */
static int64_t fill(const pb_screening *screen, int64_t n_near, int64_t left,
                    const int64_t *limits)
{
    const pb_normal_means *const belief = &screen->belief;
    for (int64_t given = 1; left > 0 && given > 0;) {
        given = 0;
        for (int64_t i = 0; i < n_near && left > 0; i++) {
            const int64_t at = belief->ranked[i].arm, arm = belief->line[at];
            if (screen->counts[arm] < (limits ? limits[at] : screen->repeats)) {
                screen->counts[arm]++;
                left--;
                given++;
            }
        }
    }
    return left;
}

/*
 * Distributes `wells` among the arms in line by their shares of the plan, at most `repeats` per
 * arm. Except in the last batch, an arm first gets at most as many as it already had, so that
 * one result does not decide where a batch goes. Returns the wells that no arm may take.
 */
static int64_t deal(pb_screening *screen, const int64_t *pulls, int64_t n_near, int64_t wells,
                    int is_last)
{
    const pb_normal_means *const belief = &screen->belief;
    int64_t *const limits = screen->limits;
    double sum = 0.0;
    for (int64_t i = 0; i < n_near; i++)
        sum += (double)screen->planned[i];
    const double share = sum > 0.0 ? (double)wells / sum : 0.0;
    int64_t left = wells;
    for (int64_t i = 0; i < n_near; i++) {
        const int64_t arm = belief->line[i];
        const double part = share * (double)screen->planned[i];
        limits[i] = is_last ? screen->repeats : least(screen->repeats, pulls[arm]);
        screen->counts[arm] = least(least((int64_t)part, limits[i]), left);
        left -= screen->counts[arm];
        belief->keys[i] = part - (double)screen->counts[arm];
        screen->planned[i] = i;
    }
    /* then distribute the fractional remainders, the largest first */
    pb_ranking_sort(screen->planned, n_near, belief->keys, belief->ranked,
                    belief->ranked + belief->n);
    return fill(screen, n_near, fill(screen, n_near, left, limits), NULL);
}

void pb_screening_list(pb_screening *screen)
{
    screen->n_chosen = 0;
    for (int64_t i = 0; i < screen->belief.n; i++) {
        if (screen->counts[i] > 0) {
            screen->chosen[screen->n_chosen] = i;
            screen->wells[screen->n_chosen++] = screen->counts[i];
        }
    }
}

void pb_screening_choose(pb_screening *screen, const pb_seen *seen, int64_t batches_left)
{
    const int64_t n = screen->belief.n;
    int64_t left = screen->size, n_unseen = 0;
    for (int64_t i = 0; i < n; i++)
        screen->counts[i] = 0;
    for (int64_t i = 0; i < n; i++)
        n_unseen += seen->pulls[i] == 0;
    if (n_unseen < left && n_unseen < n) {
        const int64_t wells = left - n_unseen;
        const double wanted = (double)left * (double)(batches_left - 1) + (double)wells;
        const int64_t n_near = plan(screen, seen, batches_left, wanted);
        left = n_unseen + deal(screen, seen->pulls, n_near, wells, batches_left == 1);
    }
    /* arms without results get one well each, and more only if nothing else fills the batch */
    while (left > 0 && n_unseen > 0) {
        for (int64_t i = 0; i < n && left > 0; i++) {
            const int64_t arm = screen->order[i];
            if (seen->pulls[arm] == 0 && screen->counts[arm] < screen->repeats) {
                screen->counts[arm]++;
                left--;
            }
        }
    }
    pb_screening_list(screen);
}
