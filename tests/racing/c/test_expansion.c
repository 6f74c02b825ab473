#include "../../_shared/c/check.h"

#include "pybandit/racing/expansion.h"

enum { N = 6, D = 3, RANK = 2 };

static _Thread_local double numbers[N * D + N * RANK * (D + 1) + N * D * D + 3 * D];

/* Returns h_n at a point, from a matrix. */
static double value_at(const double *g, const double *h, const double *center,
                       const double *point)
{
    double value = 0.0;
    for (int i = 0; i < D; i++) {
        value += g[i] * (point[i] - center[i]);
        for (int j = 0; j < D; j++)
            value += 0.5 * h[i * D + j] * (point[i] - center[i]) * (point[j] - center[j]);
    }
    return value;
}

int main(void)
{
    uint64_t counter = 3;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        numbers[i] = splitmix_double(&counter) - 0.5;
    const double *gradients = numbers, *directions = gradients + N * D;
    const double *weights = directions + N * RANK * D;
    const double *center = weights + N * RANK, *points = center + D;
    double *matrices = numbers + sizeof numbers / sizeof *numbers - N * D * D;
    for (int n = 0; n < N; n++)
        for (int i = 0; i < D * D; i++) {
            double *cell = matrices + n * D * D + i;
            *cell = 0.0;
            for (int k = n * RANK; k < (n + 1) * RANK; k++)
                *cell += weights[k] * directions[k * D + i / D] * directions[k * D + i % D];
        }
    const double zeros[D * D] = {0.0};
    const int64_t factors[] = {5, 0, 3, 3}, only[] = {0};
    for (int kind = 0; kind < 3; kind++) {  /* matrices, outer products, first order only */
        pb_expansion e = {D, kind == 1 ? RANK : 0, gradients, kind == 0 ? matrices : NULL,
                          directions, weights, center, points};
        double out[] = {0.0, 1.0, 2.0, 3.0};
        assert(pb_expansion_change(factors, 4, only, 1, out, &e) == 0);
        for (int f = 0; f < 4; f++) {
            const double *h = kind == 2 ? zeros : matrices + factors[f] * D * D;
            const double *g = gradients + factors[f] * D;
            const double change = value_at(g, h, center, points + D) -
                                  value_at(g, h, center, points);
            assert(close_to(out[f], f - change, 1e-14) && fabs(change) > 1e-4);
        }
        assert(pb_expansion_change(factors, 0, only, 1, NULL, &e) == 0);
    }
    return 0;
}
