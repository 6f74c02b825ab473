/*
 * BatchRacing (pybandit/policies/batch/batch_racing.h). Only pulled arms change their bounds. The
 * two order statistics used as thresholds are kept in heaps, and all arms are compared with them
 * only if the largest lower or the least upper bound is beyond one: usually a pull costs two
 * logarithms and a few comparisons. As long as no lower bound has been above any upper bound, there
 * are no heaps either, because no arm can be decided: the first pulls of n arms take O(n).
 */
#include "pybandit/policies/batch/batch_racing.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "../../_shared/wide.h"

double pb_batch_racing_deviation(int64_t pulls, double omega)
{
    const double n = (double)pulls;
    return sqrt(4.0 * log(log2(2.0 * n) / omega) / n);
}

/* Lists the arms on the ring and the silent ones, increasing; returns their number. */
static int64_t undecided(pb_batch_racing *race)
{
    int64_t n = 0, i = 0;
    for (int64_t arm = 0; arm < race->n; arm++)
        if (i < race->ring.n_arms && race->ring.arms[i] == arm) {  /* even if it just fell silent */
            race->members[n++] = arm;
            i++;
        } else if (race->aside[arm]) {
            race->members[n++] = arm;
        }
    return n;
}

/* Reads the thresholds; notes whether one changed. */
static void take_thresholds(pb_batch_racing *race)
{
    const double reject_below = pb_top_value(&race->lowers);
    const double accept_above = pb_top_value(&race->uppers);
    if (reject_below != race->reject_below || accept_above != race->accept_above)
        race->moved = 1;
    race->reject_below = reject_below;
    race->accept_above = accept_above;
}

/* Builds the heaps of bounds. */
static void build(pb_batch_racing *race)
{
    const int64_t n = race->ring.n_arms;
    /* A rejected arm is worse than n_open arms that answer. An accepted arm is better than all but
     * n_open - 1 of the others, silent or not: the bounds of silent arms stay valid. */
    pb_top_build(&race->lowers, race->ring.arms, n, race->n_open, 1);
    if (race->n_aside > 0) {
        const int64_t n_all = undecided(race);
        pb_top_build(&race->uppers, race->members, n_all, race->n_open + 1, 0);
    } else {
        pb_top_build(&race->uppers, race->ring.arms, n, race->n_open + 1, 0);
    }
    race->most_lower = INFINITY;
    race->least_upper = -INFINITY;
    race->without_heaps = 0;
}

/* Returns 1 for an accepted arm, -1 for a rejected one, 0 for an undecided one. */
static int verdict(const pb_batch_racing *race, int64_t arm)
{
    return race->lower[arm] > race->accept_above   ? 1
           : race->upper[arm] < race->reject_below ? -1
                                                   : 0;
}

/* Sets the bounds of an arm with rewards. */
static void set_bounds(pb_batch_racing *race, int64_t arm, const int64_t *pulls,
                       const double *sums)
{
    const double mean = sums[arm] / (double)pulls[arm];
    const double width = race->scale * pb_batch_racing_deviation(pulls[arm], race->omega);
    race->lower[arm] = mean - width;
    race->upper[arm] = mean + width;
}

/* Updates the bounds of the pulled arms. */
static void update_bounds(pb_batch_racing *race, const pb_batch *batch, const int64_t *pulls,
                          const double *sums)
{
    const int64_t n = batch->n_pulls < batch->n_arms ? batch->n_pulls : batch->n_arms;
    for (int64_t j = 0; j < n; j++) {
        const int64_t position = batch->first + j;
        const int64_t arm =
            batch->arms[position < batch->n_arms ? position : position - batch->n_arms];
        if (pulls[arm] == 0)
            continue;
        set_bounds(race, arm, pulls, sums);
        if (!race->without_heaps) {
            pb_top_update(&race->lowers, arm);
            pb_top_update(&race->uppers, arm);
        }
        race->most_lower = larger(race->most_lower, race->lower[arm]);
        race->least_upper = smaller(race->least_upper, race->upper[arm]);
    }
}

/* Returns 1 if an arm just pulled can be decided. */
static int pulled_verdict(const pb_batch_racing *race, const pb_batch *batch)
{
    const int64_t n = batch->n_pulls > batch->n_arms ? batch->n_arms : batch->n_pulls;
    for (int64_t j = 0; j < n; j++) {
        const int64_t position = batch->first + j;
        if (verdict(race, batch->arms[position < batch->n_arms ? position
                                                               : position - batch->n_arms]))
            return 1;
    }
    return 0;
}

/* Returns 1 if an arm on the ring can be decided. */
static int any_verdict(pb_batch_racing *race)
{
    double most = -INFINITY, least = INFINITY;
    if (!(race->most_lower > race->accept_above || race->least_upper < race->reject_below))
        return 0;
    for (int64_t i = 0; i < race->ring.n_arms; i++) {
        most = larger(most, race->lower[race->ring.arms[i]]);
        least = smaller(least, race->upper[race->ring.arms[i]]);
    }
    race->most_lower = most;
    race->least_upper = least;
    return most > race->accept_above || least < race->reject_below;
}

/* Accepts and rejects arms by the current thresholds, then finds new ones. */
static void judge(pb_batch_racing *race)
{
    for (int64_t i = 0; i < race->ring.n_arms; i++) {
        const int64_t arm = race->ring.arms[i];
        const int decided = verdict(race, arm);
        race->alive[arm] = decided == 0;
        race->accepted[arm] = decided > 0;
        if (decided == 0)
            continue;
        pb_top_remove(&race->lowers, arm);
        pb_top_remove(&race->uppers, arm);
        if (decided > 0) {
            pb_top_lower_rank(&race->lowers);
            pb_top_lower_rank(&race->uppers);
            race->n_open--;
        }
    }
    pb_round_robin_keep(&race->ring, race->alive);
    race->done = race->ring.n_arms + race->n_aside == 0;
    if (!race->done)
        take_thresholds(race);
    race->moved = 1;
}

void pb_batch_racing_resume(pb_batch_racing *race)
{
    build(race);
    take_thresholds(race);
}

void pb_batch_racing_drop_silent(pb_batch_racing *race)
{
    for (int64_t i = 0; i < race->ring.n_arms; i++)
        race->alive[race->ring.arms[i]] = !race->aside[race->ring.arms[i]];
    pb_round_robin_keep(&race->ring, race->alive);
    race->n_aside += race->n_fallen;
    race->n_fallen = 0;
    pb_batch_racing_resume(race);
    race->moved = 1;
}

void pb_batch_racing_begin(pb_batch_racing *race)
{
    memset(race->alive, 1, (size_t)race->n);
    memset(race->accepted, race->k == race->n, (size_t)race->n);
    pb_round_robin_begin(&race->ring, race->n);
    for (int64_t i = 0; i < race->n; i++) {
        race->lower[i] = -INFINITY;
        race->upper[i] = INFINITY;
    }
    race->n_open = race->k;
    race->n_batches = 0;
    race->n_aside = race->n_fallen = 0;
    race->aside = NULL;
    race->done = race->k == 0 || race->k == race->n;
    race->lowers.values = race->lower;
    race->uppers.values = race->upper;
    race->lowers.size = race->uppers.size = race->n;
    race->reject_below = race->most_lower = -INFINITY;
    race->accept_above = race->least_upper = INFINITY;
    race->without_heaps = 1;
    race->moved = 0;
}

void pb_batch_racing_settle(pb_batch_racing *race)
{
    if (!race->without_heaps || race->done)
        return;
    pb_batch_racing_resume(race);
    race->moved = 0;  /* no arm can be decided so far */
}

pb_batch pb_batch_racing_next(const pb_batch_racing *race)
{
    return pb_round_robin_next(&race->ring, race->size, race->repeats);
}

void pb_batch_racing_advance(pb_batch_racing *race, const int64_t *pulls, const double *sums)
{
    pb_batch batch = pb_batch_racing_next(race);
    update_bounds(race, &batch, pulls, sums);
    if (race->without_heaps && race->most_lower > race->least_upper) {
        pb_batch_racing_settle(race);
        race->moved = 1;
    }
    if (!race->without_heaps)
        take_thresholds(race);
    pb_round_robin_pulled(&race->ring, batch.n_pulls);
    if (race->n_fallen > 0) {
        pb_batch_racing_drop_silent(race);
        batch.n_arms = race->ring.n_arms;
        batch.first = 0;
    }
    const int decided = race->moved ? any_verdict(race) : pulled_verdict(race, &batch);
    race->moved = 0;
    race->n_batches++;
    if (decided)
        judge(race);
}

void pb_batch_racing_take_back(pb_batch_racing *race, int64_t arm, const int64_t *pulls,
                               const double *sums)
{
    for (int64_t i = 0; i < race->ring.n_arms; i++)
        if (race->ring.arms[i] == arm) { /* it fell silent in this batch: still on the ring */
            race->n_fallen--;
            return;
        }
    race->n_aside--;
    pb_round_robin_add(&race->ring, arm);
    set_bounds(race, arm, pulls, sums);
    pb_batch_racing_resume(race);
    race->moved = 1;
}

int pb_batch_racing_waits(const pb_batch_racing *race)
{
    return !race->done && race->n_aside > 0 && race->ring.n_arms <= race->n_open;
}

void pb_batch_racing_end(pb_batch_racing *race)
{
    for (int64_t i = 0; i < race->ring.n_arms; i++)
        race->accepted[race->ring.arms[i]] = 1;
    race->n_open -= race->ring.n_arms;
    race->ring.n_arms = race->ring.cursor = 0;
    race->done = 1;
}
