#ifndef PYBANDIT_PAIRWISE_H
#define PYBANDIT_PAIRWISE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Log factors taken from a table: factor n of state i is
 *   weights[n] * table[labels[members[n]] * n_states + i].
 * Potts and Ising models have this form; `labels` are then the states of all variables and
 * `members` the neighbours of one variable. So do observed categories, where the table has
 * one row per category. Every call reads all arrays again. Labels are checked when they are
 * read, so another thread may write to them; members are not checked.
 */
typedef struct {
    int64_t n_states;
    int64_t n_labels;
    const double *table;     /* C-ordered, (n_labels, n_states) */
    const int64_t *labels;   /* a label outside [0, n_labels) makes its factors NaN */
    const int32_t *members;  /* per factor; NULL: members[n] = n */
    const double *weights;   /* per factor; NULL: all 1 */
} pb_pairwise;

/* A pb_factor_function whose user_data is a pb_pairwise. O(n_factors n_states). */
int pb_pairwise_read(const int64_t *factors, int64_t n_factors, const int64_t *states,
                     int64_t n_states, double *out, void *user_data);

/* Returns the length of `work` in pb_pairwise_totals. */
static inline int64_t pb_pairwise_memory(const pb_pairwise *pairwise)
{
    return 4 * pairwise->n_labels;
}

/*
 * Computes each state's sum over factors 0 to n_factors - 1 by counting labels, in
 * O(n_factors + n_labels n_states). Returns -1, or the first factor whose label is out of
 * range; the sums are then NaN.
 */
int64_t pb_pairwise_totals(const pb_pairwise *pairwise, int64_t n_factors, double *work,
                           double *totals);

#ifdef __cplusplus
}
#endif

#endif
