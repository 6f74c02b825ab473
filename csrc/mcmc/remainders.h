#ifndef PYBANDIT_REMAINDERS_H
#define PYBANDIT_REMAINDERS_H

/*
 * Access of minibatch.c to rows: their positions, and differences of remainders, which are
 * checked against their bounds. Rows of glm.h are evaluated one by one, in a loop that the
 * processor can overlap; user-defined rows several per call.
 */
#include <math.h>
#include <stddef.h>

#include "pybandit/mcmc/minibatch.h"
#include "../_shared/prefetch.h"

enum {
    AHEAD = 16,   /* rows drawn and prefetched together */
    TOGETHER = 512  /* rows per call of a user-defined function when all rows are read */
};

#define LINE 64
#define SLACK 1e-9  /* relative rounding error allowed in a bound */

static double uniform(pb_bitgen *bitgen) { return bitgen->next_double(bitgen->state); }

/* Current and next value of x_i'(theta - mode), and the bound of the difference of remainders. */
typedef struct {
    double now, next, bound;
} place;

static place place_of(const pb_chain *chain, int64_t i)
{
    const pb_minibatch *problem = chain->problem;
    const int64_t d = problem->glm.n_parameters;
    const double *x = problem->glm.features + i * d;
    place at = {0.0, 0.0, 0.0};
    for (int64_t j = 0; j < d; j++) {
        at.now += x[j] * chain->point[j];
        at.next += x[j] * chain->next_point[j];
    }
    at.bound = problem->rows[i].third / 6.0 * fabs(at.next - at.now) *
               (at.now * at.now + at.now * at.next + at.next * at.next);
    return at;
}

static void keep_bad(pb_chain *chain, int64_t i, double value, double bound)
{
    chain->bad_row = i;
    chain->bad_difference = value;
    chain->bad_bound = bound;
}

/* Returns 1 if |value| is within the bound of row i; otherwise records the row and returns 0. */
static int is_within(pb_chain *chain, int64_t i, double value, double bound, double rounding)
{
    if (fabs(value) <= bound * (1.0 + SLACK) + rounding)
        return 1;
    keep_bad(chain, i, value, bound);
    return 0;
}

/* Computes r_i(z') - r_i(z). Returns 1 if it is within its bound. */
static int difference(pb_chain *chain, int64_t i, place at, double *value)
{
    const pb_glm *glm = &chain->problem->glm;
    const pb_glm_row *row = chain->problem->rows + i;
    *value = pb_glm_remainder(glm, row, at.next) - pb_glm_remainder(glm, row, at.now);
    return is_within(chain, i, *value, at.bound,
                     pb_glm_rounding(glm, row, at.next) + pb_glm_rounding(glm, row, at.now));
}

/*
 * Thins one point of the Poisson process of rate (1 + gamma) c_i M of a row: keeps it with
 * probability (gamma c_i M + max(0, -difference)) / ((1 + gamma) c_i M). The difference is
 * computed only if the bound from place_of does not decide; otherwise *value is 0.
 */
static pb_status thin(pb_chain *chain, int64_t row, double spread, double gamma,
                      pb_bitgen *bitgen, int *kept, double *value)
{
    const double bound = chain->problem->rows[row].bound * spread, base = gamma * bound;
    const double level = uniform(bitgen) * (1.0 + gamma) * bound;
    const place at = place_of(chain, row);
    *kept = 0;
    *value = 0.0;
    chain->n_evaluations++;
    if (!is_within(chain, row, at.bound, bound, 1e-300))
        return PB_RANGE;
    if (level >= base + at.bound)
        return PB_OK;
    if (!difference(chain, row, at, value))
        return PB_RANGE;
    *kept = level < base + fmax(0.0, -*value);
    return PB_OK;
}

/* Evaluates the differences of n rows with the user-defined function. */
static pb_status ask(pb_chain *chain, const int64_t *rows, int64_t n, double *values)
{
    static const int64_t only[1] = {0};
    const pb_factors *factors = &chain->own->factors;
    for (int64_t k = 0; k < n; k++)
        values[k] = NAN;  /* detects values that the function did not write */
    if (n && factors->function(rows, n, only, 1, values, factors->user_data))
        return PB_CALLBACK;
    for (int64_t k = 0; k < n; k++)
        if (!isfinite(values[k])) {
            keep_bad(chain, rows[k], values[k], INFINITY);
            return PB_NOT_FINITE;
        }
    return PB_OK;
}

/* Returns the bound of a user-defined row; for LINE the tighter one along its line. */
static double own_bound(const pb_chain *chain, int64_t row, double spread)
{
    if (chain->problem->form == PB_MINIBATCH_LINE)
        return place_of(chain, row).bound;
    return chain->problem->rows[row].bound * spread;
}

/* Thins like `thin`, but for user-defined rows, with one call for all undecided rows. */
static pb_status thin_own(pb_chain *chain, const int64_t *rows, int64_t count, double spread,
                          double gamma, pb_bitgen *bitgen, int *kept, double *values)
{
    int64_t asked[AHEAD] = {0}, at[AHEAD], n = 0;
    double levels[AHEAD], bounds[AHEAD], found[AHEAD];
    chain->n_evaluations += count;
    for (int64_t k = 0; k < count; k++) {
        const double most = chain->problem->rows[rows[k]].bound * spread;
        levels[n] = uniform(bitgen) * (1.0 + gamma) * most;
        bounds[n] = own_bound(chain, rows[k], spread);
        kept[k] = 0;
        values[k] = 0.0;
        if (!is_within(chain, rows[k], bounds[n], most, 1e-300))
            return PB_RANGE;
        if (levels[n] >= gamma * most + bounds[n])
            continue;
        at[n] = k;
        asked[n++] = rows[k];
    }
    const pb_status status = ask(chain, asked, n, found);
    for (int64_t k = 0; status == PB_OK && k < n; k++) {
        if (!is_within(chain, asked[k], found[k], bounds[k], chain->own->slack))
            return PB_RANGE;
        const double base = gamma * (chain->problem->rows[asked[k]].bound * spread);
        values[at[k]] = found[k];
        kept[at[k]] = levels[k] < base + fmax(0.0, -found[k]);
    }
    return status;
}

static pb_status add_all_own(pb_chain *chain, double spread, double *log_ratio)
{
    const int64_t n = chain->problem->glm.n_rows;
    int64_t rows[TOGETHER];
    double values[TOGETHER], sum = 0.0;
    for (int64_t done = 0; done < n; done += TOGETHER) {
        const int64_t count = n - done < TOGETHER ? n - done : TOGETHER;
        for (int64_t k = 0; k < count; k++)
            rows[k] = done + k;
        const pb_status status = ask(chain, rows, count, values);
        if (status != PB_OK)
            return status;
        for (int64_t k = 0; k < count; k++) {
            if (!is_within(chain, rows[k], values[k], own_bound(chain, rows[k], spread),
                           chain->own->slack))
                return PB_RANGE;
            sum += values[k];
        }
    }
    *log_ratio += sum;
    return PB_OK;
}

#endif
