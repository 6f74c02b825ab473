/*
 * Race of arms with separate populations (pybandit/racing/populations.h). Rewards are not
 * paired, so each arm has its own moments and a new leader costs nothing.
 */
#include "pybandit/racing/populations.h"

#include <math.h>
#include <stddef.h>

#include "../_shared/minimum.h"
#include "skewness.h"

int64_t pb_populations_next(int64_t size, int64_t first_look, int64_t n_read)
{
    if (n_read == 0 || size <= first_look)
        return minimum(first_look, size);
    if (n_read == first_look)
        return first_look + (size - first_look + 9) / 10;
    return minimum(2 * n_read, size);
}

static void begin(pb_populations *race, pb_bitgen *bitgen)
{
    race->n_alive = race->n_looks = race->n_evaluations = 0;
    race->exact = 0;
    race->bad_factor = -1;
    for (int64_t arm = 0; arm < race->n_arms; arm++) {
        pb_column_begin(&race->columns[arm]);
        if (race->offsets[arm] > -INFINITY) {
            race->alive[race->n_alive++] = arm;
            if (race->sizes[arm] > 0)
                pb_subsample_restart(&race->subsamples[arm], bitgen);
        }
    }
}

static int is_known(const pb_populations *race, int64_t arm)
{
    return race->columns[arm].count == race->sizes[arm];
}

/*
 * Returns the estimated total of arm a minus that of arm b. Each total is N shift plus a
 * rest, which includes the rounding error of N shift: with large factors the rest decides.
 */
static double lead_of(const pb_populations *race, int64_t a, int64_t b)
{
    const int64_t arms[2] = {a, b};
    double whole[2], rest[2];
    for (int k = 0; k < 2; k++) {
        const pb_column *column = &race->columns[arms[k]];
        const double size = (double)race->sizes[arms[k]];
        whole[k] = size * column->shift;
        rest[k] = fma(size, column->shift, -whole[k]) + race->offsets[arms[k]];
        if (column->count > 0)
            rest[k] += column->sum * (size / (double)column->count);
    }
    return (whole[0] - whole[1]) + (rest[0] - rest[1]);
}

/* Uncertainty of the estimate of an arm's total; see skewness.h for the last two fields. */
typedef struct {
    double variance;    /* v, the variance of the estimate */
    double per_degree;  /* v^2 / (T - 1), for the degrees of freedom */
    double third;       /* third cumulant of the estimate */
    double together;    /* covariance of the estimate with v */
} estimate;

static estimate estimate_of(const pb_populations *race, int64_t arm)
{
    if (is_known(race, arm))
        return (estimate){0.0, 0.0, 0.0, 0.0};
    const pb_column *column = &race->columns[arm];
    const double size = (double)race->sizes[arm], read = (double)column->count;
    const double share = 1.0 - (read - 1.0) / (size - 1.0);
    const double divisor = race->student ? read - 1.0 : read;
    const double variance = size * size * pb_column_variance(column) / divisor * share;
    const double third = size * size * size * pb_column_third(column) / (read * read) * share;
    const double uneven = 1.0 - 2.0 * (read - 1.0) / fmax(size - 2.0, 1.0);
    return (estimate){variance, variance * variance / (read - 1.0), third * uneven,
                      third * share};
}

/*
 * Returns Student's quantile with the same tail probability as a normal quantile, by
 * Wallace's approximation. With 5 degrees of freedom it is 1.4 % too large for a boundary
 * of 3 and 4.2 % for one of 4; with 20, less than .1 %. It is at most .2 % too small.
 */
static double student_quantile(double boundary, double degrees)
{
    const double z = boundary * (8.0 * degrees + 3.0) / (8.0 * degrees + 1.0);
    return sqrt(degrees * expm1(z * z / degrees));
}

static pb_status refuse(pb_populations *race, int64_t arm, const double *values, int64_t n,
                        const int64_t *indices)
{
    const int64_t at = pb_column_find_bad(values, n, -INFINITY, INFINITY);
    race->winner = arm;
    if (at >= 0) {
        race->bad_factor = indices ? indices[at] : at;
        race->bad_reward = values[at];
    }
    return PB_NOT_FINITE;
}

/* Reads the arm's next n factors, n <= block. */
static pb_status read_block(pb_populations *race, pb_bitgen *bitgen, int64_t arm, int64_t n)
{
    pb_subsample_next(&race->subsamples[arm], bitgen, n, race->indices);
    for (int64_t i = 0; i < n; i++)
        race->rewards[i] = race->values ? race->values[arm][race->indices[i]] : NAN;
    if (!race->values &&
        race->function(race->indices, n, &arm, 1, race->rewards, race->user_data)) {
        race->winner = arm;
        return PB_CALLBACK;
    }
    pb_column_add(&race->columns[arm], race->rewards, n);
    return pb_column_is_finite(&race->columns[arm])
               ? PB_OK
               : refuse(race, arm, race->rewards, n, race->indices);
}

/* Reads the arm up to its next look. */
static pb_status read_arm(pb_populations *race, pb_bitgen *bitgen, int64_t arm)
{
    pb_column *column = &race->columns[arm];
    const int64_t size = race->sizes[arm];
    const int64_t target = pb_populations_next(size, race->first_look, column->count);
    race->n_evaluations += target - column->count;
    if (target == size && race->values && column->count < size) {
        pb_column_fill(column, race->values[arm], size);
        return pb_column_is_finite(column) ? PB_OK
                                           : refuse(race, arm, race->values[arm], size, NULL);
    }
    while (column->count < target) {
        const pb_status status =
            read_block(race, bitgen, arm, minimum(race->block, target - column->count));
        if (status != PB_OK)
            return status;
    }
    return PB_OK;
}

static int64_t find_leader(const pb_populations *race)
{
    int64_t best = race->alive[0];
    for (int64_t i = 1; i < race->n_alive; i++)
        if (lead_of(race, race->alive[i], best) > 0.0)
            best = race->alive[i];
    return best;
}

/* Returns 1 if enough factors of the arm differ to trust its variance. */
static int varies(const pb_populations *race, int64_t arm)
{
    return is_known(race, arm) || race->columns[arm].others >= LEAST_OTHERS;
}

/* Returns 1 if the arm is behind the leader by more than the bound. */
static int is_beaten(const pb_populations *race, int64_t arm, int64_t leader,
                     const estimate *best)
{
    const double lead = lead_of(race, leader, arm);
    const estimate own = estimate_of(race, arm);
    const double variance = best->variance + own.variance;
    if (!race->student || variance == 0.0)
        return lead > race->boundary * sqrt(variance) &&
               (!race->student || (varies(race, arm) && varies(race, leader)));
    const double degrees = variance * variance / (best->per_degree + own.per_degree);
    const double unit = variance * sqrt(variance);
    const double quantile = skewed_quantile(student_quantile(race->boundary, degrees),
                                            (best->third - own.third) / unit,
                                            (best->together - own.together) / unit);
    return varies(race, arm) && varies(race, leader) && lead > quantile * sqrt(variance);
}

/* Eliminates the arms that the leader beats by more than the bound. */
static void eliminate(pb_populations *race, int64_t leader)
{
    const estimate best = estimate_of(race, leader);
    int64_t n_kept = 0;
    for (int64_t i = 0; i < race->n_alive; i++) {
        const int64_t arm = race->alive[i];
        if (arm == leader || !is_beaten(race, arm, leader, &best))
            race->alive[n_kept++] = arm;
    }
    race->n_alive = n_kept;
}

static int all_are_known(const pb_populations *race)
{
    for (int64_t i = 0; i < race->n_alive; i++)
        if (!is_known(race, race->alive[i]))
            return 0;
    return 1;
}

pb_status pb_populations_run(pb_populations *race, pb_bitgen *bitgen)
{
    begin(race, bitgen);
    race->winner = race->alive[0];
    race->exact = race->n_alive == 1;
    while (race->n_alive > 1) {
        for (int64_t i = 0; i < race->n_alive; i++) {
            const pb_status status = read_arm(race, bitgen, race->alive[i]);
            if (status != PB_OK)
                return status;
        }
        race->n_looks++;
        race->winner = find_leader(race);
        race->exact = all_are_known(race);
        if (race->exact)
            break;
        eliminate(race, race->winner);
    }
    return PB_OK;
}
