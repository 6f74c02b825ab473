#ifndef PYBANDIT_PAIRWISE_H
#define PYBANDIT_PAIRWISE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Log factors of one variable that are entries of one table: factor n of state i is
 *   weights[n] * table[labels[members[n]] * n_states + i].
 * Potts and Ising models have them, `labels` the states of all variables and `members` the
 * neighbours of one; so have categories that were observed, a row of the table each.
 * All arrays are read again at every call. Labels are checked when they are read, so another
 * thread may write to them; members are not.
 */
typedef struct {
    int64_t n_states;
    int64_t n_labels;
    const double *table;     /* C-ordered, (n_labels, n_states) */
    const int64_t *labels;   /* a factor of one outside [0, n_labels) is NaN */
    const int32_t *members;  /* NULL: n itself */
    const double *weights;   /* one a factor; NULL: all 1 */
} pb_pairwise;

/* A pb_factor_function whose user_data is a pb_pairwise. O(n k). */
int pb_pairwise_read(const int64_t *factors, int64_t n_factors, const int64_t *states,
                     int64_t n_states, double *out, void *user_data);

/* The numbers of `work` below. */
static inline int64_t pb_pairwise_memory(const pb_pairwise *pairwise)
{
    return 4 * pairwise->n_labels;
}

/*
 * The sums over factors 0 to n_factors - 1, one a state: by counts of the labels, O(n_factors +
 * n_labels n_states). Returns -1, or the first factor whose label is none; the sums are NaN then.
 */
int64_t pb_pairwise_totals(const pb_pairwise *pairwise, int64_t n_factors, double *work,
                           double *totals);

#ifdef __cplusplus
}
#endif

#endif
