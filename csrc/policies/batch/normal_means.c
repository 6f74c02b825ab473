/*
 * Normal means by empirical Bayes (pybandit/policies/batch/normal_means.h). The variances maximise
 * the marginal likelihood on a grid of their ratio. Arms with about the same number of rewards
 * share a group: O(n), plus O(GROUPS) per ratio.
 */
#include "pybandit/policies/batch/normal_means.h"

#include <math.h>

/* GIVEN: weight of a given noise, in rewards. RIDGE: penalty on the slope. RATIOS: grid size. */
enum { GIVEN = 8, RIDGE = 10, RATIOS = 96 };

/* Groups by number of rewards: one per number up to EXACT, then eight per factor of two. */
enum { EXACT = 64, GROUPS = EXACT + 8 * 58 };

typedef struct {
    double n, shares, sum, squares;
} pb_group;

static const double QUARTILES = 1.3489795003921634; /* interquartile range of a standard normal */
static const double LEAST = 1e-9;

/* Fits a line through the means against the prior scores. */
static void fit_line(const pb_normal_means *fit, const int64_t *pulls, double *centre,
                     double *slope)
{
    double n = 0.0, x = 0.0, y = 0.0, xx = 0.0, xy = 0.0;
    for (int64_t i = 0; i < fit->n; i++) {
        if (pulls[i] == 0)
            continue;
        const double prior = fit->prior ? fit->prior[i] : 0.0;
        n += 1.0;
        x += prior;
        y += fit->means[i];
        xx += prior * prior;
        xy += prior * fit->means[i];
    }
    x /= n;
    y /= n;
    /* the ridge: if only the first arms of the order were seen, they determine the slope poorly */
    *slope = (xy - n * x * y) / (xx - n * x * x + RIDGE);
    *centre = y - *slope * x;
    if (!isfinite(*slope) || !isfinite(*centre))
        *slope = *centre = 0.0;
}

/*
 * Sets keys to the means' distances from the line, moves `median` from the line's intercept to
 * the intercept plus the median distance, and returns the variance from the quartiles.
 */
static double spread_of(pb_normal_means *fit, const int64_t *pulls, double slope,
                        double *median)
{
    int64_t n = 0;
    double sum = 0.0, squares = 0.0;
    for (int64_t i = 0; i < fit->n; i++) {
        if (pulls[i] == 0)
            continue;
        fit->keys[i] = fit->means[i] - *median -
                          (fit->prior ? slope * fit->prior[i] : 0.0);
        sum += fit->keys[i];
        fit->line[n++] = i;
    }
    pb_ranking_sort(fit->line, n, fit->keys, fit->ranked, fit->ranked + fit->n);
    const pb_ranked *const ranked = fit->ranked;
    *median += fit->keys[ranked[n / 2].arm];
    const double wide = (fit->keys[ranked[n / 4].arm] -
                         fit->keys[ranked[n - 1 - n / 4].arm]) / QUARTILES;
    if (wide * wide > 0.0 && isfinite(wide * wide))
        return wide * wide;
    for (int64_t i = 0; i < n; i++) {
        const double off = fit->keys[fit->line[i]] - sum / (double)n;
        squares += off * off;
    }
    squares /= (double)n;
    return squares > 0.0 && isfinite(squares) ? squares : 1.0;
}

/* Adds an arm's mean to the group of its number of pulls. */
static void add_to_group(pb_group *groups, int64_t pulls, double mean)
{
    int64_t at = pulls;
    if (pulls > EXACT) {
        const int64_t above = EXACT + (int64_t)(8.0 * log2((double)pulls / EXACT));
        at = above < GROUPS ? above : GROUPS - 1;
    }
    groups[at].n += 1.0;
    groups[at].shares += 1.0 / (double)pulls;
    groups[at].sum += mean;
    groups[at].squares += mean * mean;
}

/*
 * Returns the best-fitting variance of a reward if arm means have `ratio` times that variance.
 * Also sets the log likelihood, with the arms' centre at its best value. `totals` holds the sum of
 * squares within arms and the number of rewards.
 */
static double fit_at(const pb_group *groups, double ratio, const double *totals,
                     double *likelihood)
{
    double weights = 0.0, sum = 0.0, squares = 0.0, logs = 0.0;
    for (int at = 1; at < GROUPS; at++) {
        const pb_group *const one = &groups[at];
        if (one->n == 0.0)
            continue;
        const double variance = ratio + one->shares / one->n;
        weights += one->n / variance;
        sum += one->sum / variance;
        squares += one->squares / variance;
        logs += one->n * log(variance);
    }
    const double noise = fmax((squares - sum * sum / weights + totals[0]) / totals[1], 0.0);
    *likelihood = -0.5 * (totals[1] * log(noise) + logs);
    return noise;
}

/*
 * Returns the variance of a reward and sets that of the arm means. Both maximise the marginal
 * likelihood, which remains valid if arms are measured again because of their rewards. Without
 * replicates the likelihood is flat, and a weak prior makes both variances equal.
 */
static double fit_spreads(const pb_normal_means *fit, const pb_seen *seen, double *between)
{
    pb_group groups[GROUPS] = {{0.0, 0.0, 0.0, 0.0}};
    double totals[2] = {0.0, 0.0}, best = -INFINITY, noise = 0.0;
    for (int64_t i = 0; i < fit->n; i++) {
        if (seen->pulls[i] == 0)
            continue;
        totals[0] += seen->deviations[i];
        totals[1] += (double)seen->pulls[i];
        add_to_group(groups, seen->pulls[i], fit->keys[i]);
    }
    if (fit->noise > 0.0) {
        totals[0] += GIVEN * fit->noise * fit->noise;
        totals[1] += GIVEN;
    }
    for (int step = 0; step <= RATIOS; step++) {
        /* powers in the order 0, 1/8, -1/8, 2/8, -2/8, ... */
        const int eighths = step % 2 ? (step + 1) / 2 : -(step / 2);
        const double power = eighths * 0.125;
        double likelihood;
        const double fitted = fit_at(groups, exp(power), totals, &likelihood);
        likelihood -= 0.125 * power * power;
        if (likelihood > best) {
            best = likelihood;
            noise = fitted;
            *between = exp(power) * fitted;
        }
    }
    return noise;
}

double pb_normal_means_fit(pb_normal_means *fit, const pb_seen *seen)
{
    const int64_t n = fit->n;
    double centre, slope, between = 0.0, shares = 0.0;
    int64_t n_seen = 0;
    for (int64_t i = 0; i < n; i++) {
        fit->means[i] = fit->variances[i] = 0.0;
        if (seen->pulls[i] == 0)
            continue;
        fit->means[i] = seen->sums[i] / (double)seen->pulls[i];
        shares += 1.0 / (double)seen->pulls[i];
        n_seen++;
    }
    if (n_seen == 0)
        return 1.0;
    shares /= (double)n_seen;
    fit_line(fit, seen->pulls, &centre, &slope);
    const double spread = spread_of(fit, seen->pulls, slope, &centre);
    /*
     * Arms with outliers are measured again more often, so the noise tends to be overestimated.
     * It is limited to half of the variance estimated from quartiles; the arms get the rest.
     */
    const double fitted = fit_spreads(fit, seen, &between);
    const double noise = fmin(fmax(fitted, LEAST * spread), 0.5 * spread / shares);
    between = fmax(between, spread - shares * noise);
    for (int64_t i = 0; i < n; i++) {
        const double prior = centre + (fit->prior ? slope * fit->prior[i] : 0.0);
        const double weight = (double)seen->pulls[i] / noise;
        fit->variances[i] = 1.0 / (1.0 / between + weight);
        fit->means[i] = seen->pulls[i] == 0 ? prior : prior + (fit->means[i] - prior) *
                                                             weight * fit->variances[i];
    }
    return noise;
}
