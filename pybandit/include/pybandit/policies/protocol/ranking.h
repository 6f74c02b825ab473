#ifndef PYBANDIT_RANKING_H
#define PYBANDIT_RANKING_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    uint64_t key;  /* smaller is better */
    int64_t arm;
} pb_ranked;

/*
 * Ranks n arms by mean, best first, ties by lower index. O(n).
 *
 * - arms: n indices, increasing
 * - means: indexed by arm (all arms, not only these n); none NaN
 * - out: receives the n ranked arms
 * - memory: scratch, n entries
 */
void pb_ranking_sort(const int64_t *arms, int64_t n, const double *means, pb_ranked *out,
                     pb_ranked *memory);

#ifdef __cplusplus
}
#endif

#endif
