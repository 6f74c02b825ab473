/*
 * BatchRacing (pybandit/policies/batch/batch_racing.h). Only pulled arms change their bounds, and
 * the two order statistics used as thresholds change only if a bound crosses one of them:
 * usually a pull costs two logarithms and a few comparisons.
 */
#include "pybandit/policies/batch/batch_racing.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

double pb_batch_racing_deviation(int64_t pulls, double omega)
{
    const double n = (double)pulls;
    return sqrt(4.0 * log(log2(2.0 * n) / omega) / n);
}

static void swap(double *a, double *b)
{
    const double kept = *a;
    *a = *b;
    *b = kept;
}

/* Returns the rank-th largest of n values, from 1, and reorders them. O(n) on average. */
static double largest(double *values, int64_t n, int64_t rank)
{
    int64_t low = 0, high = n - 1;
    while (low < high) {
        const double pivot = values[low + (high - low) / 2];
        int64_t i = low, j = high;
        while (i <= j) {
            while (values[i] > pivot)
                i++;
            while (values[j] < pivot)
                j--;
            if (i <= j)
                swap(&values[i++], &values[j--]);
        }
        if (rank - 1 <= j)
            high = j;
        else if (rank - 1 >= i)
            low = i;
        else
            break;
    }
    return values[rank - 1];
}

/* Returns the rank-th largest bound of the remaining arms; +-INFINITY if rank is out of range. */
static double order_statistic(pb_batch_racing *race, const double *bounds, int64_t rank,
                              int with_silent)
{
    const int64_t n_on_ring = race->ring.n_arms;
    int64_t n = n_on_ring, i = 0;
    if (rank < 1)
        return INFINITY;
    for (int64_t j = 0; j < n; j++)
        race->scratch[j] = bounds[race->ring.arms[j]];
    if (with_silent)
        for (int64_t arm = 0; arm < race->n; arm++) {
            if (i < n_on_ring && race->ring.arms[i] == arm) /* even if it just fell silent */
                i++;
            else if (race->aside[arm])
                race->scratch[n++] = bounds[arm];
        }
    return rank > n ? -INFINITY : largest(race->scratch, n, rank);
}

static void find_thresholds(pb_batch_racing *race)
{
    /* A rejected arm is worse than n_open arms that answer. An accepted arm is better than all but
     * n_open - 1 of the others, silent or not: the bounds of silent arms stay valid. */
    race->reject_below = order_statistic(race, race->lower, race->n_open, 0);
    race->accept_above =
        order_statistic(race, race->upper, race->n_open + 1, race->n_aside > 0);
}

/* Returns 1 if a bound that moved leaves an order statistic unchanged. */
static int keeps(double threshold, double before, double after)
{
    return (before > threshold && after > threshold) ||
           (before < threshold && after < threshold);
}

/* Returns 1 for an accepted arm, -1 for a rejected one, 0 for an undecided one. */
static int verdict(const pb_batch_racing *race, int64_t arm)
{
    return race->lower[arm] > race->accept_above   ? 1
           : race->upper[arm] < race->reject_below ? -1
                                                   : 0;
}

/* Updates the bounds of an arm with rewards; returns 1 if a threshold may have moved. */
static int update_arm(pb_batch_racing *race, int64_t arm, const int64_t *pulls,
                      const double *sums)
{
    const double mean = sums[arm] / (double)pulls[arm];
    const double width = race->scale * pb_batch_racing_deviation(pulls[arm], race->omega);
    const int moved = !keeps(race->reject_below, race->lower[arm], mean - width) ||
                      !keeps(race->accept_above, race->upper[arm], mean + width);
    race->lower[arm] = mean - width;
    race->upper[arm] = mean + width;
    return moved;
}

/* Updates the bounds of the pulled arms; returns 1 if a threshold may have moved. */
static int update_bounds(pb_batch_racing *race, const pb_batch *batch, const int64_t *pulls,
                         const double *sums)
{
    const int64_t n = batch->n_pulls < batch->n_arms ? batch->n_pulls : batch->n_arms;
    int moved = 0;
    for (int64_t j = 0; j < n; j++) {
        const int64_t position = batch->first + j;
        const int64_t arm =
            batch->arms[position < batch->n_arms ? position : position - batch->n_arms];
        if (pulls[arm] > 0)
            moved |= update_arm(race, arm, pulls, sums);
    }
    return moved;
}

/* Returns 1 if an arm on the ring can be decided; without `all`, checks only arms just pulled. */
static int any_verdict(const pb_batch_racing *race, const pb_batch *batch, int all)
{
    const int64_t n =
        all || batch->n_pulls > batch->n_arms ? batch->n_arms : batch->n_pulls;
    for (int64_t j = 0; j < n; j++) {
        const int64_t position = batch->first + j;
        if (verdict(race, batch->arms[position < batch->n_arms ? position
                                                               : position - batch->n_arms]))
            return 1;
    }
    return 0;
}

/* Accepts and rejects arms by the current thresholds, then finds new ones. */
static void judge(pb_batch_racing *race)
{
    for (int64_t i = 0; i < race->ring.n_arms; i++) {
        const int64_t arm = race->ring.arms[i];
        const int decided = verdict(race, arm);
        race->alive[arm] = decided == 0;
        race->accepted[arm] = decided > 0;
        race->n_open -= decided > 0;
    }
    pb_round_robin_keep(&race->ring, race->alive);
    race->done = race->ring.n_arms + race->n_aside == 0;
    if (!race->done)
        find_thresholds(race);
    race->moved = 1;
}

void pb_batch_racing_drop_silent(pb_batch_racing *race)
{
    for (int64_t i = 0; i < race->ring.n_arms; i++)
        race->alive[race->ring.arms[i]] = !race->aside[race->ring.arms[i]];
    pb_round_robin_keep(&race->ring, race->alive);
    race->n_aside += race->n_fallen;
    race->n_fallen = 0;
    find_thresholds(race);
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
    race->moved = 0;
    race->done = race->k == 0 || race->k == race->n;
    find_thresholds(race);
}

pb_batch pb_batch_racing_next(const pb_batch_racing *race)
{
    return pb_round_robin_next(&race->ring, race->size, race->repeats);
}

void pb_batch_racing_advance(pb_batch_racing *race, const int64_t *pulls, const double *sums)
{
    pb_batch batch = pb_batch_racing_next(race);
    if (update_bounds(race, &batch, pulls, sums)) {
        find_thresholds(race);
        race->moved = 1;
    }
    pb_round_robin_pulled(&race->ring, batch.n_pulls);
    if (race->n_fallen > 0) {
        pb_batch_racing_drop_silent(race);
        batch.n_arms = race->ring.n_arms;
        batch.first = 0;
    }
    const int decided = any_verdict(race, &batch, race->moved);
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
    update_arm(race, arm, pulls, sums);
    find_thresholds(race);
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
