#ifndef PYBANDIT_TOP_H
#define PYBANDIT_TOP_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The rank-th largest value of a set of arms while values change: a heap of the `rank` largest
 * values with the least at its root, and a heap of the others with the largest at its root.
 */
typedef struct {
    /* owned by the caller */
    const double *values;  /* by arm; never NaN */
    int64_t *order;        /* size entries: the first heap from the start, the other from the end */
    int64_t *place;        /* by arm: its position in `order` */
    int64_t size;          /* at least the number of arms in the set */
    /* set by these functions */
    int64_t rank, n_top, n_rest;
} pb_top;

/*
 * Starts with n <= size arms, rank >= 0. `rising` tells how values change first if they are equal
 * at first and change in the order of `arms`: 1 if they rise, 0 if they fall. Updates then take
 * O(1) on average. It does not affect the results. O(n).
 */
void pb_top_build(pb_top *top, const int64_t *arms, int64_t n, int64_t rank, int rising);

/* Returns the rank-th largest value: INFINITY if rank is 0, -INFINITY if it is above n. */
double pb_top_value(const pb_top *top);

/* Takes the new value of an arm of the set. O(log n). */
void pb_top_update(pb_top *top, int64_t arm);

/* Removes an arm. O(log n). */
void pb_top_remove(pb_top *top, int64_t arm);

/* Reduces the rank by 1; it must be above 0. O(log n). */
void pb_top_lower_rank(pb_top *top);

#ifdef __cplusplus
}
#endif

#endif
