/*
 * Factors that are quadratic in an observation (pybandit/racing/quadratic.h). Two sums of the
 * observations give all totals. They are added up in blocks, so the values within a block
 * lose the digits of 128 additions rather than of N.
 */
#include "pybandit/racing/quadratic.h"

enum { BLOCK = 128, LANES = 4 };

int pb_quadratic_read(const int64_t *factors, int64_t n_factors, const int64_t *states,
                      int64_t n_states, double *out, void *user_data)
{
    const pb_quadratic *q = user_data;
    for (int64_t f = 0; f < n_factors; f++) {
        const double t =
            q->values[q->members ? q->members[factors[f]] : factors[f]] - q->center;
        for (int64_t s = 0; s < n_states; s++) {
            const int64_t i = states[s];
            out[f * n_states + s] =
                q->constants[i] + t * (q->slopes[i] + t * q->curvatures[i]);
        }
    }
    return 0;
}

/* Adds the sums of t and t^2 of one block. */
static void add_block(const pb_quadratic *q, int64_t begin, int64_t end, double *first,
                      double *second)
{
    double one[LANES] = {0.0}, two[LANES] = {0.0};
    for (int64_t n = begin; n < end; n++) {
        const double t = q->values[q->members ? q->members[n] : n] - q->center;
        one[n % LANES] += t;
        two[n % LANES] += t * t;
    }
    *first += (one[0] + one[1]) + (one[2] + one[3]);
    *second += (two[0] + two[1]) + (two[2] + two[3]);
}

void pb_quadratic_totals(const pb_quadratic *q, int64_t n_factors, double *totals)
{
    double first = 0.0, second = 0.0;
    for (int64_t n = 0; n < n_factors; n += BLOCK)
        add_block(q, n, n + BLOCK < n_factors ? n + BLOCK : n_factors, &first, &second);
    for (int64_t s = 0; s < q->n_states; s++)
        totals[s] = (double)n_factors * q->constants[s] + first * q->slopes[s] +
                    second * q->curvatures[s];
}
