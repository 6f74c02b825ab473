#include "check.h"

#include "pybandit/control.h"

enum { N = 7, D = 3 };

static int fails;

/* log f_n(i) = 10 n + i */
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

int main(void)
{
    int calls = 0;
    double *values = allocate(N * D, sizeof *values);
    for (int64_t i = 0; i < N * D; i++)
        values[i] = 0.25 * (double)(i * i);
    pb_control control = {{N, D, NULL, digits, &calls}, values};

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
    return 0;
}
