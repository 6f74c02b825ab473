#ifndef PYBANDIT_QUADRATIC_H
#define PYBANDIT_QUADRATIC_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Log factors that are quadratic in an observation: with t = values[members[n]] - center,
 * factor n of state i is constants[i] + t (slopes[i] + t curvatures[i]). Grids of normal means
 * and standard deviations, and of Poisson rates, have this form, as has any log density that is
 * quadratic up to terms that are equal for all states. Every call reads all arrays again.
 */
typedef struct {
    int64_t n_states;
    const double *constants;   /* n_states each */
    const double *slopes;
    const double *curvatures;
    double center;             /* choose it near the values: a small t keeps its digits */
    const double *values;
    const int32_t *members;    /* per factor; NULL: members[n] = n */
} pb_quadratic;

/* A pb_factor_function whose user_data is a pb_quadratic. O(n_factors n_states). */
int pb_quadratic_read(const int64_t *factors, int64_t n_factors, const int64_t *states,
                      int64_t n_states, double *out, void *user_data);

/*
 * Computes each state's sum over factors 0 to n_factors - 1 from the sums of t and t^2, in
 * O(n_factors + n_states). The sums are not finite if a value is not.
 */
void pb_quadratic_totals(const pb_quadratic *quadratic, int64_t n_factors, double *totals);

#ifdef __cplusplus
}
#endif

#endif
