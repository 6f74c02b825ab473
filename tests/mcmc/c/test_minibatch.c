#include "../../_shared/c/check.h"

#include "pybandit/mcmc/minibatch.h"

enum { N = 30, D = 2 };

/* Draws a normal number: the first of the two of Box and Muller's method. */
static double normal(void *bitgen)
{
    pb_bitgen *bits = bitgen;
    const double u = bits->next_double(bits->state), v = bits->next_double(bits->state);
    return sqrt(-2.0 * log(1.0 - u)) * cos(6.283185307179586 * v);
}

/* Draws a Poisson number with a small mean, by multiplying uniform numbers. */
static int64_t poisson(void *bitgen, double mean)
{
    pb_bitgen *bits = bitgen;
    double product = bits->next_double(bits->state);
    int64_t n = 0;
    while (product > exp(-mean)) {
        product *= bits->next_double(bits->state);
        n++;
    }
    return n;
}

static double cubed(double x) { return x * x * x; }

/* In the plane, M is never below the maximum over a grid of directions, and hardly above it. */
static void spreads(void)
{
    uint64_t random = 1;
    for (int trial = 0; trial < 2000; trial++) {
        double z[2], next[2], largest = 0.0;
        for (int i = 0; i < 2; i++) {
            z[i] = 4.0 * splitmix_double(&random) - 2.0;
            next[i] = trial % 3 ? 4.0 * splitmix_double(&random) - 2.0 : z[i] * (1.0 + 1e-3 * i);
        }
        if (trial % 5 == 0)
            z[0] = z[1] = 0.0;
        for (int k = 0; k < 720; k++) {
            const double angle = 3.141592653589793 * k / 720.0, c = cos(angle), s = sin(angle);
            largest = fmax(largest, fabs(cubed(c * next[0] + s * next[1]) -
                                         cubed(c * z[0] + s * z[1])) / 3.0);
        }
        const double found = pb_minibatch_spread(z, next, 2);
        assert(found == pb_minibatch_spread(next, z, 2));
        assert(found >= largest * (1.0 - 1e-12) && found <= largest * 1.001 + 1e-12);
        const double dx = next[0] - z[0], dy = next[1] - z[1];
        const double far = fmax(z[0] * z[0] + z[1] * z[1], next[0] * next[0] + next[1] * next[1]);
        assert(found <= sqrt(dx * dx + dy * dy) * far * (1.0 + 1e-12));
    }
    const double z[] = {0.5, 2.0};
    assert(pb_minibatch_spread(z, z, 2) == 0.0 && pb_minibatch_spread(z, z, 1) == 0.0);
    const double line[] = {-1.0};
    assert(close_to(pb_minibatch_spread(line, z, 1), (1.0 + 0.125) / 3.0, 1e-9));
}

/* A logistic regression with everything that a chain needs, expanded at theta = 0. */
typedef struct {
    double x[N * D], y[N], mode[D], factor[D * D], slope[D], memory[5 * D];
    pb_glm_row rows[N];
    pb_alias alias[N];
    pb_minibatch problem;
    pb_move moves[2];
    pb_chain chain;
    double points[2 * D];
    pb_own_rows own;
    int fails_at, n_asked, spread_fails;
    double spread;
} world;

static void build(world *w, pb_minibatch_test test, double most)
{
    uint64_t random = 2;
    double value = 0.0, gradient[D] = {0}, hessian[D * D] = {0}, work[D];
    int64_t stacks[N];
    for (int i = 0; i < N * D; i++)
        w->x[i] = 6.0 * splitmix_double(&random) - 3.0;
    for (int i = 0; i < N; i++)
        w->y[i] = i % 2;
    const pb_glm glm = {PB_GLM_LOGISTIC, N, D, w->x, w->y, NULL, 1.0, 1.0, 0.0};
    w->mode[0] = w->mode[1] = 0.0;
    pb_glm_sums(&glm, 0, N, 1, 0, w->mode, &value, gradient, hessian);
    /* with prior precision 1: the Cholesky factor of the inverse of the 2 x 2 precision matrix */
    const double a = 1.0 - hessian[0], b = -hessian[2], c = 1.0 - hessian[3], det = a * c - b * b;
    w->factor[0] = sqrt(c / det);
    w->factor[1] = 0.0;
    w->factor[2] = -b / det / w->factor[0];
    w->factor[3] = sqrt(a / det - w->factor[2] * w->factor[2]);
    w->slope[0] = w->factor[0] * gradient[0] + w->factor[2] * gradient[1];
    w->slope[1] = w->factor[3] * gradient[1];
    pb_glm_anchor(&glm, 0, N, w->mode, w->factor, w->rows, work);
    const double total = pb_alias_build(&w->rows[0].bound, 4, N, w->alias, stacks);
    w->problem = (pb_minibatch){glm, w->rows, w->alias, total, w->mode, w->factor, w->slope,
                                test, 0.5, most, INFINITY, PB_MINIBATCH_LINE};
    w->moves[0] = (pb_move){PB_MOVE_AUTOREGRESSIVE, NULL, NULL, 0.7, 0.65, 0.4, 0.9, 0};
    w->moves[1] = (pb_move){PB_MOVE_WALK, NULL, NULL, 1.0, 0.3, 0.3, 1.5, 0};
    assert(pb_chain_memory(D) == 5 * D);
    double *m = w->memory;
    w->chain = (pb_chain){.problem = &w->problem, .moves = w->moves, .n_moves = 2, .normal = normal,
                          .poisson = poisson, .z = m, .point = m + D, .next_z = m + 2 * D,
                          .next_point = m + 3 * D, .work = m + 4 * D, .bad_row = -1};
    m[0] = m[1] = 0.0;
    pb_chain_place(&w->chain);
}

/* Writes remainders as a user-defined function would: changes of l_i minus its expansion at 0. */
static int own_differences(const int64_t *rows, int64_t n, const int64_t *states,
                           int64_t n_states, double *out, void *data)
{
    world *w = data;
    assert(n_states == 1 && states[0] == 0);
    for (int64_t k = 0; k < n; k++) {
        const double *x = w->x + D * rows[k], *p = w->points;
        const double s = x[0] * p[0] + x[1] * p[1], t = x[0] * p[2] + x[1] * p[3];
        out[k] = -log1p(exp(t)) + log1p(exp(s)) + (t - s) * (0.5 + 0.125 * (t + s));
        if (w->fails_at && ++w->n_asked == w->fails_at)
            out[k] = NAN;
    }
    return w->fails_at < 0;
}

/* Writes a loose bound on M, 2 (|z| + |z'|)^3, or the spread that the test sets. */
static int own_spread(void *data, double *out)
{
    world *w = data;
    const double *a = w->chain.z, *b = w->chain.next_z;
    const double r = sqrt(a[0] * a[0] + a[1] * a[1]) + sqrt(b[0] * b[0] + b[1] * b[1]);
    *out = w->spread != 0.0 ? w->spread : 2.0 * r * r * r;
    return w->spread_fails;
}

static void make_own(world *w, pb_minibatch_form form)
{
    const pb_factors factors = {.n_factors = N, .n_states = 1, .function = own_differences,
                                .user_data = w};
    const pb_own_rows own = {factors, w->points, 1e-12, own_spread, w};
    w->own = own;
    w->chain.own = &w->own;
    w->problem.form = form;
    w->fails_at = w->n_asked = w->spread_fails = 0;
    w->spread = 0.0;
    if (form != PB_MINIBATCH_LINE)
        w->problem.glm.features = NULL;
    if (form != PB_MINIBATCH_SPACE)
        return;
    int64_t stacks[N];
    for (int i = 0; i < N; i++) {
        const double *x = w->x + D * i, length = sqrt(x[0] * x[0] + x[1] * x[1]);
        w->rows[i].bound = w->rows[i].third / 2.0 * cubed(length);
    }
    w->problem.total = pb_alias_build(&w->rows[0].bound, 4, N, w->alias, stacks);
}

static double log_density(const world *w, const double *theta)
{
    double sum = -0.5 * (theta[0] * theta[0] + theta[1] * theta[1]);
    for (int i = 0; i < N; i++) {
        const double s = w->x[2 * i] * theta[0] + w->x[2 * i + 1] * theta[1];
        sum += w->y[i] * s - log1p(exp(s));
    }
    return sum;
}

/* Computes means and second moments of each coordinate of theta, by a sum over the plane. */
static void integrate(const world *w, double *moments)
{
    double sums[5] = {0};
    const double h = 0.02;
    for (int i = -200; i <= 200; i++)
        for (int j = -200; j <= 200; j++) {
            const double theta[] = {h * i, h * j}, f = exp(log_density(w, theta) + N);
            sums[0] += f;
            for (int k = 0; k < 2; k++) {
                sums[1 + k] += f * theta[k];
                sums[3 + k] += f * theta[k] * theta[k];
            }
        }
    for (int k = 0; k < 4; k++)
        moments[k] = sums[1 + k] / sums[0];
}

/* `own` is the form of user-defined bounds, or -1 for the built-in remainders. */
static void moments_of_the_posterior(pb_minibatch_test test, double most, int own)
{
    world w;
    uint64_t counter = 5;
    pb_bitgen bitgen = splitmix(&counter);
    double expected[4], sums[4] = {0}, squares[4] = {0};
    enum { BATCHES = 50, LENGTH = 2000 };
    build(&w, test, most);
    if (own >= 0)
        make_own(&w, (pb_minibatch_form)own);
    integrate(&w, expected);
    for (int b = 0; b < BATCHES; b++) {
        double means[4] = {0};
        for (int t = 0; t < LENGTH; t++) {
            assert(pb_chain_step(&w.chain, &bitgen) == PB_OK);
            for (int k = 0; k < 2; k++) {
                means[k] += w.chain.point[k] / LENGTH;
                means[2 + k] += w.chain.point[k] * w.chain.point[k] / LENGTH;
            }
        }
        for (int k = 0; k < 4; k++) {
            sums[k] += means[k] / BATCHES;
            squares[k] += means[k] * means[k] / BATCHES;
        }
    }
    assert(w.chain.n_accepted > BATCHES * LENGTH / 5);
    assert(w.chain.n_evaluations > 0 && w.moves[0].n_adapted == 0);
    assert((w.chain.n_exact > 0) == (most < 1e6));
    for (int k = 0; k < 4; k++) {
        const double error = sqrt((squares[k] - sums[k] * sums[k]) / (BATCHES - 1));
        assert(close_to(sums[k], expected[k], 5.0 * error) && error < 0.02);
    }
}

/* Checks that a bound that is too small is detected, and that the chain then stays in place. */
static void bounds_that_do_not_hold(pb_minibatch_test test, int of_rows)
{
    world w;
    uint64_t counter = 6;
    pb_bitgen bitgen = splitmix(&counter);
    build(&w, test, 1e9);
    for (int i = 0; i < N; i++) {
        if (of_rows)
            w.rows[i].bound /= 2.0;
        else
            w.rows[i].third /= 2.0;
    }
    for (int t = 0; t < 20000; t++) {
        const double before[] = {w.chain.z[0], w.chain.z[1]};
        const int64_t n_accepted = w.chain.n_accepted;
        const pb_status status = pb_chain_step(&w.chain, &bitgen);
        if (status != PB_OK) {
            assert(status == PB_RANGE && w.chain.bad_row >= 0 && w.chain.bad_row < N);
            assert(fabs(w.chain.bad_difference) > w.chain.bad_bound);
            assert(w.chain.z[0] == before[0] && w.chain.z[1] == before[1]);
            assert(w.chain.n_accepted == n_accepted);
            return;
        }
    }
    assert(0 && "found");
}

/* Checks that errors of user-defined functions end the step, and that the chain does not move. */
static void functions_that_fail(void)
{
    world w;
    uint64_t counter = 8;
    pb_bitgen bitgen = splitmix(&counter);
    for (int kind = 0; kind < 5; kind++) {
        pb_status status = PB_OK;
        build(&w, PB_MINIBATCH_AUXILIARY, kind == 4 ? 0.0 : 1e9);
        make_own(&w, PB_MINIBATCH_OWN);
        w.fails_at = kind == 0 ? -1 : kind == 1 || kind == 4 ? 40 : 0;
        w.spread_fails = kind == 2;
        w.spread = kind == 3 ? -1.0 : 0.0;
        for (int t = 0; t < 20000 && status == PB_OK; t++)
            status = pb_chain_step(&w.chain, &bitgen);
        assert(status == (kind == 0 || kind == 2 ? PB_CALLBACK : PB_NOT_FINITE));
        if (kind == 1 || kind == 4)
            assert(w.chain.bad_row >= 0 && isnan(w.chain.bad_difference));
        if (kind == 3)
            assert(w.chain.bad_row == -1 && w.chain.bad_difference == -1.0);
        if (kind == 4)
            assert(w.chain.n_exact > 0);
    }
}

static void own_bounds_that_do_not_hold(double most)
{
    world w;
    uint64_t counter = 9;
    pb_bitgen bitgen = splitmix(&counter);
    build(&w, PB_MINIBATCH_FACTORISED, most);
    make_own(&w, PB_MINIBATCH_OWN);
    w.spread = 1e-3;
    pb_status status = PB_OK;
    for (int t = 0; t < 200000 && status == PB_OK; t++)
        status = pb_chain_step(&w.chain, &bitgen);
    assert(status == PB_RANGE && fabs(w.chain.bad_difference) > w.chain.bad_bound);
}

static void spreads_of_any_form(void)
{
    const double z[] = {0.5, 2.0, -1.0}, next[] = {-0.25, 1.0, 0.5};
    double sum = 0.0, length = 0.0;
    for (int i = 0; i < 3; i++)
        length += (next[i] - z[i]) * (next[i] - z[i]);
    for (int k = 0; k < 1000; k++)
        for (int i = 0; i < 3; i++) {
            const double at = z[i] + (k + 0.5) / 1000.0 * (next[i] - z[i]);
            sum += at * at / 1000.0;
        }
    assert(close_to(pb_minibatch_spread_any(z, next, 3), sum * sqrt(length), 1e-5));
    assert(pb_minibatch_spread_any(z, next, 3) == pb_minibatch_spread_any(next, z, 3));
    assert(pb_minibatch_spread_any(z, z, 3) == 0.0);
    assert(pb_minibatch_spread_any(z, next, 3) >= pb_minibatch_spread(z, next, 3));
}

/* Checks that draws are inside the ball, and that some are near its edge. */
static void a_ball(void)
{
    world w;
    uint64_t counter = 10;
    pb_bitgen bitgen = splitmix(&counter);
    double farthest = 0.0;
    build(&w, PB_MINIBATCH_FACTORISED, 1e9);
    w.problem.radius = 1.5;
    for (int t = 0; t < 20000; t++) {
        assert(pb_chain_step(&w.chain, &bitgen) == PB_OK);
        const double *z = w.chain.z;
        farthest = fmax(farthest, sqrt(z[0] * z[0] + z[1] * z[1]));
    }
    assert(farthest <= 1.5 && farthest > 1.45);
}

static void warm_up_changes_the_scales(void)
{
    world w;
    uint64_t counter = 7;
    pb_bitgen bitgen = splitmix(&counter);
    build(&w, PB_MINIBATCH_FACTORISED, 1e9);
    w.chain.adapts = 1;
    for (int t = 0; t < 1000; t++)
        assert(pb_chain_step(&w.chain, &bitgen) == PB_OK);
    assert(w.moves[0].n_adapted + w.moves[1].n_adapted == 1000);
    assert(binomial_fits(w.moves[0].n_adapted, 1000, 0.7));
    assert(w.moves[0].scale != 0.9 && w.moves[1].scale != 1.5);
}

int main(void)
{
    spreads();
    spreads_of_any_form();
    for (int own = -1; own <= PB_MINIBATCH_OWN; own++) {
        const int is_any = own >= PB_MINIBATCH_SPACE;  /* M is larger, so more rows are read */
        moments_of_the_posterior(PB_MINIBATCH_FACTORISED, 1e9, own);
        moments_of_the_posterior(PB_MINIBATCH_FACTORISED, is_any ? 2.0 : 0.2, own);
        moments_of_the_posterior(PB_MINIBATCH_AUXILIARY, 1e9, own);
        moments_of_the_posterior(PB_MINIBATCH_AUXILIARY, is_any ? 5.0 : 0.5, own);
    }
    functions_that_fail();
    own_bounds_that_do_not_hold(1e9);
    own_bounds_that_do_not_hold(0.0);
    a_ball();
    bounds_that_do_not_hold(PB_MINIBATCH_FACTORISED, 0);
    bounds_that_do_not_hold(PB_MINIBATCH_FACTORISED, 1);
    bounds_that_do_not_hold(PB_MINIBATCH_AUXILIARY, 0);
    bounds_that_do_not_hold(PB_MINIBATCH_AUXILIARY, 1);
    warm_up_changes_the_scales();
    return 0;
}
