/*
 * Chains on minibatches with user-defined rows, in every form of their bounds. Rows may differ by
 * more than their bound; functions may fail, omit numbers or return NaN; spreads may be invalid.
 * A step is correct, or is undone and reports the number of the row.
 */
#include "chain.h"

enum { MOST_ROWS = 600 };  /* so many that several calls of the user's function are needed */

/* State of the user's functions: how they fail, and how they were called. */
typedef struct {
    int64_t n_rows, d, n_calls, fails_at, most_asked;
    const double *points;
    int kind;          /* kind of error at call `fails_at` */
    double size;       /* size of a difference, relative to its bound */
    const pb_minibatch *problem;
    uint64_t counter;
} caller;

enum { NOTHING, FAILS, LEAVES_OUT, IS_NAN, IS_INFINITE, TOO_LARGE, KINDS };

static double form_of(const caller *own, int64_t row)
{
    const pb_minibatch *problem = own->problem;
    const int64_t d = own->d;
    const double *now = own->points, *next = own->points + d;
    double a[4], x[4], y[4], along = 0.0, ahead = 0.0;
    for (int64_t i = 0; i < d; i++) {
        HOLDS(isfinite(now[i]) && isfinite(next[i]));
        x[i] = now[i] - problem->mode[i];
        y[i] = next[i] - problem->mode[i];
        a[i] = y[i] - x[i];
    }
    if (problem->form == PB_MINIBATCH_SPACE)
        return problem->rows[row].bound * pb_minibatch_spread_any(x, y, d);
    if (problem->form == PB_MINIBATCH_OWN) {
        double length = 0.0;
        for (int64_t i = 0; i < d; i++)
            length += a[i] * a[i];
        return problem->rows[row].bound * sqrt(length);
    }
    for (int64_t i = 0; i < d; i++) {
        along += problem->glm.features[row * d + i] * x[i];
        ahead += problem->glm.features[row * d + i] * y[i];
    }
    return problem->rows[row].third / 6.0 * fabs(ahead * ahead * ahead - along * along * along);
}

static int factors(const int64_t *rows, int64_t n, const int64_t *states, int64_t n_states,
                   double *out, void *data)
{
    caller *const own = data;
    const int now = own->n_calls++ == own->fails_at ? own->kind : NOTHING;
    HOLDS(n >= 1 && n <= 512 && n_states == 1 && states[0] == 0);
    own->most_asked = n > own->most_asked ? n : own->most_asked;
    const int64_t at = (int64_t)(fuzz_bits(&own->counter) % (uint64_t)n);
    for (int64_t k = 0; k < n; k++) {
        HOLDS(rows[k] >= 0 && rows[k] < own->n_rows);
        if (now == LEAVES_OUT && k == at)
            continue;
        out[k] = own->size * form_of(own, rows[k]) * (2.0 * fuzz_double(&own->counter) - 1.0);
    }
    if (now == IS_NAN)
        out[0] = -NAN;
    else if (now == IS_INFINITE)
        out[n - 1] = INFINITY;
    else if (now == TOO_LARGE)
        out[at] = 1e9 * (1.0 + form_of(own, rows[at]));
    return now == FAILS;
}

static int spread(void *data, double *out)
{
    caller *const own = data;
    const int now = own->n_calls++ == own->fails_at ? own->kind : NOTHING;
    double length = 0.0;
    for (int64_t i = 0; i < own->d; i++) {
        const double a = own->points[own->d + i] - own->points[i];
        length += a * a;
    }
    *out = now == IS_NAN ? NAN : now == IS_INFINITE ? INFINITY : now == TOO_LARGE ? -1.0
                                                                                : sqrt(length);
    return now == FAILS;
}

static int64_t poisson(void *bitgen, double mean)
{
    pb_bitgen *bits = bitgen;
    HOLDS(mean >= 0.0 && isfinite(mean));
    return (int64_t)(2.0 * fmin(mean, 300.0) * bits->next_double(bits->state) +
                     bits->next_double(bits->state));
}

static void step(pb_chain *chain, caller *own, pb_bitgen *bitgen)
{
    const int64_t d = own->d, n = own->n_rows, accepted = chain->n_accepted;
    const int64_t exact = chain->n_exact, called = own->n_calls;
    double before[4], point[4];
    memcpy(before, chain->z, (size_t)d * sizeof *before);
    memcpy(point, chain->point, (size_t)d * sizeof *point);
    const pb_status status = pb_chain_step(chain, bitgen);
    const int was_hit = called <= own->fails_at && own->fails_at < own->n_calls;
    HOLDS(status == PB_OK || status == PB_RANGE || status == PB_NOT_FINITE ||
          status == PB_CALLBACK);
    HOLDS((status == PB_CALLBACK) == (was_hit && own->kind == FAILS));
    HOLDS(status != PB_NOT_FINITE || was_hit);
    if (was_hit && (own->kind == LEAVES_OUT || own->kind == IS_NAN || own->kind == IS_INFINITE))
        HOLDS(status == PB_NOT_FINITE || chain->problem->form == PB_MINIBATCH_OWN);
    if (was_hit && own->kind == TOO_LARGE)
        HOLDS(status == PB_RANGE || chain->problem->form == PB_MINIBATCH_OWN);
    if (status != PB_OK) {
        HOLDS(memcmp(before, chain->z, (size_t)d * sizeof *before) == 0);
        HOLDS(memcmp(point, chain->point, (size_t)d * sizeof *point) == 0);
        HOLDS(chain->n_accepted == accepted && chain->n_exact == exact);
    }
    if (status == PB_RANGE)
        HOLDS(chain->bad_row >= 0 && chain->bad_row < n &&
              !(fabs(chain->bad_difference) <= chain->bad_bound));
    if (status == PB_NOT_FINITE)
        HOLDS(chain->bad_row >= -1 && chain->bad_row < n &&
              (chain->bad_row == -1 || !isfinite(chain->bad_difference)));
    HOLDS(chain->n_accepted - accepted <= 1 && chain->n_exact - exact <= 1);
    HOLDS(chain->n_exact == exact || chain->n_evaluations >= n);
    holds_place(chain, d);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    choices c = {bytes, bytes + size};
    pool p = {.n = 0};
    const int64_t n = choose(&c, 0, 15) ? choose(&c, 1, 40) : choose(&c, 500, MOST_ROWS);
    const int64_t d = choose(&c, 1, 4), flags = choose(&c, 0, 255);
    const pb_minibatch_form form = (pb_minibatch_form)choose(&c, 0, 2);
    double *mode = TAKE(&p, d, double), *slope = TAKE(&p, d, double);
    double *points = TAKE(&p, 2 * d, double);
    double *x = form == PB_MINIBATCH_LINE ? TAKE(&p, n * d, double) : NULL;
    choose_numbers(&c, mode, d, 9.0);
    choose_numbers(&c, slope, d, 3.0);
    double *factor = choose_factor(&c, &p, d);
    if (x)
        choose_numbers(&c, x, n * d, 9.0);
    pb_glm_row *rows = TAKE(&p, n, pb_glm_row);
    double *bounds = TAKE(&p, n, double);
    choose_numbers(&c, bounds, n, 5.0);
    for (int64_t i = 0; i < n; i++) {
        double cube = 1.0;
        if (x) {  /* bounds as a user would compute them: |L'x|^3 third / 2 */
            double square = 0.0;
            for (int64_t j = 0; j < d; j++) {
                double w = 0.0;
                for (int64_t k = j; k < d; k++)
                    w += factor[k * d + j] * x[i * d + k];
                square += w * w;
            }
            cube = 0.5 * square * sqrt(square);
        }
        rows[i].third = fabs(bounds[i]);
        rows[i].bound = rows[i].third * cube;
    }
    pb_alias *alias = TAKE(&p, n, pb_alias);
    const double total = pb_alias_build(&rows[0].bound, (int64_t)(sizeof *rows / sizeof(double)),
                                        n, alias, TAKE(&p, n, int64_t));
    if (!isfinite(total)) {  /* the Python class rejects such data */
        pool_free(&p);
        return 0;
    }
    if (total == 0.0)
        memset(alias, 0xff, (size_t)n * sizeof *alias);
    const double radius = flags & 1 ? 3.0 * choose_unit(&c) : INFINITY;
    const pb_minibatch problem = {{.n_rows = n, .n_parameters = d, .features = x}, rows, alias,
                                  total, mode, factor, slope,
                                  (pb_minibatch_test)(flags >> 1 & 1), 0.05 + choose_unit(&c),
                                  flags & 4 ? (double)choose(&c, 0, 60) : (double)n, radius, form};
    caller told = {n, d, 0, choose(&c, 0, 40), 0, points, (int)choose(&c, 0, KINDS - 1),
                   flags & 8 ? 0.0 : choose_unit(&c), &problem, choose_bits(&c)};
    pb_own_rows own = {{.function = factors, .user_data = &told}, points,
                       flags & 16 ? 1e-6 : 0.0, spread, &told};
    pb_move move = {flags & 32 ? PB_MOVE_WALK : PB_MOVE_AUTOREGRESSIVE, NULL, NULL, 1.0, 0.3,
                    0.01 + choose_unit(&c), 0};
    double *memory = TAKE(&p, pb_chain_memory(d), double);
    pb_chain chain = {&problem, &move, 1, fuzz_normal, poisson, flags > 127, &own, memory,
                      memory + d, memory + 2 * d, memory + 3 * d, memory + 4 * d, 0, 0, 0, -1, 0.0,
                      0.0};
    uint64_t counter = choose_bits(&c);
    pb_bitgen bitgen = fuzz_bitgen(&counter);
    memset(memory, 0, (size_t)d * sizeof *memory);
    pb_chain_place(&chain);
    for (int64_t i = choose(&c, 1, n > 40 ? 3 : 20); i > 0; i--)
        step(&chain, &told, &bitgen);
    HOLDS(told.most_asked <= 512);
    pool_free(&p);
    return 0;
}
