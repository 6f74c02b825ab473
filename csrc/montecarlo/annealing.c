/*
 * Annealed importance sampling (pybandit/montecarlo/annealing.h). Almost all time is spent in the
 * log likelihood, -sum log(1 + e^-m) = sum min(m, 0) - log prod (1 + e^-|m|). The factors are
 * in [1, 2], so that one logarithm serves a thousand rows. The exponential is a ratio of two
 * polynomials, computed for four rows at a time.
 */
#include "pybandit/montecarlo/annealing.h"

#include "../_shared/wide.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 1000 };  /* rows per logarithm: 2^1000 does not overflow */

#define PADDING 64.0

/* for a above this, 1 + e^-a rounds to 1 */
#define LARGEST 40.0
/* the last bits of x + ROUNDER, for a small x, are the integer nearest to x */
#define ROUNDER 0x1.8p52
#define ROUNDER_BITS UINT64_C(0x4338000000000000)
#define LOG2_E 0x1.71547652b82fep+0
/* log 2 in two parts: the first times an integer below 2^20 is exact */
#define LN2_HIGH 0x1.62e42fef00000p-1
#define LN2_LOW 0x1.473de6af278edp-34

/* POWER is 2^-k, from the last bits of k + ROUNDER; SIZE is |m| */
#ifdef HAS_VECTORS
typedef uint64_t words __attribute__((vector_size(LANES * sizeof(uint64_t))));
#define EVERY_WORD(x) ((words){(x), (x), (x), (x)})
#define POWER(rounded) ((vector)((EVERY_WORD(ROUNDER_BITS + 1023) - (words)(rounded)) << 52))
#define SIZE(m) ((vector)((words)(m) & EVERY_WORD(UINT64_MAX >> 1)))
#else
static inline double power(double rounded)
{
    uint64_t bits;
    memcpy(&bits, &rounded, sizeof bits);
    bits = (ROUNDER_BITS + 1023 - bits) << 52;
    memcpy(&rounded, &bits, sizeof bits);
    return rounded;
}

#define POWER(rounded) power(rounded)
#define SIZE(m) fabs(m)
#endif

/*
 * Multiplies top / bottom by 1 + e^-a, a in [0, 40]. e^-a = 2^-k e^r with |r| <= log(2) / 2, and
 * e^r = (even + odd) / (even - odd), where odd / even interpolates tanh(r / 2) at Chebyshev's
 * nodes within 2e-18. The division is done once, at the end.
 */
ALWAYS_INLINE void times_one_plus_exp(vector *top, vector *bottom, const vector *a)
{
    VECTOR(rounded, (*a) L * LOG2_E + ROUNDER);
    VECTOR(k, rounded L - ROUNDER);
    VECTOR(r, (k L * LN2_HIGH - (*a) L) + k L * LN2_LOW);
    VECTOR(s, r L * r L);
    VECTOR(even, (0x1.03fc0e421712bp-10 * s L + 0x1.c71949bed5a41p-4) * s L + 1.0);
    VECTOR(odd, ((0x1.1530d7ae9e98dp-15 * s L + 0x1.c70fd1a6015f3p-7) * s L + 0.5) * r L);
    VECTOR(under, even L - odd L);
    EACH (*top) L *= under L + POWER(rounded L) * (even L + odd L);
    EACH (*bottom) L *= under L;
}

WIDE double pb_annealing_log_likelihood(const double *margins, const double *column, double step,
                                        int64_t n)
{
    const vector zero = ALL(0.0), largest = ALL(LARGEST);
    vector below = zero;
    double logs = 0.0;
    for (int64_t first = 0; first < n; first += BLOCK) {
        const int64_t end = first + BLOCK < n ? first + BLOCK : n;
        vector top = ALL(1.0), bottom = top;
        for (int64_t i = first; i < end; i += LANES) {
            VECTOR(m, LOAD(margins + i) L + step * LOAD(column + i) L);
            VECTOR(size, SIZE(m L));
            VECTOR(a, LEAST(size L, largest L));
            EACH below L += LEAST(m L, zero L);
            times_one_plus_exp(&top, &bottom, &a);
        }
        VECTOR(product, top L / bottom L);
        logs += log(LANE(product, 0) * LANE(product, 1) * LANE(product, 2) * LANE(product, 3));
    }
    return LANE(below, 0) + LANE(below, 1) + LANE(below, 2) + LANE(below, 3) - logs;
}

/* Adds step column to the margins. */
WIDE static void move(double *margins, const double *column, double step, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        margins[i] += step * column[i];
}

void pb_annealing_margins(const pb_annealing *annealing, int64_t n_data, const double *theta,
                          double *margins)
{
    const int64_t n = annealing->n_rows;
    for (int64_t i = 0; i < n; i++)
        margins[i] = i < n_data ? 0.0 : PADDING;
    for (int64_t j = 0; j < annealing->n_features; j++)
        move(margins, annealing->columns + j * n, theta[j], n);
}

typedef struct {
    const pb_annealing *annealing;
    pb_bitgen *bitgen;
    double *theta, *margins;
    double log_likelihood, temperature;
    int64_t n_evaluations;
} chain;

static double uniform(const chain *c)
{
    return c->bitgen->next_double(c->bitgen->state);
}

static double tempered(const chain *c, double log_likelihood, double x)
{
    return c->temperature * log_likelihood - x * x / (2.0 * c->annealing->prior_variance);
}

/* Returns the log likelihood with coordinate j at x. */
static double look(chain *c, int64_t j, double x)
{
    const int64_t n = c->annealing->n_rows;
    c->n_evaluations++;
    return pb_annealing_log_likelihood(c->margins, c->annealing->columns + j * n,
                                       x - c->theta[j], n);
}

/* Updates coordinate j by one step of slice sampling. */
static void slice(chain *c, int64_t j)
{
    const double x = c->theta[j], width = c->annealing->width;
    /* 1 - u is in (0, 1]; x itself is on the slice, so that the shrinkage ends */
    const double height = tempered(c, c->log_likelihood, x) + log(1.0 - uniform(c));
    double left = x - width * uniform(c), right = left + width;
    while (tempered(c, look(c, j, left), left) > height)
        left -= width;
    while (tempered(c, look(c, j, right), right) > height)
        right += width;
    for (;;) {
        const double found = left + uniform(c) * (right - left);
        const double log_likelihood = look(c, j, found);
        if (tempered(c, log_likelihood, found) >= height) {
            const int64_t n = c->annealing->n_rows;
            move(c->margins, c->annealing->columns + j * n, found - x, n);
            c->theta[j] = found;
            c->log_likelihood = log_likelihood;
            return;
        }
        if (found < x)
            left = found;
        else
            right = found;
    }
}

double pb_annealing_run(const pb_annealing *annealing, int64_t n, double *theta, double *margins,
                        pb_bitgen *bitgen, int64_t *n_evaluations)
{
    chain c = {annealing, bitgen, theta, margins, 0.0, 0.0, 0};
    double log_weight = 0.0;
    c.log_likelihood = look(&c, 0, theta[0]);
    for (int64_t i = 1; i <= n; i++) {
        const double share = (double)i / (double)n, before = c.temperature;
        c.temperature = share * share * share * share;
        log_weight += (c.temperature - before) * c.log_likelihood;
        for (int64_t j = 0; i < n && j < annealing->n_features; j++)
            slice(&c, j);
    }
    *n_evaluations = c.n_evaluations;
    return log_weight;
}
