#ifndef PYBANDIT_REJECTS_H
#define PYBANDIT_REJECTS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Successive rejects on shared items: how many items to read on the surviving arms, and how
 * many arms to keep, so that the last k arms remain when the budget of evaluations ends.
 *
 * An arm eliminated while r arms remain (itself included) is read on min(N, a w(r - k + 1))
 * items, with w(j) = j^-late for j <= PB_REJECTS_FEW and falling as j^-early beyond it. With
 * w(j) = 1 / j this is the classical schedule. With f the strength, K = n_arms and
 * m = min(1, 100 / (K - k + 1)),
 *
 *     early = 1 + m (.2 f),    late = 1 + m (.1 + .5 f).
 *
 * Larger exponents give more items to the last few arms. The scale a is the largest that the
 * remaining budget can pay for. It is recomputed at every look, so evaluations saved on some
 * arms go to the rest.
 */
enum { PB_REJECTS_FEW = 8 };

typedef struct {
    int64_t n_items;   /* N >= 1 */
    double *weights;   /* n_arms + 1; weights[j] = w(j) for 2 <= j <= n_arms */
} pb_rejects;

/* Computes the weights. Requires n_arms >= 2, 1 <= k < n_arms and strength in [0, 1]. */
void pb_rejects_begin(pb_rejects *rejects, int64_t n_arms, int64_t k, double strength);

/*
 * Returns how many of n_alive arms to keep: those that the schedule reads further.
 *
 * - places: the number of arms to find among them, 1 <= places < n_alive
 * - n_read: items read so far on each surviving arm, less than N
 * - cells: evaluations left in the budget
 *
 * Cost: one pass over the weights, O(n_alive), if all arms are kept; about log2(n_alive)
 * passes otherwise.
 */
int64_t pb_rejects_keep(const pb_rejects *rejects, int64_t n_alive, int64_t places,
                         int64_t n_read, int64_t cells);

/*
 * Returns how many items to read on each surviving arm before the next look: up to the point
 * at which the next arm leaves, but at least n_read / 16 and at most max(n_read / 16, 4).
 * Fewer are returned only if the items or the budget end first, and 0 if `cells` cannot pay
 * for one item per arm.
 *
 * Takes the arguments of pb_rejects_keep; places == n_alive is allowed and returns 0. Cost:
 * at most three passes over the weights, O(n_alive) each.
 */
int64_t pb_rejects_block(const pb_rejects *rejects, int64_t n_alive, int64_t places,
                          int64_t n_read, int64_t cells);

#ifdef __cplusplus
}
#endif

#endif
