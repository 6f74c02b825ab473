#ifndef PYBANDIT_EXPANSION_H
#define PYBANDIT_EXPANSION_H

#include <stdint.h>

#include "pybandit/racing/factors.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Second-order expansions of arbitrary log factors,
 *   h_n(theta) = g_n'(theta - center) + (theta - center)' H_n (theta - center) / 2.
 * Their change from points[0] to points[1] is a control variate (control.h) for the change
 * of the log factors. H_n is a matrix, a sum of a few outer products
 * sum_k weights_nk v_nk v_nk', or 0.
 */
typedef struct {
    int64_t n_parameters;      /* d */
    int64_t rank;              /* outer products per H_n; 0 if H_n is a matrix or 0 */
    const double *gradients;   /* C-ordered, (N, d) */
    const double *matrices;    /* (N, d, d), symmetric; NULL if H_n is 0 or outer products */
    const double *directions;  /* (N, rank, d) */
    const double *weights;     /* (N, rank) */
    const double *center;      /* d */
    const double *points;      /* (2, d) */
} pb_expansion;

/*
 * Subtracts the change of each factor's h, for one state; `data` is a pb_expansion. O(n d)
 * per outer product, O(n d^2) with matrices.
 */
int pb_expansion_change(const int64_t *factors, int64_t n_factors, const int64_t *states,
                        int64_t n_states, double *out, void *data);

#ifdef __cplusplus
}
#endif

#endif
