#include "../../_shared/c/check.h"

#include "pybandit/policies/regret/logit_beta.h"

static const double SHAPES[] = {0.1, 0.5, 1.0, 1.0 + 0x1p-52, 1.0005, 1.5, 2.0, 3.0, 17.5, 400.0,
                                1e5, 1e9};
enum { N_SHAPES = sizeof SHAPES / sizeof *SHAPES };

static double below(double a, double b, double t)
{
    const pb_logit point = pb_logit_at(t);
    return pb_logit_beta_below(a, b, &point, pb_logit_beta_density(a, b, &point));
}

/* Returns the permitted error: the effect of a relative rounding of 1e-16 in the point. */
static double tolerance(double a, double b)
{
    return 5e-14 + 4e-17 * (a + b);
}

static void points(void)
{
    for (double t = -800.0; t <= 800.0; t += 0.37) {
        const pb_logit point = pb_logit_at(t), mirrored = pb_logit_at(-t);
        assert(point.at == t && point.x == mirrored.y);
        assert(close_to(point.x + point.y, 1.0, 1e-15));
        if (fabs(t) < 600.0)
            assert(close_to(log(point.x / point.y), t, 1e-13 * (1.0 + fabs(t))));
    }
}

/* I_x(a, 1) = x^a and I_x(1, b) = 1 - y^b, where y = 1 - x. */
static void powers(void)
{
    for (int i = 0; i < N_SHAPES; i++) {
        const double a = SHAPES[i];
        for (double t = -8.0; t <= 30.0; t += 0.23) {
            const pb_logit point = pb_logit_at(t);
            const double power = exp(-a * log1p(exp(-t)));
            assert(close_to(below(a, 1.0, t), power, tolerance(a, 1.0)));
            assert(close_to(below(1.0, a, -t), 1.0 - power, tolerance(a, 1.0)));
            const double density = a * power * point.y;
            assert(close_to(pb_logit_beta_density(a, 1.0, &point), density, 1e-12 * density));
        }
    }
}

/* I_x(a, b) + I_y(b, a) = 1 for y = 1 - x; I_x increases, and its derivative is the density. */
static void symmetry_and_derivative(void)
{
    for (int i = 0; i < N_SHAPES; i++)
        for (int j = 0; j < N_SHAPES; j++) {
            const double a = SHAPES[i], b = SHAPES[j];
            double mean, variance, last = 0.0;
            pb_logit_beta_moments(a, b, &mean, &variance);
            for (double z = -6.0; z <= 6.0; z += 0.5) {
                const double scale = sqrt(variance), t = mean + z * scale;
                const double value = below(a, b, t), step = 1e-3 * scale;
                const pb_logit point = pb_logit_at(t);
                assert(value >= last - tolerance(a, b) && value <= 1.0);
                assert(close_to(value + below(b, a, -t), 1.0, 2.0 * tolerance(a, b)));
                const double change = (below(a, b, t + step) - below(a, b, t - step)) / 2e-3;
                assert(close_to(change, scale * pb_logit_beta_density(a, b, &point), 1e-3));
                last = value;
            }
        }
}

/* The share of draws up to mean + z std (z = -2 to 2) matches the distribution function. */
static void draws(void)
{
    uint64_t seed = 5;
    pb_bitgen bitgen = splitmix(&seed);
    enum { N = 4000 };
    for (int i = 0; i < N_SHAPES; i++)
        for (int j = 0; j < N_SHAPES; j++) {
            const double a = SHAPES[i], b = SHAPES[j];
            double mean, variance;
            int64_t hits[5] = {0};
            pb_logit_beta_moments(a, b, &mean, &variance);
            for (int draw = 0; draw < N; draw++) {
                const double value = pb_logit_beta_draw(a, b, &bitgen);
                for (int z = 0; z < 5; z++)
                    hits[z] += value <= mean + (z - 2) * sqrt(variance);
            }
            for (int z = 0; z < 5; z++)
                assert(binomial_fits(hits[z], N,
                                     fmax(1e-3, below(a, b, mean + (z - 2) * sqrt(variance)))));
        }
}

typedef struct {
    uint64_t state;
    int64_t taken;
} counting;

static uint64_t count_next(void *state)
{
    counting *const source = state;
    source->taken++;
    return splitmix_next(&source->state);
}

/* At any point, draws beyond it have the right distribution and need few trials. */
static void draws_beyond(void)
{
    counting source = {9, 0};
    pb_bitgen bitgen = {&source, count_next, 0, 0, count_next};
    enum { N = 1000 };
    for (int i = 0; i < N_SHAPES; i++)
        for (int j = 0; j < N_SHAPES; j++)
            for (int z = -16; z <= 16; z++)
                for (int above = 0; above < 2; above++) {
                    const double a = SHAPES[i], b = SHAPES[j];
                    double mean, variance;
                    pb_logit_beta_moments(a, b, &mean, &variance);
                    const double at = mean + 0.5 * z * sqrt(variance);
                    const pb_logit point = pb_logit_at(at);
                    const double density = pb_logit_beta_density(a, b, &point);
                    /* a point that cuts off about half of the tail */
                    const double here = above ? below(b, a, -at) : below(a, b, at);
                    if (here < 1e-9)
                        continue;
                    const double further = (above ? 1.0 : -1.0) * here / density;
                    const double cut = at + (isfinite(further) ? fmin(fmax(further,
                                       -sqrt(variance)), sqrt(variance)) : 0.0);
                    const double there = above ? below(b, a, -cut) : below(a, b, cut);
                    int64_t hits = 0;
                    source.taken = 0;
                    for (int draw = 0; draw < N; draw++) {
                        const double value =
                            pb_logit_beta_draw_beyond(a, b, &point, density, above, &bitgen);
                        assert(above ? value >= at : value <= at);
                        hits += above ? value > cut : value <= cut;
                    }
                    const double share = fmin(1.0, there / here);
                    assert(fabs((double)hits - N * share) <= 6.0 * sqrt(N * share * (1 - share)) + 9);
                    assert(source.taken <= 40 * N);
                }
}

int main(void)
{
    points();
    powers();
    symmetry_and_derivative();
    draws();
    draws_beyond();
    return 0;
}
