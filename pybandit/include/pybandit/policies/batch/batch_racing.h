#ifndef PYBANDIT_BATCH_RACING_H
#define PYBANDIT_BATCH_RACING_H

#include <stdint.h>

#include "pybandit/policies/batch/top.h"
#include "pybandit/policies/protocol/round_robin.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * BatchRacing (Jun et al. 2016, Algorithm 2): finds the k best of n arms with probability
 * at least 1 - delta. After each batch it accepts the arms whose lower bound is above the
 * upper bounds of all but k arms, and rejects those whose upper bound is below the lower
 * bounds of k arms.
 */
typedef struct {
    /* the rules */
    int64_t n, k, size, repeats;
    double omega;            /* sqrt(delta / (6 n)) */
    double scale;            /* 2 sigma; bounds are computed for rewards in [0, 1] and scaled */

    /* workspace, owned by the caller */
    pb_round_robin ring;     /* its `arms` has n entries */
    double *lower, *upper;   /* n each, indexed by arm */
    int64_t *members;        /* n, scratch */
    pb_top lowers, uppers;   /* their `order` and `place` have n entries */
    unsigned char *alive;    /* n */
    unsigned char *accepted; /* n */
    const unsigned char *aside; /* n flags of silent arms, set after begin; NULL if none is */

    /* progress */
    int64_t n_open;          /* arms still to accept */
    int64_t n_batches;
    int64_t n_aside;         /* undecided arms removed from the ring because they are silent */
    int64_t n_fallen;        /* arms still on the ring whose flag in `aside` the caller has set */
    /* thresholds, set by pb_batch_racing_settle; until then no arm can be decided */
    double reject_below;     /* the n_open-th largest lower bound */
    double accept_above;     /* the (n_open + 1)-th largest upper bound, silent arms included */
    double most_lower;       /* at least the largest lower bound on the ring */
    double least_upper;      /* at most the least upper bound on the ring */
    int without_heaps;       /* 1 as long as most_lower has not been above least_upper */
    int moved;               /* 1 if a threshold changed since all arms were compared with both */
    int done;
} pb_batch_racing;

/* Returns sqrt(4 log(log2(2 pulls) / omega) / pulls), the bound width for rewards in [0, 1]. */
double pb_batch_racing_deviation(int64_t pulls, double omega);

/* Starts a race; it is done immediately if k is 0 or n. */
void pb_batch_racing_begin(pb_batch_racing *race);

/* Returns the next batch. Requires that the race is not done. */
pb_batch pb_batch_racing_next(const pb_batch_racing *race);

/* Takes the results of the batch. `pulls` and `sums` are totals per arm without lost pulls. */
void pb_batch_racing_advance(pb_batch_racing *race, const int64_t *pulls, const double *sums);

/* Sets the thresholds after the caller has set ring, bounds, n_open and n_aside. O(n). */
void pb_batch_racing_resume(pb_batch_racing *race);

/* Sets the thresholds if they have not been needed so far. O(n) then, else O(1). */
void pb_batch_racing_settle(pb_batch_racing *race);

/* Removes the n_fallen arms flagged in `aside` from the ring; they stay undecided. */
void pb_batch_racing_drop_silent(pb_batch_racing *race);

/* Puts a silent arm that answered back on the ring; the caller has cleared its flag. */
void pb_batch_racing_take_back(pb_batch_racing *race, int64_t arm, const int64_t *pulls,
                               const double *sums);

/* Returns 1 if only silent arms are undecided and every other arm on the ring has a place. */
int pb_batch_racing_waits(const pb_batch_racing *race);

/* Ends the race: accepts the arms on the ring and gives up the silent ones. */
void pb_batch_racing_end(pb_batch_racing *race);

#ifdef __cplusplus
}
#endif

#endif
