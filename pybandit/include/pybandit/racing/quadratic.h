#ifndef PYBANDIT_QUADRATIC_H
#define PYBANDIT_QUADRATIC_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Log factors that are quadratic in an observation: with t = values[members[n]] - center,
 * factor n of state i is constants[i] + t (slopes[i] + t curvatures[i]). Normal means and
 * deviations on a grid have them, Poisson rates, and others whose log density is, but for what
 * is the same for all states. All arrays are read anew at every call.
 */
typedef struct {
    int64_t n_states;
    const double *constants;   /* n_states each */
    const double *slopes;
    const double *curvatures;
    double center;             /* near the values: t is small then and keeps its digits */
    const double *values;
    const int32_t *members;    /* NULL: n itself */
} pb_quadratic;

/* A pb_factor_function whose user_data is a pb_quadratic. O(n k). */
int pb_quadratic_read(const int64_t *factors, int64_t n_factors, const int64_t *states,
                      int64_t n_states, double *out, void *user_data);

/*
 * The sums over factors 0 to n_factors - 1, one a state, by those of t and t^2: O(n_factors +
 * n_states). Not finite where a value is not.
 */
void pb_quadratic_totals(const pb_quadratic *quadratic, int64_t n_factors, double *totals);

#ifdef __cplusplus
}
#endif

#endif
