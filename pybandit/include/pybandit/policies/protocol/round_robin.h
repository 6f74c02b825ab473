#ifndef PYBANDIT_ROUND_ROBIN_H
#define PYBANDIT_ROUND_ROBIN_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The pulls of one batch. With `counts` NULL they go around a ring of arms:
 * arms[(first + j) % n_arms] for j = 0 ... n_pulls - 1. Otherwise arms[i] is pulled counts[i]
 * times, one arm after the other.
 */
typedef struct {
    const int64_t *arms;    /* increasing if they are a ring */
    int64_t n_arms;
    int64_t first;
    int64_t n_pulls;
    const int64_t *counts;  /* n_arms, or NULL for a ring */
} pb_batch;

/* Returns a batch of one pull of one arm. */
static inline pb_batch pb_batch_one(const int64_t *arm)
{
    pb_batch batch = {arm, 1, 0, 1, 0};
    return batch;
}

/*
 * RoundRobin of Jun et al. 2016, Algorithm 1, over a set of arms that may shrink: the
 * arms before the cursor have rounds + 1 pulls, the others `rounds`.
 */
typedef struct {
    int64_t *arms;     /* remaining arms, increasing; memory owned by the caller */
    int64_t n_arms;
    int64_t cursor;    /* below n_arms; 0 if n_arms is 0 */
    int64_t rounds;
} pb_round_robin;

/* Starts with arms 0 ... n_arms - 1 and no pulls. */
void pb_round_robin_begin(pb_round_robin *ring, int64_t n_arms);

/* Returns the next batch: at most `size` pulls in all, at most `repeats` per arm. */
pb_batch pb_round_robin_next(const pb_round_robin *ring, int64_t size, int64_t repeats);

/* Records n_pulls pulls, in ring order from the cursor. */
void pb_round_robin_pulled(pb_round_robin *ring, int64_t n_pulls);

/* Returns the number of pulls of a remaining arm. O(1). */
int64_t pb_round_robin_pulls(const pb_round_robin *ring, int64_t arm);

/* Keeps the arms whose flag is set; `flags` is indexed by arm. O(n_arms). */
void pb_round_robin_keep(pb_round_robin *ring, const unsigned char *flags);

/* Puts a removed arm back. Its pulls then count as `rounds` or rounds + 1. O(n_arms). */
void pb_round_robin_add(pb_round_robin *ring, int64_t arm);

/* Returns how many pulls of a batch go to arms[position]. */
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
