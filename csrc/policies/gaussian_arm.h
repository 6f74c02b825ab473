#ifndef GAUSSIAN_ARM_H
#define GAUSSIAN_ARM_H

#include <stdint.h>

#include "../_shared/wide.h"

/* What an arm of features is to the posterior's kernels; private to csrc. */

ALWAYS_INLINE double above_zero(double x) { return x > 0.0 ? x : 0.0; }

ALWAYS_INLINE double dot(const double *a, const double *b, int64_t n)
{
    vector sum = {0.0, 0.0, 0.0, 0.0};
    double rest = 0.0;
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        sum += *(const unaligned *)(a + i) * *(const unaligned *)(b + i);
    for (; i < n; i++)
        rest += a[i] * b[i];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]) + rest;
}

#endif
