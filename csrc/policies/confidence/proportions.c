/*
 * Optimal shares of pulls (pybandit/policies/confidence/proportions.h).
 *
 * With x_b = w_b / w_best, all Z(best, b) / w_best equal the same y at the optimum, where
 *     Z / w_best = g_b(x) = d(mean_best, m) + x d(mean_b, m),  m = (mean_best + x mean_b) / (1 + x),
 * increases from 0 to d(mean_best, mean_b) with derivative d(mean_b, m), and is concave. The
 * optimal y makes the sum of r_b = d(mean_best, m) / d(mean_b, m) equal 1; the sum increases in y.
 */
#include "pybandit/policies/confidence/proportions.h"

#include <math.h>

enum { MOST_STEPS = 100 };

typedef struct {
    double x, ratio, growth; /* growth: derivative of the ratio in y */
} solution;

/* The means times `unit` are in the units of `glr`. */
typedef struct {
    const pb_glr *glr;
    const double *means;
    double unit;
    int64_t n_arms, best;
} problem;

static double mean_of(const problem *p, int64_t arm) { return p->means[arm] * p->unit; }

/* Returns Z / w_best for x pulls of the arm per pull of the best. */
static double gain(const pb_glr *glr, double best, double mean, double x)
{
    const double m = best + (mean - best) * (x / (1.0 + x));
    return pb_glr_divergence(glr, best, m) + x * pb_glr_divergence(glr, mean, m);
}

/* Returns a start left of the solution: 0, or above 0 if d(mean, best) is infinite. */
static double start(const pb_glr *glr, double best, double mean, double y)
{
    if (isfinite(pb_glr_divergence(glr, mean, best)))
        return 0.0;
    double x = 1.0;
    while (gain(glr, best, mean, x) > y)
        x *= 0.25;
    return x;
}

/* Solves g(x) = y for 0 < y < g(infinity) by Newton's method from the left; g is concave. */
static solution solve(const pb_glr *glr, double best, double mean, double y, double x)
{
    double to_best = 0.0, to_arm = 0.0, m = best;
    for (int i = 0; i < MOST_STEPS; i++) {
        m = best + (mean - best) * (x / (1.0 + x));
        to_best = pb_glr_divergence(glr, best, m);
        to_arm = pb_glr_divergence(glr, mean, m);
        const double step = (y - to_best - x * to_arm) / to_arm;
        x += step;
        if (!(step > 1e-14 * x))
            break;
    }
    const double slope = pb_glr_slope(glr, best, m) * to_arm -
                         to_best * pb_glr_slope(glr, mean, m);
    const double change = (mean - best) / ((1.0 + x) * (1.0 + x));
    return (solution){x, to_best / to_arm, slope * change / (to_arm * to_arm * to_arm)};
}

/* Computes x of all arms; returns the sum of the ratios and its derivative in y. */
static solution solve_all(const problem *p, double y, int is_above, double *shares)
{
    const double best = mean_of(p, p->best);
    solution sum = {1.0, 0.0, 0.0};
    for (int64_t arm = 0; arm < p->n_arms; arm++) {
        if (arm == p->best)
            continue;
        const double mean = mean_of(p, arm);
        /* y increased, so the old x is left of the new one */
        const double from = is_above ? shares[arm] : start(p->glr, best, mean, y);
        const solution one = solve(p->glr, best, mean, y, from);
        shares[arm] = one.x;
        sum.ratio += one.ratio;
        sum.growth += one.growth;
    }
    return sum;
}

static double find(const problem *p, double y, double high, double *shares)
{
    double low = 0.0, before = 0.0;
    for (int i = 0; i < MOST_STEPS && low < high; i++) {
        const solution sum = solve_all(p, y, i && y > before, shares);
        if (sum.ratio < 1.0)
            low = y;
        else
            high = y;
        before = y;
        const double next = y + (1.0 - sum.ratio) / sum.growth;
        y = next > low && next < high ? next : 0.5 * (low + high);
        if (fabs(y - before) <= 1e-13 * y)
            break;
    }
    return y;
}

/* Returns 1 if the shares are valid; rounding invalidates them if means are a few ulps apart. */
static int are_shares(const double *shares, int64_t n_arms, int64_t best)
{
    int are = 1;
    for (int64_t arm = 0; arm < n_arms; arm++)
        are &= arm == best || (shares[arm] >= 0.0 && shares[arm] < INFINITY);
    return are;
}

/*
 * If means are close, d(p, q) is proportional to (p - q)^2 for every law: with gaps in units of
 * the smallest, x = y / (gap^2 - y), and the ratio is x^2. Returns y, found by bisecting (0, 1).
 */
static double find_near(const double *means, int64_t n_arms, int64_t best, double gap,
                        double *shares)
{
    double low = 0.0, high = 1.0, y = 0.5;
    for (int i = 0; i < MOST_STEPS && low < y && y < high; i++) {
        double sum = 0.0;
        for (int64_t arm = 0; arm < n_arms; arm++) {
            const double near = gap / (means[best] - means[arm]), part = y * near * near;
            shares[arm] = part / (1.0 - part);
            sum += arm == best ? 0.0 : shares[arm] * shares[arm];
        }
        if (sum < 1.0)
            low = y;
        else
            high = y;
        y = 0.5 * (low + high);
    }
    return y;
}

/* Computes the shares; returns the maximised least Z in the units of the problem. */
static double solved(const problem *p, double *shares)
{
    const int64_t n_arms = p->n_arms;
    const double top = mean_of(p, p->best);
    int64_t n_best = 0;
    double nearest = INFINITY, equal = INFINITY, gap = INFINITY, sum = 1.0;
    for (int64_t arm = 0; arm < n_arms; arm++) {
        if (arm != p->best) {
            nearest = fmin(nearest, pb_glr_divergence(p->glr, top, mean_of(p, arm)));
            equal = fmin(equal, gain(p->glr, top, mean_of(p, arm), 1.0));
            gap = fmin(gap, p->means[p->best] - p->means[arm]);
        }
        n_best += p->means[arm] == p->means[p->best];
    }
    if (n_best > 1 || n_arms == 1 || !(equal > 0.0)) {
        for (int64_t arm = 0; arm < n_arms; arm++)
            shares[arm] = p->means[arm] == p->means[p->best] ? 1.0 / (double)n_best : 0.0;
        return 0.0;
    }
    double y = find(p, equal, nearest, shares);
    if (!(y > 0.0) || !are_shares(shares, n_arms, p->best))
        y = nearest * find_near(p->means, n_arms, p->best, gap, shares);
    shares[p->best] = 1.0;
    for (int64_t arm = 0; arm < n_arms; arm++)
        sum += arm == p->best ? 0.0 : shares[arm];
    for (int64_t arm = 0; arm < n_arms; arm++)
        shares[arm] /= sum;
    return y / sum;
}

double pb_proportions(const pb_glr *glr, const double *means, int64_t n_arms, double *shares)
{
    pb_glr scaled = *glr;
    problem p = {&scaled, means, 1.0, n_arms, 0};
    for (int64_t arm = 1; arm < n_arms; arm++)
        p.best = means[arm] > means[p.best] ? arm : p.best;
    if (glr->law != PB_GLR_GAUSSIAN)
        return solved(&p, shares);
    /* Shares have no unit, but squared gaps can overflow or underflow. Scale so that the largest
     * gap and the precision are about 1; powers of two cause no rounding. */
    double half = 0.0; /* half the largest gap; the gap itself may overflow */
    int size, square;
    for (int64_t arm = 0; arm < n_arms; arm++)
        half = fmax(half, 0.5 * means[p.best] - 0.5 * means[arm]);
    frexp(fmax(half, 0x1p-1000), &size);
    p.unit = ldexp(1.0, -size);
    scaled.precision = frexp(glr->precision, &square);
    return ldexp(solved(&p, shares), square + 2 * size);
}
