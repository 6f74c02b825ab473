#ifndef PYBANDIT_PAIRS_H
#define PYBANDIT_PAIRS_H

#include <stdint.h>

#include "pybandit/betting/bets.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A process of bets for every ordered pair of arms: slot a claims to beat slot b once the
 * hypothesis "mean_b >= mean_a + slack" is rejected. A given pair ever makes a false claim
 * with probability at most 1 / threshold.
 */
typedef struct {
    pb_bets bets;
    pb_items items;
    double slack;           /* in units of the means, at least 0 */
    double threshold;
    int64_t n_slots;
    double *memory;         /* n_slots^2 * pb_bets_memory */
    unsigned char *claims;  /* n_slots^2; claims[a * n_slots + b]: a beats b */
} pb_pairs;

/* Restarts all pairs of slots. */
void pb_pairs_begin(pb_pairs *pairs);

/*
 * Reads one item for the n arms in `slots`, given their rewards and their sums before the
 * item; n_read items were read before. Returns 1 if a pair made a new claim.
 */
int pb_pairs_add(pb_pairs *pairs, int64_t n_read, const int64_t *slots, int64_t n,
                 const double *sums, const double *rewards);

#ifdef __cplusplus
}
#endif

#endif
