#ifndef GAUSSIAN_ARM_H
#define GAUSSIAN_ARM_H

#include <stdint.h>

#include "../../_shared/wide.h"

/* Arithmetic on the features of one arm, shared by the posterior's functions; private to csrc. */

ALWAYS_INLINE double above_zero(double x) { return x > 0.0 ? x : 0.0; }

ALWAYS_INLINE double dot(const double *a, const double *b, int64_t n)
{
    vector sum = ALL(0.0);
    double rest = 0.0;
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        EACH sum L += LOAD(a + i) L * LOAD(b + i) L;
    for (; i < n; i++)
        rest += a[i] * b[i];
    return (LANE(sum, 0) + LANE(sum, 1)) + (LANE(sum, 2) + LANE(sum, 3)) + rest;
}

#endif
