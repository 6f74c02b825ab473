#include "../../_shared/c/check.h"

#include "pybandit/mcmc/race_chain.h"

enum { N = 20, D = 2 };

/* Draws a normal number: the first of the two of Box and Muller's method. */
static double normal(void *bitgen)
{
    pb_bitgen *bits = bitgen;
    const double u = bits->next_double(bits->state), v = bits->next_double(bits->state);
    return sqrt(-2.0 * log(1.0 - u)) * cos(6.283185307179586 * v);
}

static double exponential(void *bitgen)
{
    pb_bitgen *bits = bitgen;
    return -log(1.0 - bits->next_double(bits->state));
}

/* Normal data around theta with unit variance, and a normal prior with precisions 2 and 3. */
typedef struct {
    double y[N * D], points[2 * D], work[3 * D], start[D], farthest[D];
    double precision[D * D], center[D], gradient[D], hessian[D * D], inverse[D * D];
    double has_control;
    int prior_fails, factors_fail;
    double cut;  /* the prior is 0 if theta[0] is below this */
    int64_t rows[1], indices[N];
    double scale[1], slack[1], ratios[N];
    uint32_t memory[N];
    pb_subsample stream;
    pb_move moves[2];
    pb_accept test;
    pb_race_chain chain;
} world;

/* Writes the log ratios minus the control. The control is exact, so with it all are 0. */
static int log_ratios(const int64_t *factors, int64_t n, const int64_t *states, int64_t n_states,
                      double *out, void *data)
{
    const world *w = data;
    (void)states;
    for (int64_t f = 0; f < n * n_states; f++) {
        out[f] = 0.0;
        for (int j = 0; j < D && w->has_control == 0.0; j++) {
            const double a = w->y[factors[f] * D + j] - w->points[j];
            const double b = w->y[factors[f] * D + j] - w->points[D + j];
            out[f] += 0.5 * (a * a - b * b);
        }
    }
    return w->factors_fail;
}

static int log_prior(const double *theta, void *data, double *out)
{
    const world *w = data;
    *out = theta[0] < w->cut ? -INFINITY : 0.0;
    return w->prior_fails;
}

static void build(world *w)
{
    const world empty = {0};
    uint64_t random = 2;
    *w = empty;
    w->cut = -INFINITY;
    w->precision[0] = 2.0;
    w->precision[3] = 3.0;
    for (int i = 0; i < N * D; i++)
        w->y[i] = 2.0 * splitmix_double(&random) - 0.5;
    for (int j = 0; j < D; j++) {
        w->hessian[j * D + j] = -N;
        w->inverse[j * D + j] = 1.0;
        for (int i = 0; i < N; i++)
            w->gradient[j] += w->y[i * D + j];
    }
    w->rows[0] = N;
    pb_subsample_init(&w->stream, PB_SUBSAMPLE_PERMUTATION, N, 1, w->memory);
    w->test.factors = (pb_factors){N, 1, NULL, log_ratios, w, 0};
    w->test.schedule = (pb_schedule){1, w->rows, w->scale, w->slack, NULL};
    w->test.subsample = &w->stream;
    w->test.block = N;
    w->test.indices = w->indices;
    w->test.ratios = w->ratios;
    w->moves[0] = (pb_move){PB_MOVE_WALK, NULL, NULL, 0.6, 0.3, 0.9, 0.4, 0};
    w->moves[1] = (pb_move){PB_MOVE_AUTOREGRESSIVE, NULL, NULL, 1.0, 0.6, 0.1, 0.3, 0};
    pb_race_chain *c = &w->chain;
    c->n_parameters = D;
    c->test = &w->test;
    c->moves = w->moves;
    c->n_moves = 2;
    c->normal = normal;
    c->exponential = exponential;
    c->precision = w->precision;
    c->log_prior = log_prior;
    c->prior_data = w;
    c->points = w->points;
    c->work = w->work;
    c->start = w->start;
    c->farthest = w->farthest;
    assert(pb_race_chain_begin(c) == PB_OK && c->log_density == 0.0);
}

static void control(world *w)
{
    w->has_control = 1;
    w->chain.center = w->center;
    w->chain.gradient = w->gradient;
    w->chain.hessian = w->hessian;
}

static void moments_of_the_posterior(int has_control)
{
    world w;
    uint64_t counter = 5;
    pb_bitgen bitgen = splitmix(&counter);
    enum { STEPS = 100000 };
    double sums[D] = {0}, squares[D] = {0}, far = 0.0;
    int is_test;
    build(&w);
    if (has_control)
        control(&w);
    for (int t = 0; t < STEPS; t++) {
        assert(pb_race_chain_step(&w.chain, &bitgen, &is_test) == PB_OK && is_test);
        far = fmax(far, w.points[0] * w.points[0] + w.points[1] * w.points[1]);
        for (int j = 0; j < D; j++) {
            sums[j] += w.points[j] / STEPS;
            squares[j] += w.points[j] * w.points[j] / STEPS;
        }
    }
    for (int j = 0; j < D; j++) {
        const double precision = N + w.precision[j * D + j];
        assert(close_to(sums[j], w.gradient[j] / precision, 0.01));
        assert(close_to(squares[j] - sums[j] * sums[j], 1.0 / precision, 0.05 / precision));
    }
    const pb_race_chain *c = &w.chain;
    assert(c->n_steps == STEPS && c->n_looks == STEPS && c->n_exact == STEPS);
    assert(c->n_evaluations == (int64_t)STEPS * N && c->n_accepted > STEPS / 5);
    assert(c->farthest[0] * c->farthest[0] + c->farthest[1] * c->farthest[1] == far);
    assert(w.moves[0].n_adapted == 0);
}

/* Checks that proposals with prior 0 are rejected without reading rows, and that scales adapt. */
static void a_prior_with_an_edge(void)
{
    world w;
    uint64_t counter = 6;
    pb_bitgen bitgen = splitmix(&counter);
    int is_test, rejected = 0;
    build(&w);
    w.cut = -0.01;
    w.chain.adapts = 1;
    for (int t = 0; t < 2000; t++) {
        assert(pb_race_chain_step(&w.chain, &bitgen, &is_test) == PB_OK);
        rejected += !is_test;
        assert(w.points[0] >= w.cut);
    }
    assert(rejected > 10 && w.chain.n_looks == 2000 - rejected);
    assert(w.moves[0].n_adapted + w.moves[1].n_adapted == 2000);
    assert(binomial_fits(w.moves[0].n_adapted, 2000, 0.6) && w.moves[0].scale != 0.4);
}

static void failures(void)
{
    world w;
    uint64_t counter = 7;
    pb_bitgen bitgen = splitmix(&counter);
    int is_test;
    build(&w);
    w.prior_fails = 1;
    assert(pb_race_chain_begin(&w.chain) == PB_CALLBACK);
    assert(pb_race_chain_step(&w.chain, &bitgen, &is_test) == PB_CALLBACK && !is_test);
    w.prior_fails = 0;
    w.factors_fail = 1;
    assert(pb_race_chain_step(&w.chain, &bitgen, &is_test) == PB_CALLBACK && is_test);
    assert(w.points[0] == 0.0 && w.points[1] == 0.0 && w.chain.n_steps == 0);
    w.factors_fail = 0;
    w.y[0] = NAN;
    assert(pb_race_chain_step(&w.chain, &bitgen, &is_test) == PB_NOT_FINITE && is_test);
}

/* Checks that the bets of each step get the range of its log ratios, which is symmetric. */
static void ranges(void)
{
    world w;
    uint64_t counter = 8;
    pb_bitgen bitgen = splitmix(&counter);
    pb_threshold betting = {0};
    int is_test;
    double range[2];
    for (int is_line = 0; is_line < 2; is_line++) {
        build(&w);
        control(&w);
        w.test.betting = &betting;
        w.chain.inverse = w.inverse;
        w.chain.is_line = is_line;
        w.chain.largest = 3.0;
        w.chain.slack = 0.25;
        /* a threshold outside the range is decided without reading */
        w.gradient[0] = 1e9;
        for (int t = 0; t < 20; t++) {
            const double x = w.points[0], y = w.points[1];
            assert(pb_race_chain_step(&w.chain, &bitgen, &is_test) == PB_OK);
            assert(w.chain.n_evaluations == 0);
            range[is_line] = betting.items.high;
            assert(betting.items.low == -betting.items.high && betting.items.high >= 0.25);
            if (x == w.points[0] && y == w.points[1] && !is_line) {
                const double a = w.points[2] - x, b = w.points[3] - y;
                const double m = 0.5 * (x + w.points[2]), n = 0.5 * (y + w.points[3]);
                const double spread = sqrt(a * a + b * b) * (m * m + n * n + (a * a + b * b) / 12);
                assert(close_to(betting.items.high, 3.0 * spread + 0.25, 1e-8 * (1.0 + spread)));
            }
        }
    }
    assert(range[0] > 0.25 && range[1] > 0.25);
}

int main(void)
{
    moments_of_the_posterior(0);
    moments_of_the_posterior(1);
    a_prior_with_an_edge();
    failures();
    ranges();
    return 0;
}
