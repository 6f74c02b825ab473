/* Control variates, subtracted from the log factors that a function wrote. */
#include "pybandit/racing/control.h"
#include "../_shared/prefetch.h"

enum { FEW = 512 };  /* with more rows, the first are evicted from the cache before use */

#define LINE 64

int pb_control_read(const int64_t *factors, int64_t n_factors, const int64_t *states,
                    int64_t n_states, double *out, void *user_data)
{
    const pb_control *control = user_data;
    if (control->ahead)
        control->ahead(factors, n_factors, control->data);
    const int status = control->factors.function(factors, n_factors, states, n_states, out,
                                                 control->factors.user_data);
    if (status)
        return status;
    return control->subtract(factors, n_factors, states, n_states, out, control->data);
}

int pb_control_matrix(const int64_t *factors, int64_t n_factors, const int64_t *states,
                      int64_t n_states, double *out, void *data)
{
    const pb_factors *values = data;
    for (int64_t f = 0; f < n_factors; f++) {
        const double *row = (const double *)values->matrix + factors[f] * values->n_states;
        for (int64_t s = 0; s < n_states; s++)
            out[f * n_states + s] -= row[states[s]];
    }
    return 0;
}

int pb_control_linear_change(const int64_t *factors, int64_t n_factors, const int64_t *states,
                             int64_t n_states, double *out, void *data)
{
    const pb_control_linear *c = data;
    const int64_t d = c->n_parameters;
    const double *from = c->points, *to = c->points + d;
    (void)states;
    for (int64_t f = 0; f < n_factors; f++) {
        const double *x = c->features + factors[f] * d;
        double change = 0.0, sum = 0.0;  /* s1 - s0 and s1 + s0, computed without cancellation */
        for (int64_t i = 0; i < d; i++) {
            change += x[i] * (to[i] - from[i]);
            sum += x[i] * ((to[i] - c->center[i]) + (from[i] - c->center[i]));
        }
        out[f * n_states] -=
            change * (c->slopes[factors[f]] + 0.5 * c->curvatures[factors[f]] * sum);
    }
    return 0;
}

void pb_control_linear_ahead(const int64_t *factors, int64_t n_factors, const void *data)
{
    const pb_control_linear *c = data;
    const int64_t size = c->n_parameters * (int64_t)sizeof(double);
    for (int64_t f = 0; n_factors <= FEW && f < n_factors; f++) {
        const char *x = (const char *)(c->features + factors[f] * c->n_parameters);
        for (int64_t byte = 0; byte < size + LINE; byte += LINE)
            PREFETCH(x + (byte < size ? byte : size - 1));
        PREFETCH(c->slopes + factors[f]);
        PREFETCH(c->curvatures + factors[f]);
    }
}

double pb_control_quadratic_change(int64_t n_parameters, const double *gradient,
                                   const double *hessian, const double *center,
                                   const double *points)
{
    const int64_t d = n_parameters;
    const double *from = points, *to = points + d;
    double total = 0.0;
    for (int64_t i = 0; i < d; i++) {
        double slope = gradient[i];  /* slope halfway between the points */
        for (int64_t j = 0; j < d; j++)
            slope += 0.5 * hessian[i * d + j] * ((to[j] - center[j]) + (from[j] - center[j]));
        total += slope * (to[i] - from[i]);
    }
    return total;
}
