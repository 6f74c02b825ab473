/* Pairwise claims by betting: one process per ordered pair (pybandit/betting/pairs.h). */
#include "pybandit/betting/pairs.h"

#include <string.h>

#include "wealth.h"

static double *process_of(const pb_pairs *pairs, int64_t a, int64_t b)
{
    return pairs->memory + (a * pairs->n_slots + b) * pb_bets_memory(&pairs->bets);
}

void pb_pairs_begin(pb_pairs *pairs)
{
    const int64_t n = pairs->n_slots;
    memset(pairs->claims, 0, (size_t)(n * n));
    for (int64_t a = 0; a < n; a++)
        for (int64_t b = 0; b < n; b++)
            wealth_begin(&pairs->bets, process_of(pairs, a, b), 1.0, pairs->threshold);
}

/* Bets on one item that arm i beats arm j. Returns 1 if the hypothesis "j >= i" is rejected. */
ALWAYS_INLINE int bet_pair(const pb_pairs *pairs, const wager *w, double *process,
                           double deficit, double difference, const int n_vectors)
{
    /* `slack` of a mean is N slack of a total: N slack / left per item left */
    const double slack = w->per_left > 0.0
                             ? pairs->slack * (double)pairs->items.n_items * w->per_left
                             : pairs->slack;
    const double expected = deficit * w->per_left - slack;
    if (n_vectors == PLUGGED) {
        const double per_range = 1.0 / pairs->items.range;
        const double hoped = PLUG_GAIN + (w->n_read * pairs->slack - deficit) * per_range;
        return wealth_plug(process, difference * per_range, expected * per_range, hoped, w->tilt);
    }
    const double half = 0.5 / pairs->items.range;
    return wealth_bet(w, process, (difference - expected) * half, expected * half + 0.5,
                      n_vectors);
}

WIDE int pb_pairs_add(pb_pairs *pairs, int64_t n_read, const int64_t *slots, int64_t n,
                      const double *sums, const double *rewards)
{
    const pb_bets *bets = &pairs->bets;
    const int n_vectors =
        bets->mixture == PB_MIX_PLUG_IN ? PLUGGED
        : bets->mixture == PB_MIX_PRODUCT ? (int)(bets->n_bets / LANES) : 0;
    const int resting = (n_read + 1) % REST == 0;
    double tilted[PB_MOST_BETS];
    wager w;
    wager_begin(&w, bets, tilted, &pairs->items, n_read, n_vectors);
    int found = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            unsigned char *claim = pairs->claims + slots[i] * pairs->n_slots + slots[j];
            if (i == j || *claim)
                continue;
            double *process = process_of(pairs, slots[i], slots[j]);
            if (bet_pair(pairs, &w, process, sums[j] - sums[i], rewards[i] - rewards[j],
                         n_vectors))
                *claim = 1, found = 1;
            else if (resting)
                wealth_rest(bets, process);
        }
    return found;
}
