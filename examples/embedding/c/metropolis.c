/*
 * Metropolis-Hastings in plain C that reads a few hundred of 50,000 rows per step: a logistic
 * regression with one parameter, and its second-order expansion around the mode as control variate.
 * Mean and standard deviation of the chain are compared with integrals of the posterior.
 *
 *     make metropolis && ./metropolis
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "pybandit/racing/accept.h"
#include "pybandit/racing/control.h"
#include "pybandit/racing/schedule.h"
#include "xoshiro.h"

enum { N = 50000, STEPS = 20000 };

/* points[0] is the current point of the chain, points[1] the proposed one. */
typedef struct {
    double *x, *y, *slopes, *curvatures;
    double mode, gradient, hessian, points[2];
} model;

static double log_likelihood(const model *m, int64_t n, double theta)
{
    const double s = m->x[n] * theta;
    return m->y[n] * s - log1p(exp(s));
}

static int log_ratios(const int64_t *factors, int64_t n_factors, const int64_t *states,
                      int64_t n_states, double *out, void *user_data)
{
    const model *m = user_data;
    (void)states, (void)n_states;  /* there is only one state */
    for (int64_t f = 0; f < n_factors; f++)
        out[f] = log_likelihood(m, factors[f], m->points[1]) -
                 log_likelihood(m, factors[f], m->points[0]);
    return 0;
}

static void *reserve(int64_t bytes)
{
    void *memory = malloc((size_t)bytes);
    if (!memory)
        exit(EXIT_FAILURE);
    return memory;
}

static double normal(pb_bitgen *bitgen)
{
    return sqrt(-2.0 * log(pb_bitgen_open(bitgen))) * cos(6.283185307179586 *
                                                          pb_bitgen_open(bitgen));
}

static void simulate(model *m, pb_bitgen *bitgen)
{
    for (int n = 0; n < N; n++) {
        m->x[n] = normal(bitgen);
        m->y[n] = pb_bitgen_open(bitgen) < 1.0 / (1.0 + exp(-0.5 * m->x[n]));
    }
}

/* Finds the mode by Newton's method; computes the derivatives of all rows there, and their sums. */
static void expand(model *m)
{
    for (int round = 0; round < 20; round++) {
        m->gradient = m->hessian = 0.0;
        for (int n = 0; n < N; n++) {
            const double p = 1.0 / (1.0 + exp(-m->x[n] * m->mode));
            m->slopes[n] = m->y[n] - p;
            m->curvatures[n] = -p * (1.0 - p);
            m->gradient += m->slopes[n] * m->x[n];
            m->hessian += m->curvatures[n] * m->x[n] * m->x[n];
        }
        if (round < 19)
            m->mode -= m->gradient / m->hessian;
    }
}

/* Integrates the posterior under a flat prior, within 8 standard deviations. */
static void integrate(const model *m, double *mean, double *deviation)
{
    enum { CELLS = 80 };
    const double width = 0.2 / sqrt(-m->hessian);
    double mass = 0.0, first = 0.0, second = 0.0;
    for (int c = -CELLS / 2; c <= CELLS / 2; c++) {
        double change = 0.0;
        for (int64_t n = 0; n < N; n++)
            change += log_likelihood(m, n, m->mode + c * width) - log_likelihood(m, n, m->mode);
        mass += exp(change);
        first += exp(change) * c * width;
        second += exp(change) * c * width * c * width;
    }
    *mean = m->mode + first / mass;
    *deviation = sqrt(second / mass - first / mass * (first / mass));
}

/* Runs a random walk; returns the mean number of rows read per step, or -1 after an error. */
static double walk(model *m, pb_accept *test, pb_bitgen *bitgen, double *mean,
                   double *deviation)
{
    const double scale = 2.4 / sqrt(-m->hessian);
    double first = 0.0, second = 0.0, read = 0.0;
    m->points[0] = m->mode;
    for (int step = 0; step < STEPS; step++) {
        int64_t accepted, n;
        m->points[1] = m->points[0] + scale * normal(bitgen);
        /* the sum of the control variate over all rows is subtracted from the threshold */
        const double threshold =
            log(pb_bitgen_open(bitgen)) -
            pb_control_quadratic_change(1, &m->gradient, &m->hessian, &m->mode, m->points);
        if (pb_accept_decide(test, threshold, bitgen, &accepted, &n) != PB_OK)
            return -1.0;
        if (accepted)
            m->points[0] = m->points[1];
        first += m->points[0] - m->mode;
        second += (m->points[0] - m->mode) * (m->points[0] - m->mode);
        read += (double)n;
    }
    *mean = m->mode + first / STEPS;
    *deviation = sqrt(second / STEPS - first / STEPS * (first / STEPS));
    return read / STEPS;
}

int main(void)
{
    xoshiro generator;
    pb_bitgen bitgen = xoshiro_bitgen(&generator, 17);
    double *const rows = reserve(4 * N * (int64_t)sizeof(double));
    model m = {.x = rows, .y = rows + N, .slopes = rows + 2 * N, .curvatures = rows + 3 * N};
    simulate(&m, &bitgen);
    expand(&m);

    const pb_control_linear linear = {1, m.x, m.slopes, m.curvatures, &m.mode, m.points};
    pb_control control = {.factors = {N, 1, NULL, log_ratios, &m},
                          .subtract = pb_control_linear_change,
                          .data = (void *)(uintptr_t)&linear,
                          .ahead = pb_control_linear_ahead};
    const pb_factors factors = {.n_factors = N, .n_states = 1, .function = pb_control_read,
                                .user_data = &control};
    pb_schedule schedule;
    void *const looks = reserve(pb_schedule_memory(N, 50, 1.0));
    if (pb_schedule_normal(0.01, PB_TWO_SIDED, N, 2, 50, 1.0, looks, &schedule) != PB_OK)
        return EXIT_FAILURE;
    void *const memory = reserve(pb_accept_memory(&factors, PB_SUBSAMPLE_PERMUTATION));
    pb_accept test;
    pb_accept_init(&test, &factors, &schedule, PB_SUBSAMPLE_PERMUTATION, memory);

    double mean, deviation, walked_mean = 0.0, walked_deviation = 0.0;
    integrate(&m, &mean, &deviation);
    const double read = walk(&m, &test, &bitgen, &walked_mean, &walked_deviation);
    const double off = fabs(walked_mean - mean) / deviation, ratio = walked_deviation / deviation;
    printf("posterior %.5f +- %.5f, chain %.5f +- %.5f; %.0f of %d rows per step\n", mean,
           deviation, walked_mean, walked_deviation, read, N);
    free(memory);
    free(looks);
    free(rows);
    return read > 0.0 && read < N / 20 && off < 0.1 && fabs(ratio - 1.0) < 0.1 ? EXIT_SUCCESS
                                                                               : EXIT_FAILURE;
}
