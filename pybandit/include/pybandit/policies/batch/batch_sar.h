#ifndef PYBANDIT_BATCH_SAR_H
#define PYBANDIT_BATCH_SAR_H

#include <stdint.h>

#include "pybandit/policies/protocol/ranking.h"
#include "pybandit/policies/protocol/round_robin.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * BatchSAR (Jun et al. 2016, Algorithm 3): finds the k best of n arms within a number of
 * batches. Each stage pulls all survivors until they have m_s pulls, then removes the arm that
 * is furthest from the boundary between the k best and the rest.
 */
typedef struct {
    /* the rules */
    int64_t n, k, size, repeats, max_batches;
    int improved;            /* 1: m'_s of Eq. 10, which spends the budget; 0: m_s */
    int lower_index;         /* if both gaps are equal: 1 removes the lower arm, 0 the worse */

    /* workspace, owned by the caller */
    pb_round_robin ring;     /* its `arms` has n entries */
    double *harmonic;        /* n + 1: sums of 1 / i for i = n_tilde + 1 ... */
    int64_t *ceilings;       /* n + 1: sums of ceil(size / i) over the same i */
    unsigned char *alive;    /* n */
    unsigned char *accepted; /* n */
    double *means;           /* n */
    pb_ranked *ranked;       /* 2 n */

    /* progress */
    int64_t n_tilde, r_tilde; /* survivors of the last stage; min(repeats, ceil(size / 2)) */
    int64_t n_left;          /* survivors */
    int64_t n_behind;        /* survivors that the current round has not reached */
    int64_t n_open;          /* arms still to accept */
    int64_t n_batches;
    int64_t removed_pulls;   /* pulls of the removed arms */
    int64_t top, bottom;     /* survivors in the ranking: positions top ... bottom - 1 */
    int is_ranked, done;
} pb_batch_sar;

/* Returns the smallest number of batches that always suffices; size is at most n * repeats. */
int64_t pb_batch_sar_least(int64_t n, int64_t size, int64_t repeats);

/* Starts; the policy is done immediately if k is 0 or n. */
void pb_batch_sar_begin(pb_batch_sar *sar);

/* Returns the next batch. Requires that the policy is not done. */
pb_batch pb_batch_sar_next(const pb_batch_sar *sar);

/*
 * Takes the results of the batch and ends the stages that it completes. `pulls` and `sums` are
 * totals per arm without lost pulls.
 */
void pb_batch_sar_advance(pb_batch_sar *sar, const int64_t *pulls, const double *sums);

#ifdef __cplusplus
}
#endif

#endif
