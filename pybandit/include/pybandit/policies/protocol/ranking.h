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
 * Ranks n arms by mean, best first, ties to the lower index: `arms` is increasing,
 * `means` has one an arm of the whole, none NaN. The result is in `out`; `memory`
 * has room for n as well. O(n).
 */
void pb_ranking_sort(const int64_t *arms, int64_t n, const double *means, pb_ranked *out,
                     pb_ranked *memory);

#ifdef __cplusplus
}
#endif

#endif
