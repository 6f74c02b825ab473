#include "../../_shared/c/check.h"

#include "pybandit/montecarlo/cir.h"

static const pb_cir CAPLET = {.016, .2, .02, .08, .01, 100, .07, 1000.0};

/* A list of numbers, returned in place of normal random numbers. */
typedef struct {
    const double *values;
    int64_t read;
} table;

static double from_table(void *state)
{
    table *t = state;
    return t->values[t->read++];
}

static double nothing(void *state)
{
    (void)state;
    return 0.0;
}

static double box_muller(void *state)
{
    const double u = splitmix_double(state), v = splitmix_double(state);
    return sqrt(-2.0 * log(1.0 - u)) * cos(6.283185307179586 * v);
}

/* eta = kappa r_0: without noise the rate is constant, and the trapezoidal rule is exact. */
static void a_rate_at_rest(void)
{
    double brownian = -1.0;
    assert(close_to(pb_cir_path(&CAPLET, 0.0, nothing, NULL, &brownian), 10.0 * exp(-.08), 1e-12));
    assert(brownian == 0.0);
    /* drift 1.5 shifts W_1 by 1.5, which the weight corrects */
    const double payoff = pb_cir_path(&CAPLET, 1.5, nothing, NULL, &brownian);
    assert(close_to(brownian, 1.5, 1e-13));
    assert(close_to(pb_cir_weighted(&CAPLET, 1.5, nothing, NULL), payoff * exp(-1.5 * 1.5 / 2),
                    1e-12));
}

static void two_steps_by_hand(void)
{
    const pb_cir cir = {.01, .5, .3, .04, .25, 2, .02, 10.0};
    const double normals[] = {.5, -.25}, shift = .8 * .5;
    table t = {normals, 0};
    const double r1 = .04 + (.01 - .5 * .04) * .25 + .3 * sqrt(.04 * .25) * (.5 + shift);
    const double r2 = r1 + (.01 - .5 * r1) * .25 + .3 * sqrt(r1 * .25) * (-.25 + shift);
    const double payoff = 10.0 * (r2 - .02) * exp(-.25 * ((.04 + r2) / 2 + r1));
    const double w = .5 * (.25 + 2 * shift);
    double brownian;
    assert(close_to(pb_cir_path(&cir, .8, from_table, &t, &brownian), payoff, 1e-14));
    assert(t.read == 2 && close_to(brownian, w, 1e-15));
    t.read = 0;
    assert(close_to(pb_cir_weighted(&cir, .8, from_table, &t),
                    payoff * exp(-.8 * w + .64 * .5 / 2), 1e-14));
}

/* Below zero the rate changes by eta h only, until it is positive again. */
static void below_zero(void)
{
    const pb_cir cir = {.08, .5, .3, .04, .25, 4, .001, 1.0};
    const double normals[] = {-3.0, 5.0, 5.0, 1.0};
    table t = {normals, 0};
    const double r1 = .04 + (.08 - .02) * .25 - .3 * .2 * .5 * 3.0;
    const double r2 = r1 + .02, r3 = r2 + .02;
    const double r4 = r3 + (.08 - .5 * r3) * .25 + .3 * sqrt(r3) * .5;
    assert(r1 < 0.0 && r2 < 0.0 && r3 > 0.0);
    double brownian;
    const double payoff = pb_cir_path(&cir, 0.0, from_table, &t, &brownian);
    assert(t.read == 4 && close_to(brownian, 4.0, 1e-15));
    assert(close_to(payoff, (r4 - .001) * exp(-.25 * ((.04 + r4) / 2 + r1 + r2 + r3)), 1e-15));
    t.read = 0;
    const pb_cir above = {.08, .5, .3, .04, .25, 2, .001, 1.0};
    assert(pb_cir_weighted(&above, 0.0, from_table, &t) == 0.0);
}

/* Checks the mean under every drift against the value of a recursion. */
static void means_of_all_drifts_agree(void)
{
    uint64_t random = 1;
    const int n = 20000;
    for (int k = 0; k <= 8; k += 4) {
        double sum = 0.0, square = 0.0;
        for (int i = 0; i < n; i++) {
            const double x = pb_cir_weighted(&CAPLET, .1 * k, box_muller, &random);
            sum += x;
            square += x * x;
        }
        const double mean = sum / n, variance = square / n - mean * mean;
        assert(close_to(mean, 9.2567468094, 5.0 * sqrt(variance / n)));
    }
}

int main(void)
{
    a_rate_at_rest();
    two_steps_by_hand();
    below_zero();
    means_of_all_drifts_agree();
    return 0;
}
