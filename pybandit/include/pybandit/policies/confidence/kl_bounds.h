#ifndef PYBANDIT_KL_BOUNDS_H
#define PYBANDIT_KL_BOUNDS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The arm of the largest upper bound pb_kl_upper(mean, rate / pulls), or of the least lower bound
 * pb_kl_lower(mean, rate / pulls), for a rate that changes little from choice to choice. For an
 * upper bound u, -log(1 - u) is concave in the rate, so its tangent at an earlier rate is an upper
 * bound; for a lower bound l, so is the tangent of -log(l). A bound is computed only if its
 * tangent reaches the best bound so far. The choice is the same as if all bounds were computed.
 */
typedef struct {
    int64_t n;
    int is_lower;  /* 1 for lower bounds */
    /* n each, owned by the caller */
    double *means;
    double *pulls;
    double *bases;  /* intercepts of the tangents bases + slopes rate, slightly raised */
    double *slopes;
    double *tangents;  /* scratch */
} pb_kl_bounds;

/* Sets an arm's mean, in [0, 1], of pulls >= 1 rewards. */
void pb_kl_bounds_set(pb_kl_bounds *bounds, int64_t arm, double mean, double pulls);

/*
 * Returns the arm chosen among those with skip[arm] == 0, ties to the lowest index, and writes its
 * bound; -1 if there is none. rate > 0. O(n) plus a few evaluations of the bound.
 */
int64_t pb_kl_bounds_choose(pb_kl_bounds *bounds, double rate, const unsigned char *skip,
                            double *bound);

#ifdef __cplusplus
}
#endif

#endif
