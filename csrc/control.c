/* A function's log factors less a matrix of control variates, row by row. */
#include "pybandit/control.h"

int pb_control_read(const int64_t *factors, int64_t n_factors, const int64_t *states,
                    int64_t n_states, double *out, void *user_data)
{
    const pb_control *control = user_data;
    const int status = control->factors.function(factors, n_factors, states, n_states, out,
                                                 control->factors.user_data);
    if (status)
        return status;
    for (int64_t f = 0; f < n_factors; f++) {
        const double *row = control->values + factors[f] * control->factors.n_states;
        for (int64_t s = 0; s < n_states; s++)
            out[f * n_states + s] -= row[states[s]];
    }
    return 0;
}
