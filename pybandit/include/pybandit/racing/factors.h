#ifndef PYBANDIT_FACTORS_H
#define PYBANDIT_FACTORS_H

#include <stdint.h>

#include "pybandit/_shared/cells.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Function that computes log factors on demand. It must write
 * out[f * n_states + s] = log f_n(i) for factor n = factors[f] and state
 * i = states[s], and return 0; any other value ends the race as a failure. Each
 * (factor, state) pair is requested at most once per race. `factors` is in no
 * particular order; `states` is increasing.
 */
typedef int (*pb_factor_function)(const int64_t *factors, int64_t n_factors,
                                  const int64_t *states, int64_t n_states,
                                  double *out, void *user_data);

/*
 * N factors of D states: a C-ordered (N, D) matrix, or a function if `matrix` is NULL. Races and
 * samplers read matrices of any type; acceptance tests and control variates only doubles.
 */
typedef struct {
    int64_t n_factors;
    int64_t n_states;
    const void *matrix;
    pb_factor_function function;
    void *user_data;
    pb_cell_type type;  /* of the cells of the matrix; 0: doubles */
} pb_factors;

#ifdef __cplusplus
}
#endif

#endif
