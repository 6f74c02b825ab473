#ifndef PYBANDIT_CONTROL_H
#define PYBANDIT_CONTROL_H

#include <stdint.h>

#include "pybandit/factors.h"

/*
 * Log factors less a control variate (Chen & Ghahramani 2016, Sec. 3.4): the function
 * of `factors` gives log f_n(i), `values` is a C-ordered (N, D) matrix of h_n(i). The
 * sums of h over all N belong to the offsets of the race.
 */
typedef struct {
    pb_factors factors;
    const double *values;
} pb_control;

/* log f_n(i) - h_n(i): a pb_factor_function of N and D whose user_data is a pb_control. */
int pb_control_read(const int64_t *factors, int64_t n_factors, const int64_t *states,
                    int64_t n_states, double *out, void *user_data);

#endif
