#ifndef PYBANDIT_VARIANCE_H
#define PYBANDIT_VARIANCE_H

#include <stdint.h>

/*
 * Sample variances of arms from their running sums; `deviations` are sums of
 * squares about the mean. A variance that rounding alone could have made is 0.
 */
double pb_variance(int64_t pulls, double sum, double deviation);

/* The least of the arms' positive variances; 0 where none is positive. */
double pb_variance_least(const int64_t *pulls, const double *sums, const double *deviations,
                         int64_t n_arms);

#endif
