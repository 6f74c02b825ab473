#ifndef PYBANDIT_CONTROL_H
#define PYBANDIT_CONTROL_H

#include <stdint.h>

#include "pybandit/racing/factors.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Log factors minus a control variate (Chen & Ghahramani 2016, Sec. 3.4). The function
 * of `factors` writes log f_n(i) to `out`; then `subtract`, which has the same signature,
 * subtracts h_n(i). Add the sums of h over all N factors to the offsets of the race.
 */
typedef struct {
    pb_factors factors;
    pb_factor_function subtract;
    void *data;
    /* NULL, or prefetches the data that `subtract` reads for these factors */
    void (*ahead)(const int64_t *factors, int64_t n_factors, const void *data);
} pb_control;

/* Writes log f_n(i) - h_n(i). A pb_factor_function whose user_data is a pb_control. */
int pb_control_read(const int64_t *factors, int64_t n_factors, const int64_t *states,
                    int64_t n_states, double *out, void *user_data);

/* Subtracts h_n(i) from a matrix of values; `data` is a pb_factors with a matrix. */
int pb_control_matrix(const int64_t *factors, int64_t n_factors, const int64_t *states,
                      int64_t n_states, double *out, void *data);

/*
 * Change of a quadratic function of s = x_n'(theta - center) between points[0] and
 * points[1]: slope_n (s1 - s0) + curvature_n (s1^2 - s0^2) / 2. The second-order
 * expansion of the log likelihood of a generalised linear model has this form.
 */
typedef struct {
    int64_t n_parameters;
    const double *features;    /* C-ordered, (N, n_parameters) */
    const double *slopes;      /* shape (N,) */
    const double *curvatures;  /* shape (N,) */
    const double *center;      /* shape (n_parameters,) */
    const double *points;      /* C-ordered, (2, n_parameters) */
} pb_control_linear;

/* Subtracts each factor's change, for one state; `data` is a pb_control_linear. O(n d). */
int pb_control_linear_change(const int64_t *factors, int64_t n_factors, const int64_t *states,
                             int64_t n_states, double *out, void *data);

/* Prefetches the rows of a pb_control_linear; does nothing for more than 512 factors. */
void pb_control_linear_ahead(const int64_t *factors, int64_t n_factors, const void *data);

/*
 * Returns the change of g'(theta - center) + (theta - center)' H (theta - center) / 2
 * from points[0] to points[1], which have d = n_parameters entries each. H must be
 * symmetric. O(d^2).
 */
double pb_control_quadratic_change(int64_t n_parameters, const double *gradient,
                                   const double *hessian, const double *center,
                                   const double *points);

#ifdef __cplusplus
}
#endif

#endif
