/*
 * Likelihood ratios of Gaussian rewards of unknown variances (pybandit/policies/stopping/glr_unknown.h).
 *
 * Measured from b's mean, let a's mean be at `gap` and the common mean at x. The sum of costs is
 * stationary where
 *     F(x) = n_a (x - gap) (v_b + x^2) + n_b x (v_a + (x - gap)^2) = 0,
 * a cubic with F(0) <= 0 <= F(gap) and up to two minima in between.
 */
#include "pybandit/policies/stopping/glr_unknown.h"

#include <math.h>

enum { MOST_STEPS = 80 };

double pb_glr_unknown_cost(const pb_glr_arm *arm, double q)
{
    const double d = arm->mean - q;
    if (d == 0.0)
        return 0.0;
    return 0.5 * arm->n * log1p(d * d / arm->variance);
}

double pb_glr_unknown_excess(double n, double z)
{
    const double y = 2.0 * z / n;
    if (y > 700.0)
        return 0.5 * n * (y - log1p(n));
    return 0.5 * n * log1p(expm1(y) / (n + 1.0));
}

typedef struct {
    double cubic, square, linear, constant;
} polynomial;

static double at(const polynomial *f, double x)
{
    return ((f->cubic * x + f->square) * x + f->linear) * x + f->constant;
}

/* Finds the root of a function increasing from low to high by safeguarded Newton steps. */
static double root_between(const polynomial *f, double low, double high)
{
    double x = 0.5 * (low + high);
    for (int i = 0; i < MOST_STEPS && low < high; i++) {
        const double value = at(f, x);
        if (value > 0.0)
            high = x;
        else
            low = x;
        const double slope = (3.0 * f->cubic * x + 2.0 * f->square) * x + f->linear;
        double next = x - value / slope;
        if (!(next > low && next < high))
            next = 0.5 * (low + high);
        if (fabs(next - x) <= 1e-15 * high)
            break;
        x = next;
    }
    return x;
}

/*
 * Shifts both means so that b's is 0, and scales means and variances to units in which the gap is
 * in [1/2, 1), because its cube could overflow or underflow. Costs depend on ratios only and do not
 * change; a power of two causes no rounding. Returns its exponent.
 */
static int in_units_of_gap(pb_glr_arm *a, pb_glr_arm *b, double gap)
{
    int exponent;
    a->mean = frexp(fmin(gap, 0x1p1000), &exponent);
    b->mean = 0.0;
    pb_glr_arm *const arms[] = {a, b};
    for (int i = 0; i < 2; i++)
        if (arms[i]->variance > 0.0) /* keep 0 distinct from tiny variances */
            arms[i]->variance = fmin(fmax(ldexp(arms[i]->variance, -2 * exponent),
                                          0x1p-900), 0x1p900);
    return exponent;
}

static double cost_at(const pb_glr_arm *a, const pb_glr_arm *b, double x)
{
    return pb_glr_unknown_cost(a, x) + pb_glr_unknown_cost(b, x);
}

/* Returns the common mean of least cost, for arms in units of their gap. */
static double meeting_in(const pb_glr_arm *a, const pb_glr_arm *b)
{
    const double n = a->n + b->n, gap = a->mean;
    const polynomial f = {n, -gap * (a->n + 2.0 * b->n),
                          a->n * b->variance + b->n * (a->variance + gap * gap),
                          -a->n * gap * b->variance};
    /* F has at most two turning points; a root is a minimum where F increases */
    const double turn = f.square * f.square - 3.0 * f.cubic * f.linear;
    double ends[4] = {0.0, gap, gap, gap};
    if (turn > 0.0) {
        ends[1] = fmin(fmax((-f.square - sqrt(turn)) / (3.0 * n), 0.0), gap);
        ends[2] = fmin(fmax((-f.square + sqrt(turn)) / (3.0 * n), 0.0), gap);
    }
    double best = cost_at(a, b, 0.0) <= cost_at(a, b, gap) ? 0.0 : gap;
    for (int i = 0; i < 4; i += 2) {
        const double low = ends[i], high = ends[i + 1];
        if (low < high && at(&f, low) <= 0.0 && at(&f, high) >= 0.0) {
            const double x = root_between(&f, low, high);
            if (cost_at(a, b, x) < cost_at(a, b, best))
                best = x;
        }
    }
    return best;
}

double pb_glr_unknown_meeting(const pb_glr_arm *a, const pb_glr_arm *b, double epsilon)
{
    const double low = b->mean - epsilon;
    pb_glr_arm above = *a, below = *b;
    const int exponent = in_units_of_gap(&above, &below, a->mean - low);
    return low + ldexp(meeting_in(&above, &below), exponent);
}

/* Uses distances from b's mean: at small variances, rounding the common mean would cost much. */
double pb_glr_unknown_statistic(const pb_glr_arm *a, const pb_glr_arm *b, double epsilon)
{
    pb_glr_arm above = *a, below = *b;
    in_units_of_gap(&above, &below, a->mean - b->mean + epsilon);
    return cost_at(&above, &below, meeting_in(&above, &below));
}
