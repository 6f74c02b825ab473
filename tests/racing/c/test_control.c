#include "../../_shared/c/check.h"

#include "pybandit/racing/control.h"

enum { N = 7, D = 3 };

static _Thread_local int fails;

/* Writes the log factors log f_n(i) = 10 n + i. */
static int digits(const int64_t *factors, int64_t n_factors, const int64_t *states,
                  int64_t n_states, double *out, void *user_data)
{
    int *calls = user_data;
    ++*calls;
    for (int64_t f = 0; f < n_factors; f++)
        for (int64_t s = 0; s < n_states; s++)
            out[f * n_states + s] = (double)(10 * factors[f] + states[s]);
    return fails;
}

static void subtracts_a_matrix(void)
{
    int calls = 0;
    double *values = allocate(N * D, sizeof *values);
    for (int64_t i = 0; i < N * D; i++)
        values[i] = 0.25 * (double)(i * i);
    pb_factors matrix = {.n_factors = N, .n_states = D, .matrix = values};
    pb_control control = {{N, D, NULL, digits, &calls, 0}, pb_control_matrix, &matrix, NULL};

    const int64_t factors[] = {6, 0, 3}, states[] = {0, 2};
    double *out = allocate(6, sizeof *out);
    assert(pb_control_read(factors, 3, states, 2, out, &control) == 0 && calls == 1);
    for (int64_t f = 0; f < 3; f++)
        for (int64_t s = 0; s < 2; s++) {
            const int64_t cell = factors[f] * D + states[s];
            const double wanted =
                (double)(10 * factors[f] + states[s]) - 0.25 * (double)(cell * cell);
            assert(out[f * 2 + s] == wanted);
        }

    fails = 9;
    assert(pb_control_read(factors, 3, states, 2, out, &control) == 9 && calls == 2);
    fails = 0;
    assert(pb_control_read(factors, 0, states, 2, NULL, &control) == 0);
    free(values);
    free(out);
}

/* slope s + curvature s^2 / 2 at one point */
static double quadratic(const pb_control_linear *c, int64_t n, const double *point)
{
    double s = 0.0;
    for (int64_t i = 0; i < c->n_parameters; i++)
        s += c->features[n * c->n_parameters + i] * (point[i] - c->center[i]);
    return c->slopes[n] * s + 0.5 * c->curvatures[n] * s * s;
}

static void subtracts_the_change_of_a_quadratic(void)
{
    uint64_t counter = 3;
    double *numbers = allocate(N * D + 2 * N + 3 * D, sizeof *numbers);
    for (int64_t i = 0; i < N * D + 2 * N + 3 * D; i++)
        numbers[i] = splitmix_double(&counter) - 0.5;
    const double *slopes = numbers + N * D, *center = slopes + 2 * N;
    pb_control_linear c = {D, numbers, slopes, slopes + N, center, center + D};
    const int64_t factors[] = {2, 6, 0, 5}, only[] = {0};
    double *out = allocate(4, sizeof *out);
    for (int64_t f = 0; f < 4; f++)
        out[f] = (double)f;
    assert(pb_control_linear_change(factors, 4, only, 1, out, &c) == 0);
    for (int64_t f = 0; f < 4; f++) {
        const double change = quadratic(&c, factors[f], c.points + D) -
                              quadratic(&c, factors[f], c.points);
        assert(close_to(out[f], (double)f - change, 1e-14) && fabs(change) > 1e-3);
    }
    /* prefetching does not change the values */
    int calls = 0;
    double *plain = allocate(4, sizeof *plain);
    pb_control control = {{N, 1, NULL, digits, &calls, 0}, pb_control_linear_change, &c, NULL};
    assert(pb_control_read(factors, 4, only, 1, plain, &control) == 0);
    control.ahead = pb_control_linear_ahead;
    assert(pb_control_read(factors, 4, only, 1, out, &control) == 0 && calls == 2);
    for (int64_t f = 0; f < 4; f++)
        assert(out[f] == plain[f]);
    free(plain);
    free(numbers);
    free(out);
}

static double quadratic_form(const double *g, const double *h, const double *x)
{
    return g[0] * x[0] + g[1] * x[1] +
           0.5 * (h[0] * x[0] * x[0] + 2.0 * h[1] * x[0] * x[1] + h[3] * x[1] * x[1]);
}

static void the_change_of_a_quadratic_form(void)
{
    const double gradient[] = {1.0, -2.0}, hessian[] = {-3.0, 0.5, 0.5, -1.0};
    const double center[] = {0.25, -0.5}, points[] = {0.5, 0.25, -1.0, 2.0};
    const double from[] = {0.25, 0.75}, to[] = {-1.25, 2.5};
    const double wanted =
        quadratic_form(gradient, hessian, to) - quadratic_form(gradient, hessian, from);
    assert(close_to(pb_control_quadratic_change(2, gradient, hessian, center, points), wanted,
                    1e-14));
}

int main(void)
{
    subtracts_a_matrix();
    subtracts_the_change_of_a_quadratic();
    the_change_of_a_quadratic_form();
    return 0;
}
