/* RoundRobin as a cursor on a ring (pybandit/policies/protocol/round_robin.h): O(1) per batch. */
#include "pybandit/policies/protocol/round_robin.h"

#include <stddef.h>

void pb_round_robin_begin(pb_round_robin *ring, int64_t n_arms)
{
    for (int64_t i = 0; i < n_arms; i++)
        ring->arms[i] = i;
    ring->n_arms = n_arms;
    ring->cursor = ring->rounds = 0;
}

pb_batch pb_round_robin_next(const pb_round_robin *ring, int64_t size, int64_t repeats)
{
    const int64_t n = ring->n_arms;
    /* n * repeats may overflow */
    const int64_t most = repeats >= (size + n - 1) / n ? size : n * repeats;
    return (pb_batch){ring->arms, n, ring->cursor, most, NULL};
}

void pb_round_robin_pulled(pb_round_robin *ring, int64_t n_pulls)
{
    ring->rounds += (ring->cursor + n_pulls) / ring->n_arms;
    ring->cursor = (ring->cursor + n_pulls) % ring->n_arms;
}

int64_t pb_round_robin_pulls(const pb_round_robin *ring, int64_t arm)
{
    return ring->rounds + (ring->cursor > 0 && arm < ring->arms[ring->cursor]);
}

void pb_round_robin_keep(pb_round_robin *ring, const unsigned char *flags)
{
    int64_t kept = 0, ahead = 0;
    for (int64_t i = 0; i < ring->n_arms; i++) {
        const int64_t arm = ring->arms[i];
        ring->arms[kept] = arm;
        kept += flags[arm];
        ahead += flags[arm] & (i < ring->cursor);
    }
    ring->n_arms = kept;
    ring->cursor = ahead;
    if (kept > 0 && ahead == kept) {
        ring->cursor = 0;
        ring->rounds++;
    }
}

void pb_round_robin_add(pb_round_robin *ring, int64_t arm)
{
    int64_t i = ring->n_arms++;
    for (; i > 0 && ring->arms[i - 1] > arm; i--)
        ring->arms[i] = ring->arms[i - 1];
    ring->arms[i] = arm;
    ring->cursor += i < ring->cursor;
}
