#ifndef PYBANDIT_KL_INDEX_H
#define PYBANDIT_KL_INDEX_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * KL-UCB's choice: the arm of the largest index, which is the upper bound
 *     u = pb_kl_upper(mean, f / pulls),    or scale (u - 1) where arms have scales.
 * What is compared is -log of its distance to 1, or to 0, which does not round where many
 * bounds crowd at 1. That is concave in f: its tangent where it was last solved lies above
 * it at every other f, and misses it by the square of the step. An arm is solved where its
 * tangent reaches the best one solved; the choice is that of solving all.
 */
typedef struct {
    int64_t n;
    const double *scales; /* n, above 0; or NULL */
    /* n each, the caller's */
    double *means;
    double *pulls;
    double *bases;  /* tangents: bases + slopes f, a little above */
    double *slopes;
    double *roots;  /* zeros */
    double *bounds; /* scratch */
} pb_kl_index;

/* No arm has rewards. */
void pb_kl_index_begin(pb_kl_index *index);

/* An arm has another mean, in [0, 1], of pulls >= 1 rewards; f is near the next one. */
void pb_kl_index_update(pb_kl_index *index, int64_t arm, double mean, double pulls, double f);

/*
 * The lowest arm of the largest index at f > 0; one arm at least has rewards. O(n), and
 * few solutions.
 */
int64_t pb_kl_index_choose(pb_kl_index *index, double f);

#ifdef __cplusplus
}
#endif

#endif
