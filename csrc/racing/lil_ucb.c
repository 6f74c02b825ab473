/*
 * lil'UCB (pybandit/racing/lil_ucb.h). A pull changes the upper bound of only one state,
 * so a heap finds the state with the largest bound.
 */
#include "pybandit/racing/lil_ucb.h"

#include <math.h>

double pb_lil_bonus(const pb_lil *lil, double pulls)
{
    const double e = lil->epsilon, widened = (1.0 + lil->beta) * (1.0 + sqrt(e));
    const double level = log(log((1.0 + e) * pulls + 2.0) / lil->delta);
    /* with delta near 1 the level is negative for the first pulls: the bonus is 0 then */
    return level > 0.0 ? widened * lil->radius * sqrt(2.0 * (1.0 + e) * level / pulls) : 0.0;
}

/* Returns the upper bound of a state's total, divided by the number of factors. */
static double upper_bound(const pb_lil_ucb *race, int64_t state)
{
    const double n = (double)race->factors.n_factors, pulls = (double)race->pulls[state];
    const double mean = race->sums[state] / pulls + race->offsets[state] / n;
    if (race->pulls[state] == race->factors.n_factors)
        return mean;
    return mean + pb_lil_bonus(&race->lil, pulls);
}

static pb_status fetch(pb_lil_ucb *race, int64_t state)
{
    const pb_factors *factors = &race->factors;
    if (factors->matrix) {
        race->reward = ((const double *)factors->matrix)[race->factor * factors->n_states + state];
        return PB_OK;
    }
    race->reward = NAN;
    return factors->function(&race->factor, 1, &state, 1, &race->reward, factors->user_data)
               ? PB_CALLBACK
               : PB_OK;
}

static pb_status pull(pb_lil_ucb *race, pb_bitgen *bitgen, int64_t state)
{
    race->winner = state;
    pb_subsample_next(&race->subsamples[state], bitgen, 1, &race->factor);
    const pb_status status = fetch(race, state);
    if (status != PB_OK)
        return status;
    const double reward = race->reward;
    if (!isfinite(reward))
        return PB_NOT_FINITE;
    race->low[state] = reward < race->low[state] ? reward : race->low[state];
    race->high[state] = reward > race->high[state] ? reward : race->high[state];
    race->sums[state] += reward;
    race->pulls[state]++;
    race->n_pulls++;
    return race->high[state] - race->low[state] > race->ranges[state] * (1.0 + 1e-12)
               ? PB_RANGE
               : PB_OK;
}

/* Resets the race and puts the possible states into the heap, in increasing order. */
static void forget(pb_lil_ucb *race, pb_bitgen *bitgen)
{
    race->heap.n = race->n_pulls = 0;
    race->exact = race->ended = 0;
    for (int64_t state = 0; state < race->factors.n_states; state++) {
        race->sums[state] = 0.0;
        race->pulls[state] = 0;
        race->low[state] = INFINITY;
        race->high[state] = -INFINITY;
        if (race->offsets[state] > -INFINITY) {
            pb_subsample_restart(&race->subsamples[state], bitgen);
            race->heap.arms[race->heap.n++] = state;
        }
    }
}

/* Returns 1 if the state has so many more pulls than all others together that it wins. */
static int is_far_ahead(const pb_lil_ucb *race, int64_t state)
{
    const int64_t others = race->n_pulls - race->pulls[state];
    return (double)race->pulls[state] >= 1.0 + race->lil.lambda * (double)others;
}

pb_status pb_lil_ucb_begin(pb_lil_ucb *race, pb_bitgen *bitgen)
{
    forget(race, bitgen);
    race->winner = race->heap.arms[0];
    if (race->heap.n == 1) {
        race->exact = race->ended = 1;
        return PB_OK;
    }
    for (int64_t i = 0; i < race->heap.n; i++) {
        const pb_status status = pull(race, bitgen, race->heap.arms[i]);
        if (status != PB_OK)
            return status;
        race->heap.keys[i] = upper_bound(race, race->heap.arms[i]);
    }
    pb_heap_build(&race->heap);
    return PB_OK;
}

pb_status pb_lil_ucb_continue(pb_lil_ucb *race, pb_bitgen *bitgen, int64_t n)
{
    for (; !race->ended && n > 0; n--) {
        const int64_t state = race->winner = race->heap.arms[0];
        if (race->pulls[state] == race->factors.n_factors) {
            race->exact = race->ended = 1;
            return PB_OK;
        }
        const pb_status status = pull(race, bitgen, state);
        if (status != PB_OK)
            return status;
        race->ended = is_far_ahead(race, state);
        if (!race->ended)
            pb_heap_replace_root(&race->heap, upper_bound(race, state));
    }
    return PB_OK;
}

pb_status pb_lil_ucb_run(pb_lil_ucb *race, pb_bitgen *bitgen)
{
    const pb_status status = pb_lil_ucb_begin(race, bitgen);
    return status == PB_OK ? pb_lil_ucb_continue(race, bitgen, INT64_MAX) : status;
}
