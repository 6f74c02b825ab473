#include "../../_shared/c/check.h"

#include "pybandit/mcmc/moves.h"

/* Returns 1, -2, 1, -2, ... instead of normal random numbers. */
static double next_number(void *bitgen)
{
    pb_bitgen *bits = bitgen;
    return bits->next_uint64(bits->state) & 1 ? 1.0 : -2.0;
}

static const double FACTOR[] = {2.0, 99.0, 1.0, 0.5}, CENTER[] = {1.0, -1.0};

static void multiplication(void)
{
    const double x[] = {3.0, -2.0};
    double out[2];
    pb_move_multiply(FACTOR, x, 2, out);
    assert(out[0] == 6.0 && out[1] == 2.0);
}

/* Returns log N(to; center + keep (of - center), b^2 F F') in the plane, up to a constant. */
static double log_density(const double *to, const double *of, double b, const double *factor,
                          const double *center)
{
    const double keep = sqrt(1.0 - b * b);
    const double r0 = to[0] - center[0] - keep * (of[0] - center[0]);
    const double r1 = to[1] - center[1] - keep * (of[1] - center[1]);
    const double u0 = r0 / factor[0], u1 = (r1 - factor[2] * u0) / factor[3];
    return -0.5 * (u0 * u0 + u1 * u1) / (b * b);
}

static void corrections(void)
{
    static const double one[] = {1.0, 0.0, 0.0, 1.0}, zero[] = {0.0, 0.0};
    uint64_t counter = 1;
    pb_bitgen bitgen = splitmix(&counter);
    double next[2], work[2];
    for (int i = 0; i < 100; i++) {
        const double z[] = {splitmix_double(&counter), -splitmix_double(&counter)};
        const double scale = 0.1 + 1.5 * splitmix_double(&counter), b = fmin(1.0, scale);
        const pb_move plain = {PB_MOVE_AUTOREGRESSIVE, NULL, NULL, 1.0, 0.65, 0.4, scale, 0};
        const pb_move other = {PB_MOVE_AUTOREGRESSIVE, FACTOR, CENTER, 1.0, 0.65, 0.4, scale, 0};
        double correction = pb_move_propose(&plain, z, 2, next_number, &bitgen, next, work);
        assert(close_to(correction, log_density(z, next, b, one, zero) -
                                        log_density(next, z, b, one, zero), 1e-12));
        correction = pb_move_propose(&other, z, 2, next_number, &bitgen, next, work);
        assert(close_to(correction, log_density(z, next, b, FACTOR, CENTER) -
                                        log_density(next, z, b, FACTOR, CENTER), 1e-12));
        const pb_move walk = {PB_MOVE_WALK, FACTOR, NULL, 1.0, 0.2, 0.4, scale, 0};
        assert(pb_move_propose(&walk, z, 2, next_number, &bitgen, next, work) == 0.0);
        const double step = (next[0] - z[0]) / (2.0 * scale);
        assert(close_to(step, 1.0, 1e-12) || close_to(step, -2.0, 1e-12));
    }
}

static void adaptation(void)
{
    pb_move walk = {PB_MOVE_WALK, NULL, NULL, 1.0, 0.25, 0.5, 2.0, 0};
    pb_move_adapt(&walk, 1, 0);
    assert(walk.n_adapted == 1 && close_to(walk.scale, 2.0 * exp(0.75), 1e-15 * 8));
    pb_move_adapt(&walk, 0, 1);
    assert(close_to(walk.scale, 2.0 * exp(0.75 - 0.5 / pow(2.0, 0.6)), 1e-14));
    pb_move draws = {PB_MOVE_AUTOREGRESSIVE, NULL, NULL, 1.0, 0.65, 0.4, 0.9, 0};
    for (int i = 0; i < 50; i++)
        pb_move_adapt(&draws, 1, 0);
    assert(draws.scale == 1.5);
    for (int i = 0; i < 2000; i++)
        pb_move_adapt(&draws, 0, 0);
    assert(draws.scale < 0.01);
}

int main(void)
{
    multiplication();
    corrections();
    adaptation();
    return 0;
}
