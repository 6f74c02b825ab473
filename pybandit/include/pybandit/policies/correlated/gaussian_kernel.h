#ifndef PYBANDIT_GAUSSIAN_KERNEL_H
#define PYBANDIT_GAUSSIAN_KERNEL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Properties of a square matrix. */
typedef struct {
    double largest;      /* largest absolute value of an entry; any number if row_sum is NaN */
    double apart;        /* largest difference of mirrored entries */
    int64_t row, column; /* a place where it occurs, row > column; 0, 0 if apart is 0 */
    double row_sum;      /* largest sum of absolute values in a row of the lower triangle,
                            mirrored; NaN if any entry is not finite */
} pb_gaussian_kernel;

/* Checks an n x n matrix, n >= 1, in one pass. sums: n doubles of scratch. O(n^2). */
pb_gaussian_kernel pb_gaussian_kernel_check(const double *kernel, int64_t n, double *sums);

#ifdef __cplusplus
}
#endif

#endif
