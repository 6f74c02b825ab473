/* Chains whose test is a race: a step is complete, or leaves the chain unchanged. */
#include "fuzz.h"

#include "pybandit/mcmc/race_chain.h"
#include "pybandit/racing/schedule.h"

enum { MOST_D = 3 };

typedef struct {
    const double *y;    /* (n, d) */
    const double *points;
    int64_t n, d, n_calls, factors_fail, prior_fails;
    double edge;        /* the prior is 0 for theta[0] below this */
} world;

static int log_ratios(const int64_t *factors, int64_t n, const int64_t *states, int64_t n_states,
                      double *out, void *data)
{
    world *w = data;
    HOLDS(n >= 1 && n_states == 1 && states[0] == 0);
    if (w->n_calls++ == w->factors_fail)
        return 1;
    for (int64_t f = 0; f < n; f++) {
        HOLDS(factors[f] >= 0 && factors[f] < w->n);
        out[f] = 0.0;
        for (int64_t j = 0; j < w->d; j++) {
            const double y = w->y[factors[f] * w->d + j];
            out[f] += atan(y - w->points[j]) - atan(y - w->points[w->d + j]);
        }
    }
    return 0;
}

static int log_prior(const double *theta, void *data, double *out)
{
    world *w = data;
    *out = theta[0] < w->edge ? -INFINITY : -fabs(theta[0]);
    return w->prior_fails-- == 0;
}

static void step(pb_race_chain *chain, const world *w, pb_bitgen *bitgen, int is_odd)
{
    double before[MOST_D];
    const int64_t d = chain->n_parameters, steps = chain->n_steps, accepted = chain->n_accepted;
    const int can_fail = w->factors_fail >= 0 || w->prior_fails >= 0;
    int is_test = -1;
    memcpy(before, chain->points, (size_t)d * sizeof *before);
    const pb_status status = pb_race_chain_step(chain, bitgen, &is_test);
    HOLDS(is_test == 0 || is_test == 1);
    HOLDS(status == PB_OK || (status == PB_CALLBACK && can_fail) ||
          (is_test && (status == PB_NOT_FINITE || status == PB_RANGE) && is_odd));
    if (status == PB_OK) {
        HOLDS(chain->n_steps == steps + 1 && chain->n_accepted - accepted >= 0);
        HOLDS(chain->n_accepted - accepted <= 1 && chain->n_exact <= chain->n_steps);
    } else {
        HOLDS(chain->n_steps == steps && chain->n_accepted == accepted);
    }
    if (status != PB_OK || chain->n_accepted == accepted)
        HOLDS(memcmp(before, chain->points, (size_t)d * sizeof *before) == 0);
    HOLDS(!chain->log_prior || before[0] < w->edge || chain->points[0] >= w->edge);
    HOLDS(!isnan(chain->log_density));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    choices c = {bytes, bytes + size};
    pool p = {.n = 0};
    const int64_t n = choose(&c, 2, 60), d = choose(&c, 1, MOST_D), flags = choose(&c, 0, 255);
    const int64_t more = choose(&c, 0, 255), is_odd = (flags & 3) == 3 || flags & 32;
    uint64_t counter = choose_bits(&c);
    pb_bitgen bitgen = fuzz_bitgen(&counter);
    double *y = TAKE(&p, n * d, double), *square = ZEROS(&p, d * d, double);
    choose_numbers(&c, y, n * d, 50.0);
    if (is_odd && choose_byte(&c) & 1)
        y[choose(&c, 0, n * d - 1)] = flags & 4 ? NAN : 1e308;
    for (int64_t j = 0; j < d; j++)
        square[j * d + j] = 0.1 + choose_unit(&c);
    double *points = ZEROS(&p, 2 * d, double), *center = ZEROS(&p, d, double);
    double *gradient = TAKE(&p, d, double), *hessian = TAKE(&p, d * d, double);
    choose_numbers(&c, gradient, d, 9.0);
    for (int64_t i = 0; i < d * d; i++)
        hessian[i] = -square[i];
    world w = {y, points, n, d, 0, flags & 8 ? choose(&c, 0, 9) : -1,
               more & 8 ? choose(&c, 0, 9) : -1, more & 16 ? -choose_unit(&c) : -INFINITY};
    pb_schedule schedule;
    const double fraction = choose_unit(&c);
    void *looks = pool_take(&p, pb_schedule_memory(n, 8, fraction), 1);
    HOLDS(pb_schedule_normal(0.01 + 0.4 * choose_unit(&c), PB_TWO_SIDED, n, 2, 8, fraction, looks,
                             &schedule) == PB_OK);
    const pb_factors factors = {n, 1, NULL, log_ratios, &w, 0};
    pb_accept test;
    pb_accept_init(&test, &factors, &schedule, PB_SUBSAMPLE_PERMUTATION,
                   pool_take(&p, pb_accept_memory(&factors, PB_SUBSAMPLE_PERMUTATION), 1));
    const double bets[4] = {0.2, 0.5, 1.0, 2.0}, equal[4] = {0.25, 0.25, 0.25, 0.25};
    pb_threshold betting = {.bets = {PB_MIX_PRODUCT, 4, bets, equal, NULL},
                            .items = {n, -40.0, 40.0, 80.0, NULL}, .threshold = 20.0, .n_arms = 1,
                            .verdicts = TAKE(&p, 1, int64_t), .arms = TAKE(&p, 1, int64_t),
                            .columns = TAKE(&p, 1, int64_t), .sums = TAKE(&p, 1, double)};
    betting.memory = TAKE(&p, 2 * pb_bets_memory(&betting.bets), double);
    betting.columns[0] = 0;
    test.betting = flags & 32 ? &betting : NULL;
    pb_move moves[2] = {{PB_MOVE_WALK, flags & 64 ? square : NULL, NULL, choose_unit(&c), 0.3,
                         0.01 + 2.0 * choose_unit(&c), 0},
                        {PB_MOVE_AUTOREGRESSIVE, NULL, more & 1 ? center : NULL, 1.0, 0.6,
                         0.01 + choose_unit(&c), 0}};
    const int has_control = more & 2 ? 1 : 0;
    pb_race_chain chain = {.n_parameters = d, .test = &test, .moves = moves, .n_moves = 2,
                           .adapts = flags > 127, .normal = fuzz_normal,
                           .exponential = fuzz_exponential,
                           .precision = more & 4 ? square : NULL,
                           .log_prior = more & 24 ? log_prior : NULL, .prior_data = &w,
                           .center = has_control ? center : NULL, .gradient = gradient,
                           .hessian = hessian,
                           .inverse = has_control && flags & 32 && more & 32 ? square : NULL,
                           .is_line = more & 64 ? 1 : 0, .largest = choose_unit(&c), .slack = 60.0,
                           .points = points, .work = TAKE(&p, 3 * d, double),
                           .start = more & 128 ? ZEROS(&p, d, double) : NULL,
                           .farthest = more & 128 ? ZEROS(&p, d, double) : NULL};
    if (pb_race_chain_begin(&chain) == PB_OK)
        for (int64_t i = choose(&c, 1, 12); i > 0; i--)
            step(&chain, &w, &bitgen, is_odd || has_control);
    pool_free(&p);
    return 0;
}
