/*
 * Metropolis-Hastings test by racing (pybandit/racing/accept.h).
 *
 * The race of race.c for a single column. Nothing has to be kept or read again, so a test
 * needs memory only for one block of indices and ratios.
 */
#include "pybandit/racing/accept.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "../_shared/minimum.h"
#include "skewness.h"

enum {
    TILE = 64,            /* ratios per call of pb_threshold_add */
    ARRAY_RATIOS = 1024,  /* ratios per block gathered from an array */
};

static int64_t block_of(const pb_factors *factors)
{
    return minimum(factors->n_factors, factors->matrix ? ARRAY_RATIOS : PB_RACE_CALL_ROWS);
}

int64_t pb_accept_memory(const pb_factors *factors, pb_subsample_kind kind)
{
    return (int64_t)sizeof(pb_subsample) +
           block_of(factors) * (int64_t)(sizeof(double) + sizeof(int64_t)) +
           pb_subsample_memory(kind, factors->n_factors, 1) * (int64_t)sizeof(uint32_t);
}

void pb_accept_init(pb_accept *accept, const pb_factors *factors, const pb_schedule *schedule,
                    pb_subsample_kind kind, void *memory)
{
    const int64_t block = block_of(factors);
    pb_subsample *const subsample = memory;
    double *const ratios = (double *)(void *)(subsample + 1);
    int64_t *const indices = (int64_t *)(void *)(ratios + block);
    uint32_t *const order = (uint32_t *)(void *)(indices + block);
    if (kind == PB_SUBSAMPLE_REJECTION)
        memset(order, 0, sizeof *order *
                             (size_t)pb_subsample_memory(kind, factors->n_factors, 1));
    pb_subsample_init(subsample, kind, factors->n_factors, 1, order);
    *accept = (pb_accept){.factors = *factors,
                          .schedule = *schedule,
                          .subsample = subsample,
                          .block = block,
                          .indices = indices,
                          .ratios = ratios,
                          .bad_factor = -1};
}

static pb_status decide(pb_accept *a, int accepted)
{
    a->accepted = accepted;
    return PB_OK;
}

static void begin_betting(pb_threshold *betting, double tau)
{
    betting->tau = tau;
    betting->columns[0] = 0;
    pb_threshold_begin(betting);
}

/*
 * Records the first invalid value; values[i] belongs to factor indices[i], or i if indices is
 * NULL. Returns the status of the failure.
 */
static pb_status refuse(pb_accept *a, pb_status status, const double *values, int64_t n,
                        const int64_t *indices, double low, double high)
{
    const int64_t at = pb_column_find_bad(values, n, low, high);
    if (at >= 0) {
        a->bad_factor = indices ? indices[at] : at;
        a->bad_ratio = values[at];
        /* report a NaN or infinite ratio as such, although it is also out of range */
        return isfinite(a->bad_ratio) ? status : PB_NOT_FINITE;
    }
    return status;
}

/* Checks the values read so far; `values` are the last n of them. */
static pb_status check(pb_accept *a, const double *values, int64_t n, const int64_t *indices)
{
    const pb_column *column = &a->column;
    if (!pb_column_is_finite(column))
        return refuse(a, PB_NOT_FINITE, values, n, indices, -INFINITY, INFINITY);
    if (a->betting && (column->low < a->betting->items.low ||
                       column->high > a->betting->items.high))
        return refuse(a, PB_RANGE, values, n, indices, a->betting->items.low,
                      a->betting->items.high);
    if (a->range > 0.0 && column->high - column->low > a->range * (1.0 + 1e-12))
        return PB_RANGE;
    return PB_OK;
}

/* Passes n ratios to the betting test, which counts those it uses. */
static void bet(pb_accept *a, int64_t n)
{
    const double *rows[TILE];
    for (int64_t done = 0; done < n && !a->betting->decided; done += TILE) {
        const int64_t count = minimum(TILE, n - done);
        for (int64_t i = 0; i < count; i++)
            rows[i] = a->ratios + done + i;
        pb_threshold_add(a->betting, rows, count);
    }
    a->n_evaluations = a->betting->n_read;
}

/* Reads the next n ratios, n <= block; in any order if they are the last of the population. */
static pb_status read_block(pb_accept *a, pb_bitgen *bitgen, int64_t n, int is_last)
{
    static const int64_t only[1] = {0};
    if (is_last)
        pb_subsample_rest(a->subsample, bitgen, n, a->indices);
    else
        pb_subsample_next(a->subsample, bitgen, n, a->indices);
    if (a->factors.matrix) {
        const double *const ratios = a->factors.matrix;
        for (int64_t i = 0; i < n; i++)
            a->ratios[i] = ratios[a->indices[i]];
    } else {
        for (int64_t i = 0; i < n; i++)
            a->ratios[i] = NAN;  /* so that entries the function skips are found below */
        if (a->factors.function(a->indices, n, only, 1, a->ratios, a->factors.user_data))
            return PB_CALLBACK;
    }
    pb_column_add(&a->column, a->ratios, n);
    a->n_evaluations += n;
    const pb_status status = check(a, a->ratios, n, a->indices);
    if (status == PB_OK && a->betting)
        bet(a, n);
    return status;
}

/* Reads up to `target` ratios in total; fewer if the betting test decides earlier. */
static pb_status read_to(pb_accept *a, pb_bitgen *bitgen, int64_t target)
{
    if (a->factors.matrix && target == a->factors.n_factors) {
        /* one sequential pass is cheaper than reading the rest in random order */
        a->n_evaluations = target;
        pb_column_fill(&a->column, a->factors.matrix, target);
        return check(a, a->factors.matrix, target, NULL);
    }
    /* only a betting test may decide before all are read, so only it needs a random order */
    const int is_last = target == a->factors.n_factors && !a->betting;
    while (a->column.count < target && !(a->betting && a->betting->decided)) {
        const pb_status status =
            read_block(a, bitgen, minimum(a->block, target - a->column.count), is_last);
        if (status != PB_OK)
            return status;
    }
    return PB_OK;
}

/* Returns 1 if a gap near or beyond `half` is significant when corrected for skewness. */
static int is_clear_of_skewness(const pb_accept *a, int64_t look, double gap, double half)
{
    const pb_column *column = &a->column;
    const double variance = pb_column_variance(column);
    if (!(variance > 0.0) || column->others < LEAST_OTHERS)
        return 0;
    if (fabs(gap) > SURE_T * half)
        return 1;
    const skew_look skew = skew_look_at(a->schedule.scale[look], a->schedule.unit[look],
                                        column->count, a->factors.n_factors);
    const double third = pb_column_third(column);
    const double quantile = quantile_of(&skew, variance, gap > 0.0 ? third : -third);
    return fabs(gap) > skew.unit * quantile * sqrt(variance);
}

/* Returns 1 if the look decides, and sets `accepted`; psi is the threshold of the mean. */
static int is_clear(pb_accept *a, int64_t look, double psi)
{
    if (a->betting) {
        a->accepted = a->betting->verdicts[0] > 0;
        return a->betting->decided;
    }
    const double gap = pb_column_excess(&a->column, psi);
    const double half = a->schedule.scale[look] * sqrt(pb_column_variance(&a->column)) +
                        a->schedule.slack[look] * a->range;
    a->accepted = gap > 0.0;
    if (!a->schedule.unit)
        return fabs(gap) > half && fabs(gap) > LEAST_GAP;
    return fabs(gap) > LEAST_T * half && is_clear_of_skewness(a, look, gap, half);
}

static pb_status run(pb_accept *a, double log_threshold, pb_bitgen *bitgen)
{
    if (a->total)
        log_threshold -= *a->total;
    const double n = (double)a->factors.n_factors, psi = log_threshold / n;
    a->n_looks = a->n_evaluations = 0;
    a->bad_factor = -1;
    a->exact = 1;
    if (isinf(log_threshold))
        return decide(a, log_threshold < 0.0);
    if (a->betting && (psi < a->betting->items.low || psi >= a->betting->items.high))
        return decide(a, psi < a->betting->items.low);  /* the range alone decides */
    if (a->betting)
        begin_betting(a->betting, psi);
    pb_column_begin(&a->column);
    pb_subsample_restart(a->subsample, bitgen);
    for (int64_t look = 0; look < a->schedule.n_looks; look++) {
        const pb_status status = read_to(a, bitgen, a->schedule.rows[look]);
        a->n_looks++;
        if (status != PB_OK)
            return status;
        if (a->column.count == a->factors.n_factors)
            break;
        if (is_clear(a, look, psi)) {
            a->exact = 0;
            return PB_OK;
        }
    }
    /* if all d are large, so is n * shift, and its last digits decide */
    return decide(a, a->column.sum > fma(-n, a->column.shift, log_threshold));
}

pb_status pb_accept_run(pb_accept *a, double log_threshold, pb_bitgen *bitgen)
{
    a->status = run(a, log_threshold, bitgen);
    return a->status;
}

pb_status pb_accept_decide(pb_accept *a, double log_threshold, pb_bitgen *bitgen,
                           int64_t *accepted, int64_t *n_evaluations)
{
    const pb_status status = pb_accept_run(a, log_threshold, bitgen);
    *accepted = status == PB_OK && a->accepted;
    *n_evaluations = a->n_evaluations;
    return status;
}
