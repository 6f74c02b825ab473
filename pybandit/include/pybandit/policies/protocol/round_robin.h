#ifndef PYBANDIT_ROUND_ROBIN_H
#define PYBANDIT_ROUND_ROBIN_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Pulls around a ring of arms: arms[(first + j) % n_arms] for j = 0 ... n_pulls - 1,
 * two numbers and no list. With counts arm after arm instead, arms[i] counts[i] times.
 */
typedef struct {
    const int64_t *arms;    /* of a ring: increasing */
    int64_t n_arms;
    int64_t first;
    int64_t n_pulls;
    const int64_t *counts;  /* NULL: a ring */
} pb_batch;

/* One pull of one arm. */
static inline pb_batch pb_batch_one(const int64_t *arm)
{
    pb_batch batch = {arm, 1, 0, 1, 0};
    return batch;
}

/*
 * RoundRobin of Jun et al. 2016, Algorithm 1, over arms that only ever leave: the
 * arms before the cursor have rounds + 1 pulls, the others `rounds`.
 */
typedef struct {
    int64_t *arms;     /* those left, increasing; the caller's memory */
    int64_t n_arms;
    int64_t cursor;    /* 0 <= cursor < n_arms, or 0 */
    int64_t rounds;
} pb_round_robin;

/* All of 0 ... n_arms - 1, none pulled. */
void pb_round_robin_begin(pb_round_robin *ring, int64_t n_arms);

/* The next batch: at most `size` pulls, at most `repeats` of one arm. */
pb_batch pb_round_robin_next(const pb_round_robin *ring, int64_t size, int64_t repeats);

/* The batch has been pulled. */
void pb_round_robin_pulled(pb_round_robin *ring, int64_t n_pulls);

/* Pulls that an arm which is left has had. O(1). */
int64_t pb_round_robin_pulls(const pb_round_robin *ring, int64_t arm);

/* Keeps the arms whose flag is set; flags has one an arm of the whole. O(n_arms). */
void pb_round_robin_keep(pb_round_robin *ring, const unsigned char *flags);

/* An arm that had left comes back, pulled as often as `rounds` or not. O(n_arms). */
void pb_round_robin_add(pb_round_robin *ring, int64_t arm);

/* How often a batch pulls the arm at a position. */
static inline int64_t pb_batch_count(const pb_batch *batch, int64_t position)
{
    if (batch->counts)
        return batch->counts[position];
    const int64_t after = position - batch->first;
    return batch->n_pulls / batch->n_arms +
           ((after < 0 ? after + batch->n_arms : after) < batch->n_pulls % batch->n_arms);
}

#ifdef __cplusplus
}
#endif

#endif
