#ifndef PYBANDIT_SCREENING_H
#define PYBANDIT_SCREENING_H

#include <stdint.h>

#include "pybandit/policies/batch/normal_means.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The k best of n arms on few plates: all arms once, then those of which it is least
 * clear on which side of the boundary they are. What is not in `pulls`, `sums` and
 * `deviations` of the arms is only the batch that is out.
 */
typedef struct {
    /* the rules */
    int64_t k, size, repeats;      /* 0 < k < n; size is at most n * repeats */
    const int64_t *order;          /* n: in which arms are measured first */

    /* workspace, the caller's */
    pb_normal_means belief;        /* of n arms, with all its memory */
    int64_t *planned, *limits;     /* n */
    double *slopes, *ends;         /* pb_screening_near() * pb_screening_levels() */
    int64_t *counts;               /* n: the wells of each arm in the batch */
    int64_t *chosen, *wells;       /* n: the same, without zeros */
    int64_t n_chosen;
} pb_screening;

/* How many arms a batch is chosen from. */
int64_t pb_screening_near(int64_t n, int64_t size);

/* How many numbers of wells are considered for an arm; `most` is the largest. */
int64_t pb_screening_levels(int64_t most);

/*
 * Chooses the next batch of `size` wells, `batches_left` >= 1 with it: counts, chosen,
 * wells. O(n), and O(levels) for each arm that is near the boundary.
 */
void pb_screening_choose(pb_screening *screen, const pb_seen *seen, int64_t batches_left);

/* Lists `counts` as chosen and wells. */
void pb_screening_list(pb_screening *screen);

#ifdef __cplusplus
}
#endif

#endif
