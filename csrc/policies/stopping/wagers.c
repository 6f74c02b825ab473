/*
 * Bets that one arm is better than another (pybandit/policies/stopping/wagers.h).
 *
 * The log wealth is convex in m: -log(1 + s m) is convex, and so is the logarithm of a sum of
 * exponentials of convex functions.
 */
#include "pybandit/policies/stopping/wagers.h"

#include "convex.h"

static const double stakes[PB_STAKES] = {
    0x1p-12, 0x1p-11, 0x1p-10, 0x1p-9, 0x1p-8, 0x1p-7, 0x1p-6, 0x1p-5, 0x1p-4, 0x1p-3,
    0x1p-2,  0x1p-1,  0x1p0,   0x1p1,  0x1p2,  0x1p3,  0x1p4,  0x1p5,  0x1p6,  0x1p7,
};

/* log(1 + s), the gain from a reward of 1. */
static const double ones[PB_STAKES] = {
    0.0002441108275273627, 0.0004881620795013512, 0.0009760859730554589, 0.0019512201312617493,
    0.003898640415657323,  0.007782140442054949,  0.015504186535965254,  0.030771658666753687,
    0.06062462181643484,   0.11778303565638346,   0.22314355131420976,   0.4054651081081644,
    0.6931471805599453,    1.0986122886681096,    1.6094379124341003,    2.1972245773362196,
    2.833213344056216,     3.4965075614664802,    4.174387269895637,     4.859812404361672,
};

static void add(double *gains, double x)
{
    if (x == 0.0)
        return;
    for (int j = 0; j < PB_STAKES; j++)
        gains[j] += x == 1.0 ? ones[j] : log1p(stakes[j] * x);
}

void pb_wagers_add(double *gains, double reward)
{
    add(gains, reward);
    add(gains + PB_STAKES, 1.0 - reward);
}

/* Returns the logarithm of the average wealth against the mean m, and its derivative. */
static double logarithm(const double *gains, double n, double m, double *slope)
{
    double logs[PB_STAKES], largest = -INFINITY, sum = 0.0, change = 0.0;
    for (int j = 0; j < PB_STAKES; j++) {
        logs[j] = gains[j] - n * log1p(stakes[j] * m);
        largest = fmax(largest, logs[j]);
    }
    for (int j = 0; j < PB_STAKES; j++) {
        const double wealth = exp(logs[j] - largest);
        sum += wealth;
        change += wealth * stakes[j] / (1.0 + stakes[j] * m);
    }
    *slope = -n * change / sum;
    return largest + log(sum / PB_STAKES);
}

double pb_wagers_above(const pb_wagers_arm *arm, double m, double *slope)
{
    return logarithm(arm->gains, arm->n, m, slope);
}

double pb_wagers_below(const pb_wagers_arm *arm, double m, double *slope)
{
    const double value = logarithm(arm->gains + PB_STAKES, arm->n, 1.0 - m, slope);
    *slope = -*slope;
    return value;
}

typedef struct {
    const pb_wagers_arm *a, *b;
    double epsilon;
} arms;

static pb_tangent at(const void *function, double m)
{
    const arms *two = function;
    double up, down;
    pb_tangent t = {m, pb_wagers_above(two->a, m, &up), 0.0};
    t.value += pb_wagers_below(two->b, m + two->epsilon, &down);
    t.slope = up + down;
    return t;
}

/* Returns the common mean for rewards of 0 or 1, which is near the minimum. */
static double guess(const pb_wagers_arm *a, const pb_wagers_arm *b, double epsilon)
{
    const double m = (a->n * a->mean + b->n * (b->mean - epsilon)) / (a->n + b->n);
    return fmin(fmax(m, 0.0), 1.0 - epsilon);
}

double pb_wagers_least(const pb_wagers_arm *a, const pb_wagers_arm *b, double epsilon,
                       double enough)
{
    const arms two = {a, b, epsilon};
    const pb_tangent here = at(&two, guess(a, b, epsilon));
    if (here.value <= enough)
        return here.value;
    const pb_tangent low = at(&two, 0.0), high = at(&two, 1.0 - epsilon);
    if (low.slope >= 0.0)
        return low.value;
    if (high.slope <= 0.0)
        return high.value;
    return pb_convex_least(at, &two, low, high, here, enough);
}

int pb_wagers_tell(const double *gains, const int64_t *pulls, const double *sums, double epsilon,
                   double level, int64_t better, int64_t arm)
{
    if (pulls[better] < 1 || pulls[arm] < 1)
        return 0;
    const double n = (double)pulls[better], m = (double)pulls[arm];
    const pb_wagers_arm a = {gains + better * PB_GAINS, n, sums[better] / n};
    const pb_wagers_arm b = {gains + arm * PB_GAINS, m, sums[arm] / m};
    return pb_wagers_least(&a, &b, epsilon, level) > level;
}

int64_t pb_wagers_doubt(const double *gains, const int64_t *pulls, const double *sums,
                        int64_t n_arms, double epsilon, double level, int64_t best, int64_t doubt)
{
    if (doubt >= 0 && doubt != best &&
        !pb_wagers_tell(gains, pulls, sums, epsilon, level, best, doubt))
        return doubt;
    for (int64_t arm = 0; arm < n_arms; arm++)
        if (arm != best && !pb_wagers_tell(gains, pulls, sums, epsilon, level, best, arm))
            return arm;
    return -1;
}
