/*
 * Draws by races (pybandit/racing/sampler.h): Gumbel noise plus the log prior, then a race.
 *
 * The caller allocates the memory of the worst case once, so no draw can run out of it.
 * Owners of many samplers, such as the Python package, can set `grow` to enlarge the
 * memory during a race instead; csrc itself allocates nothing.
 */
#include "pybandit/racing/sampler.h"

#include <stddef.h>
#include <string.h>

/* Returns the number of doubles into which rows of a matrix of another type are converted. */
static int64_t tile_of(const pb_factors *factors)
{
    const int converts = factors->matrix && factors->type != PB_FLOAT64;
    return converts ? PB_RACE_TILE_ROWS * factors->n_states : 0;
}

/* Returns the maximum number of rows kept: those of the largest partial look or of a call. */
static int64_t kept_rows(const pb_factors *factors, const pb_schedule *schedule)
{
    const int64_t looks = schedule->n_looks;
    const int64_t partial = looks > 1 ? schedule->rows[looks - 2] : 0;
    if (factors->matrix)
        return partial;
    const int64_t call =
        factors->n_factors < PB_RACE_CALL_ROWS ? factors->n_factors : PB_RACE_CALL_ROWS;
    return partial > call ? partial : call;
}

int64_t pb_sampler_memory(const pb_factors *factors, const pb_schedule *schedule,
                          pb_subsample_kind kind)
{
    const int64_t n_states = factors->n_states, rows = kept_rows(factors, schedule);
    const int64_t doubles =
        8 * n_states + (factors->matrix ? tile_of(factors) : rows * n_states);
    return doubles * (int64_t)sizeof(double) + (2 * n_states + rows) * (int64_t)sizeof(int64_t) +
           pb_subsample_memory(kind, factors->n_factors, 1) * (int64_t)sizeof(uint32_t);
}

void pb_sampler_init(pb_sampler *sampler, const pb_factors *factors,
                     const pb_schedule *schedule, const double *log_prior,
                     pb_subsample_kind kind, void *memory)
{
    const int64_t n_states = factors->n_states, rows = kept_rows(factors, schedule);
    const int64_t n_rewards = factors->matrix ? 0 : rows * n_states, n_tile = tile_of(factors);
    double *const doubles = memory;
    int64_t *const integers = (int64_t *)(void *)(doubles + 8 * n_states + n_rewards + n_tile);
    uint32_t *const order = (uint32_t *)(void *)(integers + 2 * n_states + rows);
    if (kind == PB_SUBSAMPLE_REJECTION)
        memset(order, 0, sizeof *order *
                             (size_t)pb_subsample_memory(kind, factors->n_factors, 1));
    pb_subsample_init(&sampler->subsample, kind, factors->n_factors, 1, order);
    sampler->log_prior = log_prior;
    sampler->totals = NULL;
    sampler->offsets = doubles;
    sampler->grow = NULL;
    sampler->status = PB_OK;
    sampler->race = (pb_race){.factors = *factors,
                              .schedule = *schedule,
                              .subsample = &sampler->subsample,
                              .offsets = doubles,
                              .pairwise = 1,
                              .states = integers,
                              .kept = integers + n_states,
                              .moments_memory = doubles + n_states,
                              .indices = integers + 2 * n_states,
                              .indices_capacity = rows,
                              .tile = n_tile ? doubles + 8 * n_states : NULL,
                              .rewards = doubles + 8 * n_states,
                              .rewards_capacity = n_rewards,
                              .winner = -1};
}

pb_status pb_sampler_draw(pb_sampler *sampler, pb_bitgen *bitgen, int64_t *state)
{
    pb_race *race = &sampler->race;
    const int64_t n_states = race->factors.n_states;
    sampler->status = PB_OK;
    pb_bitgen_gumbel_many(bitgen, n_states, sampler->offsets);
    if (sampler->log_prior)
        for (int64_t i = 0; i < n_states; i++)
            sampler->offsets[i] += sampler->log_prior[i];
    if (sampler->totals)
        for (int64_t i = 0; i < n_states; i++)
            sampler->offsets[i] += sampler->totals[i];
    pb_race_begin(race, bitgen);
    pb_status status = pb_race_run(race, bitgen);
    while (status == PB_GROW && sampler->grow && !sampler->grow(race))
        status = pb_race_run(race, bitgen);
    *state = race->winner;
    sampler->status = status;
    return status;
}
