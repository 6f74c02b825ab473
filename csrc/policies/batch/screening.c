/*
 * A screen on few plates (pybandit/policies/batch/screening.h).
 *
 * Arms are taken as normal draws, rewards as normal about them; the spread of both is
 * estimated from quartiles and from replicates. With s more wells the mean that is
 * believed of an arm moves by about
 *
 *     u(s) = v sqrt(s / (v s + noise)),    v: the variance that is believed of it,
 *
 * and what is lost by not knowing it is u(s) E(X - |d| / u(s))+, d: its distance from
 * the boundary. X is logistic, not normal: its tails are what keeps arms in the running
 * where rewards have outliers. All wells that are left are dealt out at once, each to
 * where it gains most, and the batch is its share of that plan; the next one plans anew.
 * Measured against a batch planned alone and against normal, Student and Laplace X: the
 * whole plan finds more where noise is large, the logistic one where it is skewed. So do
 * two cautions: an arm is not believed to be above the boundary before it has a few
 * results, and no batch gives an arm more wells than it had, but the last.
 */
#include "pybandit/policies/batch/screening.h"

#include <math.h>
#include <stddef.h>

/* The wells that an arm needs before it is believed to be above the boundary. */
enum { TRUSTED = 5, STEPS = 50, MANY_NEAR = 16384 };

static const double LOGISTIC = 0.5513288954217921;  /* sqrt(3) / pi: variance 1 */

/* The two arms beside the boundary are as far from it but for rounding: the better first. */
static const double BELOW = 1.0 + 1e-9, CLOSE = 0.5;

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

int64_t pb_screening_near(int64_t n, int64_t size)
{
    /* 4 size may overflow */
    return least(n, most(size, 4 * least(size, MANY_NEAR / 4)));
}

/* 1, 2, 3, 4, 6, 8, 12, ...: number `level` of them. */
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

/* What s wells gain on an arm at this distance from the boundary. */
static double gain(double distance, double variance, double noise, double s)
{
    const double moves = LOGISTIC * variance * sqrt(s / (variance * s + noise));
    const double value = moves * log1p(exp(-distance / moves));
    return isfinite(value) ? value : 0.0;
}

/*
 * The concave hull of an arm's gains against wells: slopes that fall, and where each
 * ends; what follows the last is 0. Returns the first slope.
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

/* The wells that arms have in a plan in which a well gains no less than `price`. */
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

/* The boundary between the k best and the rest: half way between two neighbours. */
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
 * How far an arm seems from the boundary, in deviations of what is believed of it; one
 * above it that was hardly seen: not far.
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
 * Puts the arms that were seen into `line`, the least certain first, and returns how many
 * of them a batch is chosen from.
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

/* Plans `wanted` wells for the arms in line; returns how many arms these are. */
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

/* Gives one well after another to the arms as ranked, no more than `limits` to any. */
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
 * Deals `wells` to the arms in line by the plan's shares, no more than repeats to any; as
 * long as another batch comes no more than it had, so that one look does not decide where
 * a batch goes. Returns what nobody may have.
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
    /* what is left of the shares, the largest first */
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
    /* what was not seen comes once, and again only where nothing else fills the batch */
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
