#ifndef PYBANDIT_BATCH_RACING_H
#define PYBANDIT_BATCH_RACING_H

#include <stdint.h>

#include "pybandit/policies/round_robin.h"

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

    /* progress */
    int64_t n_open;          /* places to fill */
    int64_t n_batches;
    double reject_below;     /* the n_open-th largest lower bound */
    double accept_above;     /* the (n_open + 1)-th largest upper bound */
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

#ifdef __cplusplus
}
#endif

#endif
