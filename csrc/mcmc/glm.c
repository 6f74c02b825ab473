/*
 * Log likelihoods of rows, and the remainders of their second-order expansions
 * (pybandit/mcmc/glm.h).
 *
 * Proofs of the bounds on third derivatives that pb_glm_third returns:
 *
 * Logistic. A(s) = log(1 + e^s) has A''' = p (1 - p) (1 - 2p), p in (0, 1). It is largest in
 * absolute value where 6 p^2 - 6 p + 1 = 0, p = 1/2 -+ 1 / sqrt(12): 1 / (6 sqrt 3).
 *
 * Student. With v = (y - s) / (scale sqrt df), l = -(df + 1) / 2 log(1 + v^2), whose third
 * derivative in v is (df + 1) / 2 times h(v) = 4 v (3 - v^2) / (1 + v^2)^3; h' is 0 where
 * v^4 - 6 v^2 + 1 = 0, v^2 = 3 -+ sqrt 8, so |h| <= h(sqrt 2 - 1) = 3/2 + sqrt 2. Each derivative
 * in s is -1 / (scale sqrt df) times the derivative in v.
 *
 * Probit. Let F(t) = log Phi(t), m = F' = phi / Phi, a = t + m. Then m' = -m a and a' = 1 - m a,
 * which is the variance of X, a N(t, 1) variable truncated to positive values. So 0 < m a < 1, m
 * decreases, and a increases.
 *   F''' = m a (a + m) - m, the third central moment of X.
 *   F'''' = F''' (a + m) + m a (1 - 2 m a) + m a up to signs, so |F''''| <= |F'''| (a + m) + 2.
 * On [-3, 4] t + 2m is convex, so at most 4.01, its value at the ends; m <= 3.29,
 * |F'''| <= 7.4, |F''''| <= 32. There |F'''| <= .29572 on a grid of step 1e-5 (computed in
 * tests/mcmc), so between its points |F'''| <= .29572 + 32 * .5e-5 < .2959. Below -3 the density
 * of X is e^(tx - x^2/2) up to a factor, so X is stochastically below an exponential variable of
 * rate |t|: E X <= 1/3, E X^2 <= 2/9, E X^3 <= 6/27, and F''' = E X^3 - 3 E X var X - (E X)^3 is
 * in [-2/9 - 1/27, 6/27]. Above 4, m t^2 decreases and is .0022 at 4.
 *
 * Poisson. l''' = -e^s, and on the ball s - s_i = (L'x_i)'z is at most |L'x_i| radius.
 */
#include "pybandit/mcmc/glm.h"

#include <math.h>

#include "../_shared/wide.h"

#define LOGISTIC_THIRD 0.09622504486493764  /* 1 / (6 sqrt 3) */
#define PROBIT_THIRD 0.2959
#define SQRT_HALF 0.70710678118654752440
#define LOG_SQRT_2PI 0.91893853320467274178
/* e^x - 1 overflows above about 709; see logistic_remainder */
#define LARGEST 700.0
#define EPSILON 1e-14  /* 45 times the rounding error of a double */

typedef struct {
    double value, slope, curvature;
} expansion;

double pb_glm_third(const pb_glm *glm)
{
    if (glm->family == PB_GLM_LOGISTIC)
        return LOGISTIC_THIRD;
    if (glm->family == PB_GLM_PROBIT)
        return PROBIT_THIRD;
    if (glm->family == PB_GLM_POISSON)
        return INFINITY;
    /* 1 + 1e-15 covers the rounding of the product */
    return (1.0 + 1e-15) * 0.5 * (glm->df + 1.0) * (1.5 + sqrt(2.0)) /
           (glm->df * sqrt(glm->df) * glm->scale * glm->scale * glm->scale);
}

/* Returns log Phi(t), where Phi is the standard normal distribution function. */
static double log_cdf(double t)
{
    if (t > 0.0)
        return log1p(-0.5 * erfc(t * SQRT_HALF));
    if (t > -35.0)
        return log(0.5 * erfc(-t * SQRT_HALF));
    /* erfc underflows below -37; at -35 the next term of the series is 1e-16 of the sum */
    const double w = 1.0 / (t * t);
    const double series = w * (-1.0 + w * (3.0 + w * (-15.0 + w * (105.0 - 945.0 * w))));
    return -0.5 * t * t - log(-t) - LOG_SQRT_2PI + log1p(series);
}

static expansion probit_at(double t)
{
    const double value = log_cdf(t);
    const double m = t > -35.0 ? exp(-0.5 * t * t - LOG_SQRT_2PI - value)
                               : -t / (1.0 - 1.0 / (t * t) + 3.0 / (t * t * t * t));
    /* t + m loses digits for t far below 0, but sums and remainders use the same value */
    return (expansion){value, m, -fmin(fmax(m * (t + m), 0.0), 1.0)};
}

static expansion student_at(const pb_glm *glm, double u, int is_safe)
{
    const double h = 0.5 * (glm->df + 1.0), below = glm->df + u * u, scale = glm->scale;
    const double curvature = is_safe ? -2.0 * h / below
                                     : 2.0 * h * (u * u - glm->df) / (below * below);
    return (expansion){-h * log1p(u * u / glm->df), 2.0 * h * u / (scale * below),
                       curvature / (scale * scale)};
}

/* Computes p and 1 - p, the smaller one without cancellation. */
static void shares(double s, double *p, double *q)
{
    const double e = exp(-fabs(s)), small = e / (1.0 + e), large = 1.0 / (1.0 + e);
    *p = s < 0.0 ? small : large;
    *q = s < 0.0 ? large : small;
}

static expansion row_at(const pb_glm *glm, int64_t i, double s, int is_safe)
{
    const double y = glm->labels[i];
    if (glm->family == PB_GLM_STUDENT)
        return student_at(glm, (y - s) / glm->scale, is_safe);
    if (glm->family == PB_GLM_PROBIT) {
        const double sign = y > 0.0 ? 1.0 : -1.0;
        expansion at = probit_at(sign * s);
        at.slope *= sign;
        return at;
    }
    if (glm->family == PB_GLM_POISSON) {
        const double rate = exp(s);
        return (expansion){y * s - rate, y - rate, -rate};
    }
    const double n = glm->trials ? glm->trials[i] : 1.0;
    double p, q;
    shares(s, &p, &q);
    return (expansion){y * s - n * (fmax(s, 0.0) + log1p(exp(-fabs(s)))),
                       y * q - (n - y) * p, -n * p * q};
}

static double dot(const double *a, const double *b, int64_t n)
{
    double sum = 0.0;
    for (int64_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

void pb_glm_sums(const pb_glm *glm, int64_t begin, int64_t end, int64_t stride, int is_safe,
                 const double *theta, double *value, double *gradient, double *hessian)
{
    const int64_t d = glm->n_parameters;
    for (int64_t i = begin; i < end; i += stride) {
        const double *x = glm->features + i * d;
        const expansion at = row_at(glm, i, dot(x, theta, d), is_safe);
        *value += at.value;
        for (int64_t j = 0; j < d; j++) {
            const double scaled = at.curvature * x[j];
            double *to = hessian + j * d;
            gradient[j] += at.slope * x[j];
            for (int64_t k = 0; k <= j; k++)
                to[k] += scaled * x[k];
        }
    }
}

/* Returns |L'x| and writes L'x to `work`. */
static double whitened(const double *x, const double *factor, int64_t d, double *work)
{
    for (int64_t k = 0; k < d; k++)
        work[k] = 0.0;
    for (int64_t j = 0; j < d; j++)
        for (int64_t k = 0; k <= j; k++)
            work[k] += factor[j * d + k] * x[j];
    return sqrt(dot(work, work, d));
}

static pb_glm_row anchored(const pb_glm *glm, int64_t i, double s)
{
    pb_glm_row row = {0.0, pb_glm_third(glm), 0.0, 1.0};
    double p, q;
    switch (glm->family) {
    case PB_GLM_STUDENT:
        row.anchor = (glm->labels[i] - s) / glm->scale;
        break;
    case PB_GLM_PROBIT:
        row.weight = glm->labels[i] > 0.0 ? 1.0 : -1.0;
        row.anchor = row.weight * s;
        break;
    case PB_GLM_POISSON:
        row.anchor = s;
        row.weight = exp(s);
        break;
    default:
        shares(s, &p, &q);
        row.weight = glm->trials ? glm->trials[i] : 1.0;
        row.third *= row.weight;
        row.anchor = p <= q ? fmax(p, 1e-305) : -fmax(q, 1e-305);
    }
    return row;
}

void pb_glm_anchor(const pb_glm *glm, int64_t begin, int64_t end, const double *mode,
                   const double *factor, pb_glm_row *rows, double *work)
{
    const int64_t d = glm->n_parameters;
    for (int64_t i = begin; i < end; i++) {
        const double *x = glm->features + i * d;
        rows[i] = anchored(glm, i, dot(x, mode, d));
        const double length = whitened(x, factor, d, work);
        if (glm->family == PB_GLM_POISSON)
            rows[i].third = exp(rows[i].anchor + length * glm->radius);
        rows[i].bound = 0.5 * rows[i].third * length * length * length;
    }
}

static double logistic_remainder(const pb_glm_row *row, double change)
{
    /* A(s) = s + A(-s): if 1 - p is the smaller share, the line is reversed */
    const double p = fabs(row->anchor), by = row->anchor < 0.0 ? -change : change;
    const double rise = by < LARGEST ? log1p(p * expm1(by)) : by + log(p);
    return row->weight * (by * (p + 0.5 * p * (1.0 - p) * by) - rise);
}

static double student_remainder(const pb_glm *glm, const pb_glm_row *row, double change)
{
    const double u = row->anchor, by = change / glm->scale, below = glm->df + u * u;
    const double more = by * (by - 2.0 * u) / below;
    const double rise = more > -0.5 ? log1p(more) : log((glm->df + (u - by) * (u - by)) / below);
    const double h = 0.5 * (glm->df + 1.0);
    return -h * (rise + by * (2.0 * u + by * (u * u - glm->df) / below) / below);
}

double pb_glm_remainder(const pb_glm *glm, const pb_glm_row *row, double change)
{
    if (glm->family == PB_GLM_LOGISTIC)
        return logistic_remainder(row, change);
    if (glm->family == PB_GLM_STUDENT)
        return student_remainder(glm, row, change);
    if (glm->family == PB_GLM_POISSON)
        return -row->weight * (expm1(change) - change * (1.0 + 0.5 * change));
    const expansion at = probit_at(row->anchor);
    const double by = row->weight * change;
    return log_cdf(row->anchor + by) - at.value - by * (at.slope + 0.5 * at.curvature * by);
}

double pb_glm_rounding(const pb_glm *glm, const pb_glm_row *row, double change)
{
    double size = fabs(change), weight = fabs(row->weight), extra = 0.0;
    if (glm->family == PB_GLM_STUDENT) {
        size /= glm->scale * sqrt(glm->df);
        weight = 0.5 * (glm->df + 1.0);
    } else if (glm->family == PB_GLM_PROBIT) {
        extra = (1.0 + size) * (1.0 + row->anchor * row->anchor) * (1.0 + size);
    } else if (glm->family == PB_GLM_POISSON) {
        extra = weight * expm1(fmax(change, 0.0));
    }
    return EPSILON * (weight * size * (1.0 + size) + extra);
}

/* Returns x'point with eight sums at a time: one would wait for each addition. */
ALWAYS_INLINE double wide_dot(const double *x, const double *point, int64_t d)
{
    vector even = ALL(0.0), odd = ALL(0.0);
    int64_t j = 0;
    for (; j + 2 * LANES <= d; j += 2 * LANES) {
        const vector a = LOAD(x + j), b = LOAD(x + j + LANES);
        const vector u = LOAD(point + j), v = LOAD(point + j + LANES);
        EACH even L += a L * u L;
        EACH odd L += b L * v L;
    }
    EACH even L += odd L;
    double sum = (LANE(even, 0) + LANE(even, 1)) + (LANE(even, 2) + LANE(even, 3));
    for (; j < d; j++)
        sum += x[j] * point[j];
    return sum;
}

/*
 * Logistic rows of one trial: r = by (p + p q by / 2) - log(q + p e^by), where p is the smaller
 * share and q = 1 - p. One logarithm is taken of the product of FACTORS rows. A factor is between
 * 1/2 and e^|by|, so the product stays finite and above 0 for |by| <= SAFE.
 */
enum { FACTORS = 8 };
static const double SAFE = 80.0;

WIDE static double logistic_remainders(const pb_glm *glm, const pb_glm_row *rows,
                                       const double *point)
{
    const int64_t n = glm->n_rows, d = glm->n_parameters;
    double sum = 0.0, product = 1.0;
    for (int64_t i = 0; i < n; i++) {
        const double change = wide_dot(glm->features + i * d, point, d);
        const double p = fabs(rows[i].anchor), by = rows[i].anchor < 0.0 ? -change : change;
        if (fabs(by) <= SAFE) {
            product *= (1.0 - p) + p * exp(by);
            sum += by * (p + 0.5 * p * (1.0 - p) * by);
        } else {
            sum += logistic_remainder(rows + i, change);
        }
        if (i % FACTORS == FACTORS - 1) {
            sum -= log(product);
            product = 1.0;
        }
    }
    return sum - log(product);
}

double pb_glm_remainders(const pb_glm *glm, const pb_glm_row *rows, const double *point)
{
    if (glm->family == PB_GLM_LOGISTIC && !glm->trials)
        return logistic_remainders(glm, rows, point);
    const int64_t d = glm->n_parameters;
    double sum = 0.0;
    for (int64_t i = 0; i < glm->n_rows; i++)
        sum += pb_glm_remainder(glm, rows + i, wide_dot(glm->features + i * d, point, d));
    return sum;
}
