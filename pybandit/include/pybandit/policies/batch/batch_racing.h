#ifndef PYBANDIT_BATCH_RACING_H
#define PYBANDIT_BATCH_RACING_H

#include <stdint.h>

#include "pybandit/policies/protocol/round_robin.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * BatchRacing (Jun et al. 2016, Algorithm 2): the k best of n arms with probability
 * at least 1 - delta. After a batch it accepts the arms whose lower bound is above
 * the upper bounds of all but k, and rejects those whose upper bound is below the
 * lower bounds of k.
 */
typedef struct {
    /* the rules */
    int64_t n, k, size, repeats;
    double omega;            /* sqrt(delta / (6 n)) */
    double scale;            /* 2 sigma: bounds are for rewards in [0, 1] */

    /* workspace, the caller's */
    pb_round_robin ring;     /* arms: n */
    double *lower, *upper;   /* n each, by arm */
    double *scratch;         /* n */
    unsigned char *alive;    /* n */
    unsigned char *accepted; /* n */
    const unsigned char *aside; /* n flags of silent arms, set after begin; NULL: there are none */

    /* progress */
    int64_t n_open;          /* places to fill */
    int64_t n_batches;
    int64_t n_aside;         /* undecided arms that are not on the ring, as they are silent */
    int64_t n_fallen;        /* arms of the ring whose flag in `aside` the caller has set */
    double reject_below;     /* the n_open-th largest lower bound */
    double accept_above;     /* the (n_open + 1)-th largest upper bound, silent arms included */
    int moved;               /* they moved since all arms were compared with them */
    int done;
} pb_batch_racing;

/* sqrt(4 log(log2(2 pulls) / omega) / pulls), the deviation of a mean of rewards in [0, 1]. */
double pb_batch_racing_deviation(int64_t pulls, double omega);

/* Begins; done at once where k is 0 or n. */
void pb_batch_racing_begin(pb_batch_racing *race);

/* What is pulled next; not once done. */
pb_batch pb_batch_racing_next(const pb_batch_racing *race);

/* The batch was pulled; `pulls` and `sums` have one an arm, what was lost left out. */
void pb_batch_racing_advance(pb_batch_racing *race, const int64_t *pulls, const double *sums);

/* The n_fallen arms whose flag was set leave the ring, undecided. */
void pb_batch_racing_drop_silent(pb_batch_racing *race);

/* A silent arm answered, and its flag is 0 again: it is on the ring from the next batch on. */
void pb_batch_racing_take_back(pb_batch_racing *race, int64_t arm, const int64_t *pulls,
                               const double *sums);

/* Returns 1 if the arms that answer have a place each, and only silent arms are undecided. */
int pb_batch_racing_waits(const pb_batch_racing *race);

/* Accepts the arms on the ring, and gives the silent ones up. */
void pb_batch_racing_end(pb_batch_racing *race);

#ifdef __cplusplus
}
#endif

#endif
