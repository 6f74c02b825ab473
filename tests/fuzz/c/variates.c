/* Control variates, quadratic factors and moments equal the sums of their terms. */
#include "fuzz.h"

#include "pybandit/racing/column.h"
#include "pybandit/racing/control.h"
#include "pybandit/racing/expansion.h"
#include "pybandit/racing/moments.h"
#include "pybandit/racing/totals.h"
#include "pybandit/racing/quadratic.h"

enum { MOST = 24, MOST_D = 4 };

static int zero(const int64_t *factors, int64_t n_factors, const int64_t *states, int64_t n_states,
                double *out, void *data)
{
    (void)factors, (void)states;
    for (int64_t i = 0; i < n_factors * n_states; i++)
        out[i] = 0.0;
    return *(int *)data;
}

/* Compares changes between two points with those of the function, in both directions. */
static void expansions(choices *c, pool *p, int64_t n, int64_t d)
{
    double *gradients = TAKE(p, n * d, double), *matrices = TAKE(p, n * d * d, double);
    double *center = TAKE(p, d, double), *points = TAKE(p, 2 * d, double), there, back, size = 1.0;
    const int64_t rank = choose(c, 0, 3), state = 0, i = choose(c, 0, n - 1);
    double *directions = TAKE(p, n * rank * d, double), *weights = TAKE(p, n * rank, double);
    choose_numbers(c, gradients, n * d, 30.0);
    choose_numbers(c, matrices, n * d * d, 30.0);
    choose_numbers(c, directions, n * rank * d, 30.0);
    choose_numbers(c, weights, n * rank, 30.0);
    choose_numbers(c, center, d, 30.0);
    choose_numbers(c, points, 2 * d, 30.0);
    for (int64_t a = 0; a < d; a++)
        for (int64_t b = 0; b < a; b++)
            matrices[i * d * d + a * d + b] = matrices[i * d * d + b * d + a];
    int fails = choose_byte(c) < 8;
    pb_expansion e = {d, rank, gradients, rank || choose_byte(c) & 1 ? NULL : matrices, directions,
                      weights, center, points};
    pb_control_linear linear = {d, matrices, gradients, center, center, points};
    const int is_linear = choose_byte(c) & 1;
    pb_control control = {{n, 1, NULL, zero, &fails, 0},
                          is_linear ? pb_control_linear_change : pb_expansion_change,
                          is_linear ? (void *)&linear : (void *)&e,
                          is_linear ? pb_control_linear_ahead : NULL};
    if (is_linear) {  /* slopes and curvatures have one value per row */
        linear.slopes = linear.curvatures = TAKE(p, n, double);
        for (int64_t k = 0; k < n; k++)
            ((double *)linear.slopes)[k] = gradients[k];
    }
    HOLDS(pb_control_read(&i, 1, &state, 1, &there, &control) == fails);
    for (int64_t j = 0; j < d; j++) {
        const double from = points[j];
        size += fabs(from) + fabs(points[d + j]) + fabs(center[j]);
        points[j] = points[d + j];
        points[d + j] = from;
    }
    HOLDS(pb_control_read(&i, 1, &state, 1, &back, &control) == fails);
    HOLDS(fails || fabs(there + back) <= 1e-9 * size * size * size * size);
    HOLDS(fails || !e.matrices || is_linear ||
          fabs(back + pb_control_quadratic_change(d, gradients + i * d, matrices + i * d * d, center,
                                                  points)) <= 1e-9 * size * size * size * size);
}

static void matrices(choices *c, pool *p, int64_t n, int64_t n_states)
{
    double *matrix = TAKE(p, n * n_states, double), out[MOST * MOST_D];
    int64_t factors[MOST], states[MOST_D], chosen = 0;
    choose_numbers(c, matrix, n * n_states, 1e6);
    pb_factors h = {n, n_states, matrix, NULL, NULL, 0};
    int fails = 0;
    pb_control control = {{n, n_states, NULL, zero, &fails, 0}, pb_control_matrix, &h, NULL};
    for (int64_t s = 0; s < n_states; s++)
        if (choose_byte(c) & 1)
            states[chosen++] = s;
    const int64_t m = choose(c, 0, n);
    for (int64_t f = 0; f < m; f++)
        factors[f] = choose(c, 0, n - 1);
    HOLDS(pb_control_read(factors, m, states, chosen, out, &control) == 0);
    for (int64_t f = 0; f < m; f++)
        for (int64_t s = 0; s < chosen; s++)
            HOLDS(out[f * chosen + s] == -matrix[factors[f] * n_states + states[s]]);
}

static void quadratics(choices *c, pool *p, int64_t n, int64_t n_states)
{
    double *three = TAKE(p, 3 * n_states, double), *values = TAKE(p, n, double);
    double *totals = TAKE(p, n_states, double);
    int32_t *members = TAKE(p, n, int32_t);
    choose_numbers(c, three, 3 * n_states, 30.0);
    choose_numbers(c, values, n, 30.0);
    for (int64_t i = 0; i < n; i++)
        members[i] = (int32_t)choose(c, 0, n - 1);
    if (choose_byte(c) < 8)
        values[choose(c, 0, n - 1)] = NAN;
    pb_quadratic q = {n_states, three, three + n_states, three + 2 * n_states, choose_number(c, 9.0),
                      values, choose_byte(c) & 1 ? members : NULL};
    pb_quadratic_totals(&q, n, totals);
    for (int64_t s = 0; s < n_states; s++) {
        double sum = 0.0, size = 1.0;
        for (int64_t i = 0; i < n; i++) {
            double one;
            HOLDS(pb_quadratic_read(&i, 1, &s, 1, &one, &q) == 0);
            const double t = fabs(values[q.members ? q.members[i] : i] - q.center);
            sum += one;
            size += fabs(three[s]) + t * (fabs(three[n_states + s]) + t * fabs(three[2 * n_states + s]));
        }
        HOLDS(isnan(sum) ? !isfinite(totals[s]) : fabs(sum - totals[s]) <= 1e-12 * size);
    }
}

/* Checks that moments of a population and of columns are the same in pieces and all at once. */
static void sums(choices *c, pool *p, int64_t n, int64_t d)
{
    double *matrix = TAKE(p, n * d, double), *memory = ZEROS(p, 7 * d, double);
    const double **rows = TAKE(p, n, const double *);
    choose_numbers(c, matrix, n * d, 1e6);
    if (choose_byte(c) < 8)
        matrix[choose(c, 0, n * d - 1)] = choose_byte(c) & 1 ? NAN : INFINITY;
    const int64_t bad = pb_column_find_bad(matrix, n * d, -1e5, 1e5), reference = choose(c, -1, d - 1);
    for (int64_t i = 0; i < (bad < 0 ? n * d : bad); i++)
        HOLDS(fabs(matrix[i]) <= 1e5);
    HOLDS(bad < 0 || !(fabs(matrix[bad]) <= 1e5));
    if (bad >= 0)
        return;
    for (int64_t i = 0; i < n; i++)
        rows[i] = matrix + i * d;
    pb_column one, filled;
    pb_column_begin(&one);
    pb_moments m = {d, 0, reference, NULL, memory, memory + d, memory + 2 * d, memory + 3 * d};
    double *low = memory + 4 * d, *high = memory + 5 * d, *sum = memory + 6 * d;
    for (int64_t j = 0; j < d; j++) {
        low[j] = INFINITY;
        high[j] = -INFINITY;
    }
    for (int64_t done = 0; done < n;) {
        int64_t few = choose(c, 1, 9);
        few = few < n - done ? few : n - done;
        pb_moments_add(&m, rows + done, few);
        pb_moments_extremes(rows + done, few, reference, NULL, d, low, high);
        m.count = done + few;
        pb_column_add(&one, matrix + done, few);
        done += few;
    }
    pb_column_fill(&filled, matrix, n);
    HOLDS(pb_column_is_finite(&one) && one.count == n && filled.count == n);
    HOLDS(one.low == filled.low && one.high == filled.high && one.low <= one.high);
    HOLDS(fabs(pb_column_excess(&one, 0.0) - pb_column_excess(&filled, 0.0)) <= 1e-6);
    HOLDS(pb_column_variance(&one) >= 0.0 && !isnan(pb_column_third(&one)));
    pb_totals_add(matrix, PB_FLOAT64, n, d, NULL, d, reference, sum);
    for (int64_t j = 0; j < d; j++) {
        const double mean = m.shift[j] + m.sum[j] / (double)m.count;
        HOLDS(fabs(mean - sum[j] / (double)n) <= 1e-5 && pb_moments_variance(&m, j) >= 0.0);
        HOLDS(low[j] <= mean + 1e-5 && high[j] >= mean - 1e-5 && !isnan(pb_moments_third(&m, j)));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    choices c = {bytes, bytes + size};
    pool p = {.n = 0};
    const int64_t kind = choose(&c, 0, 3), n = choose(&c, 1, MOST), d = choose(&c, 1, MOST_D);
    if (kind == 0)
        expansions(&c, &p, n, d);
    else if (kind == 1)
        matrices(&c, &p, n, d);
    else if (kind == 2)
        quadratics(&c, &p, n, d);
    else
        sums(&c, &p, n, d);
    pool_free(&p);
    return 0;
}
