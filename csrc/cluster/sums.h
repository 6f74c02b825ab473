#ifndef SUMS_H
#define SUMS_H

#include "../_shared/wide.h"

/* Adds eight partial sums in a fixed order; private to csrc. */
ALWAYS_INLINE double add_eight(const double *sums)
{
    const double even = (sums[0] + sums[4]) + (sums[2] + sums[6]);
    const double odd = (sums[1] + sums[5]) + (sums[3] + sums[7]);
    return even + odd;
}

#endif
