#ifndef PYBANDIT_BATCH_SAR_H
#define PYBANDIT_BATCH_SAR_H

#include <stdint.h>

#include "pybandit/policies/protocol/ranking.h"
#include "pybandit/policies/protocol/round_robin.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * BatchSAR (Jun et al. 2016, Algorithm 3): the k best of n arms within a number of
 * batches. A stage pulls all survivors m_s times, then removes the arm that is
 * furthest from the boundary between the k best and the rest.
 */
typedef struct {
    /* the rules */
    int64_t n, k, size, repeats, max_batches;
    int improved;            /* m'_s of Eq. 10, which spends the budget, else m_s */
    int lower_index;         /* of two equal gaps removes the lower arm, else the worse */

    /* workspace, the caller's */
    pb_round_robin ring;     /* arms: n */
    double *harmonic;        /* n + 1: sum of 1 / i for i = n_tilde + 1 ... */
    int64_t *ceilings;       /* n + 1: sum of ceil(size / i) over the same */
    unsigned char *alive;    /* n */
    unsigned char *accepted; /* n */
    double *means;           /* n */
    pb_ranked *ranked;       /* 2 n */

    /* progress */
    int64_t n_tilde, r_tilde;
    int64_t n_left;          /* survivors */
    int64_t n_behind;        /* those that the round has not reached */
    int64_t n_open;          /* places to fill */
    int64_t n_batches;
    int64_t removed_pulls;
    int64_t top, bottom;     /* of the ranking, the survivors; bottom is past the last */
    int is_ranked, done;
} pb_batch_sar;

/* The fewest batches that are always enough; size is at most n * repeats. */
int64_t pb_batch_sar_least(int64_t n, int64_t size, int64_t repeats);

/* Begins; the first stages may end at once. */
void pb_batch_sar_begin(pb_batch_sar *sar);

/* What is pulled next; not once done. */
pb_batch pb_batch_sar_next(const pb_batch_sar *sar);

/*
 * The batch was pulled: ends the stages that it completes. `pulls` and `sums` have
 * one an arm, what was lost left out.
 */
void pb_batch_sar_advance(pb_batch_sar *sar, const int64_t *pulls, const double *sums);

#ifdef __cplusplus
}
#endif

#endif
