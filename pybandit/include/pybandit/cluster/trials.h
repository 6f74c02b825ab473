#ifndef PYBANDIT_TRIALS_H
#define PYBANDIT_TRIALS_H

#include <stdint.h>

#include "pybandit/_shared/status.h"
#include "pybandit/cluster/gains.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Values of pb_swap_limit for the first tiles of the mixed sample, kept until the next swap. Set
 * `version` to -1 before the first use; `values` has 2 PB_SWAP_LIMITS k entries.
 */
enum { PB_SWAP_LIMITS = 4 };
typedef struct {
    int64_t version;
    double *values;
} pb_swap_limits;

/*
 * Estimates the gains of n candidates together. Candidates that need the same tile are measured
 * at once, while it is in the cache, or by one call of a function. Results equal those of
 * pb_swap_try for each. The caller sets decisions[i] to the return value of
 * pb_swap_begin(km, &trials[i], ...); by_row has the positions 0 to n - 1 by increasing row.
 * `scratch` has memory for n candidates; group (3 n + k + 1), rows (n) and out (n * PB_TILE) are
 * workspace. After a failure, `scratch` is the tile that was read, rows the candidates, and out the
 * distances. O(n) per group, in addition to pb_swap_try.
 */
pb_status pb_swap_try_many(const pb_kmedoids *km, pb_swap_trial *trials,
                           pb_swap_decision *decisions, int64_t n, const int64_t *by_row,
                           pb_tile *scratch, int64_t *group, int64_t *rows,
                           pb_swap_limits *limits, double *out);

#ifdef __cplusplus
}
#endif

#endif
