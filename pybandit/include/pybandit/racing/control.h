#ifndef PYBANDIT_CONTROL_H
#define PYBANDIT_CONTROL_H

#include <stdint.h>

#include "pybandit/racing/factors.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Log factors less a control variate (Chen & Ghahramani 2016, Sec. 3.4): the function
 * of `factors` writes log f_n(i) to `out`, then `subtract`, of the same signature, takes
 * h_n(i) off what is there. The sums of h over all N belong to the offsets of the race.
 */
typedef struct {
    pb_factors factors;
    pb_factor_function subtract;
    void *data;
    /* NULL, or has what `subtract` reads of these factors come from memory meanwhile */
    void (*ahead)(const int64_t *factors, int64_t n_factors, const void *data);
} pb_control;

/* log f_n(i) - h_n(i): a pb_factor_function whose user_data is a pb_control. */
int pb_control_read(const int64_t *factors, int64_t n_factors, const int64_t *states,
                    int64_t n_states, double *out, void *user_data);

/* Subtracts h_n(i) of a matrix; its data is a pb_factors that has one. */
int pb_control_matrix(const int64_t *factors, int64_t n_factors, const int64_t *states,
                      int64_t n_states, double *out, void *data);

/*
 * The change of a quadratic function of s = x_n'(theta - center) from points[0] to
 * points[1]: slope_n (s1 - s0) + curvature_n (s1^2 - s0^2) / 2. Generalised linear
 * models have it for a second-order expansion of their log likelihood.
 */
typedef struct {
    int64_t n_parameters;
    const double *features;    /* C-ordered, (N, n_parameters) */
    const double *slopes;      /* N */
    const double *curvatures;  /* N */
    const double *center;      /* n_parameters */
    const double *points;      /* C-ordered, (2, n_parameters) */
} pb_control_linear;

/* Subtracts that of each factor, for one state; its data is a pb_control_linear. O(n d). */
int pb_control_linear_change(const int64_t *factors, int64_t n_factors, const int64_t *states,
                             int64_t n_states, double *out, void *data);

/* Has the rows of a pb_control_linear come from memory; some hundreds of factors at most. */
void pb_control_linear_ahead(const int64_t *factors, int64_t n_factors, const void *data);

/*
 * The change of g'(theta - center) + (theta - center)' H (theta - center) / 2 from
 * points[0] to points[1], d numbers each; H is symmetric. O(d^2).
 */
double pb_control_quadratic_change(int64_t n_parameters, const double *gradient,
                                   const double *hessian, const double *center,
                                   const double *points);

#ifdef __cplusplus
}
#endif

#endif
