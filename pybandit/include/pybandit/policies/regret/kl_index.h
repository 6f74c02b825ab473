#ifndef PYBANDIT_KL_INDEX_H
#define PYBANDIT_KL_INDEX_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * KL-UCB's choice: the arm of the largest index, which is the upper bound
 *     u = pb_kl_upper(mean, f / pulls),    or scale (u - 1) if arms have scales.
 * To keep bounds near 1 distinct, the code compares -log of the index's distance to 1 (to 0 with
 * scales). That is concave in f, so the tangent from its last computation is an upper bound at
 * every other f, with an error of the order of the squared change of f. An arm is
 * recomputed only if its tangent reaches the best value computed so far; the choice is the same
 * as if all arms were recomputed.
 */
typedef struct {
    int64_t n;
    const double *scales; /* n, above 0; or NULL */
    /* n each, owned by the caller */
    double *means;
    double *pulls;
    double *bases;  /* intercepts of the tangents bases + slopes f, slightly raised */
    double *slopes;
    double *roots;  /* zeros */
    double *bounds; /* scratch */
} pb_kl_index;

/* Starts without rewards. */
void pb_kl_index_begin(pb_kl_index *index);

/* Sets an arm's mean, in [0, 1], of pulls >= 1 rewards; f should be near the next choice's f. */
void pb_kl_index_update(pb_kl_index *index, int64_t arm, double mean, double pulls, double f);

/*
 * Returns the arm of the largest index at f > 0, ties to the lowest. At least one arm must have
 * rewards. O(n) plus a few evaluations of the bound.
 */
int64_t pb_kl_index_choose(pb_kl_index *index, double f);

#ifdef __cplusplus
}
#endif

#endif
