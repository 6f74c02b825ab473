#ifndef PYBANDIT_REJECTS_H
#define PYBANDIT_REJECTS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Rejects on shared items: how deep to read the arms that are left, and how many
 * of them stay, so that a budget of evaluations ends with the last k of them.
 *
 * An arm that leaves when r arms are left is read on min(N, a w(r - k + 1)) items:
 * w(j) = j^-late up to PB_REJECTS_FEW, then falling as j^-early. With w(j) = 1 / j
 * these are successive rejects. With f the strength and m = min(1, 100 / (K - k + 1)),
 *
 *     early = 1 + m (.2 f),    late = 1 + m (.1 + .5 f).
 *
 * The larger exponents give more to the last few arms. The scale a is the largest that
 * the rest of the budget pays for. It is computed again at every look, so that cells that
 * are saved on some arms are spent on the others.
 */
enum { PB_REJECTS_FEW = 8 };

typedef struct {
    int64_t n_items;   /* N >= 1 */
    double *weights;   /* n_arms + 1; weights[j] = w(j) for 2 <= j <= n_arms */
} pb_rejects;

/* The weights for n_arms >= 2, of which k are looked for, 1 <= k < n_arms; strength in [0, 1]. */
void pb_rejects_begin(pb_rejects *rejects, int64_t n_arms, int64_t k, double strength);

/*
 * n_alive arms compete for `places`, 1 <= places < n_alive, and have been read on
 * n_read < N items each; `cells` evaluations are left. How many stay: those that
 * the schedule reads on, and all of them where N is as deep as it goes.
 * O(n_alive) once where all stay, log2(n_alive) times where some leave.
 */
int64_t pb_rejects_keep(const pb_rejects *rejects, int64_t n_alive, int64_t places,
                         int64_t n_read, int64_t cells);

/*
 * How many items to read of every arm alive before the next look: up to where the
 * next one leaves, but at least a sixteenth of those read, and at most that or 4.
 * 0 where the cells do not pay for one. The same arguments; also places == n_alive.
 * O(n_alive), at most three times.
 */
int64_t pb_rejects_block(const pb_rejects *rejects, int64_t n_alive, int64_t places,
                          int64_t n_read, int64_t cells);

#ifdef __cplusplus
}
#endif

#endif
