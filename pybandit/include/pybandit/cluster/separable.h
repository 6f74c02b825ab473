#ifndef PYBANDIT_SEPARABLE_H
#define PYBANDIT_SEPARABLE_H

#include <stdint.h>

#include "pybandit/cluster/distance.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Sums of distances to all rows for metrics whose sums separate by column: exact, in O(N) per
 * column or a sort of the column. All sums are doubles. `weights` is NULL if all are 1.
 */

/*
 * Writes totals[i] = sum_j w_j |x_i - x_j|^2, half of it for COSINE: with weighted mean mu,
 * W |x_i - mu|^2 + sum_j w_j |x_j - mu|^2. `mean` has n_columns entries. O(n n_columns).
 */
void pb_separable_squares(const pb_distances *rows, const double *weights, double *mean,
                          double *totals);

/*
 * Adds sum_j w_j d(x_i, x_j) of one column to totals[i], for MANHATTAN or HAMMING (w_j for each
 * other value, divided by n_columns). `order` has the rows by increasing value of the column. O(n).
 */
void pb_separable_column(const pb_distances *rows, const double *weights, int64_t column,
                         const int64_t *order, double *totals);

/*
 * HAMMING: adds the sums of the columns with at most two different values to totals, in three
 * passes, and sets is_done[c] for these. `memory` has 3 n_columns entries. O(n n_columns).
 */
void pb_separable_two_values(const pb_distances *rows, const double *weights, double *memory,
                             unsigned char *is_done, double *totals);

#ifdef __cplusplus
}
#endif

#endif
