#ifndef HYBRID_H
#define HYBRID_H

/*
 * Constant bets of a race, and hybrid bets, which place half the wealth on the rivals.
 * Private to betting.c.
 */
#include "pybandit/betting/betting.h"

#include "wealth.h"

static double *leader_process(const pb_betting *b, int64_t arm)
{
    return b->memory + arm * pb_bets_memory(&b->bets);
}

/* Hybrid: returns the process against "`arm` is best" that bets on `rival`. */
static double *pair_process(const pb_betting *b, int64_t arm, int64_t rival)
{
    return b->memory +
           (b->n_arms * (arm + 1) + rival) * pb_bets_memory(&b->bets);
}

static void begin_hybrid(pb_betting *b)
{
    const double rivals = (double)(b->n_alive - 1);
    for (int64_t i = 0; i < b->n_alive; i++)
        for (int64_t j = 0; j < b->n_alive; j++)
            wealth_begin(&b->bets, pair_process(b, b->arms[i], b->arms[j]),
                         i == j ? 0.0 : 0.5 / rivals, b->threshold);
}

/* Bets against "arm i is best" on the rival's reward minus that of i; both are positions. */
ALWAYS_INLINE int bet_against(const pb_betting *b, const wager *w, double *process, int64_t i,
                              int64_t rival, const int n_vectors)
{
    const double half = 0.5 / b->items.range;
    const double expected = (b->scores[i] - b->scores[rival]) * w->per_left;
    const double difference = b->rewards[rival] - b->rewards[i];
    return wealth_bet(w, process, (difference - expected) * half, expected * half + 0.5,
                      n_vectors);
}

/* Hybrid: bets on the leader and on all rivals. Returns 1 if the hypothesis is rejected. */
static int bet_hybrid(const pb_betting *b, const wager *w, int64_t i, int64_t rival,
                      int n_vectors)
{
    double *process = leader_process(b, b->arms[i]);
    int falls = bet_against(b, w, process, i, rival, n_vectors);
    double total = wealth_total(&b->bets, process);
    for (int64_t j = 0; j < b->n_alive; j++) {
        if (j == i)
            continue;
        process = pair_process(b, b->arms[i], b->arms[j]);
        falls |= bet_against(b, w, process, i, j, n_vectors);
        total += wealth_total(&b->bets, process);
    }
    return falls || total >= b->threshold;
}

/* Hybrid: distributes the wealth on eliminated rivals over the others, in proportion. */
static void hand_over(pb_betting *b, int64_t i)
{
    double total = 0.0, kept = 0.0;
    for (int64_t j = 0; j < b->n_alive; j++) {
        if (j == i)
            continue;
        const double capital =
            wealth_total(&b->bets, pair_process(b, b->arms[i], b->arms[j]));
        total += capital;
        kept += b->gone[j] ? 0.0 : capital;
    }
    if (kept < 0x1p-500)  /* the ratio could overflow near denormals */
        return;
    for (int64_t j = 0; j < b->n_alive; j++)
        if (j != i && !b->gone[j]) {
            double *process = pair_process(b, b->arms[i], b->arms[j]);
            for (int64_t g = 0; g < b->bets.n_bets; g++)
                process[g] *= total / kept;
        }
}

#endif
