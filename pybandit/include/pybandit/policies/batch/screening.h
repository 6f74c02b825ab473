#ifndef PYBANDIT_SCREENING_H
#define PYBANDIT_SCREENING_H

#include <stdint.h>

#include "pybandit/policies/batch/normal_means.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Finds the k best of n arms on few plates: every arm once, then the arms for which it is least
 * clear on which side of the boundary they are. The state is `pulls`, `sums` and `deviations` of
 * the arms; the struct adds only the current batch.
 */
typedef struct {
    /* the rules */
    int64_t k, size, repeats;      /* 0 < k < n; size is at most n * repeats */
    const int64_t *order;          /* n arms in the order of their first measurement */

    /* workspace, owned by the caller */
    pb_normal_means belief;        /* for n arms, with all its memory */
    int64_t *planned, *limits;     /* n */
    double *slopes, *ends;         /* pb_screening_near() * pb_screening_levels() */
    int64_t *counts;               /* n: wells of each arm in the batch */
    int64_t *chosen, *wells;       /* n: the arms with wells, and their counts */
    int64_t n_chosen;
} pb_screening;

/* Returns the maximum number of arms among which a batch is distributed. */
int64_t pb_screening_near(int64_t n, int64_t size);

/* Returns how many different numbers of wells, up to `most`, are considered per arm. */
int64_t pb_screening_levels(int64_t most);

/*
 * Chooses the next batch of `size` wells and fills counts, chosen and wells. batches_left >= 1
 * includes this batch. O(n), plus O(levels) for each arm near the boundary.
 */
void pb_screening_choose(pb_screening *screen, const pb_seen *seen, int64_t batches_left);

/* Fills chosen and wells from counts. */
void pb_screening_list(pb_screening *screen);

#ifdef __cplusplus
}
#endif

#endif
