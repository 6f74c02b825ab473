#ifndef PYBANDIT_SCAN_H
#define PYBANDIT_SCAN_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Reductions over an array with one value per arm, n >= 1, none NaN. O(n). Sums use four
 * interleaved partial sums, added in the same order on every machine.
 */

double pb_scan_largest(const double *values, int64_t n);
double pb_scan_least(const double *values, int64_t n);
double pb_scan_sum(const double *values, int64_t n);

/* The two largest values: equal if the largest occurs twice; second is -INFINITY if n is 1. */
typedef struct {
    double first, second;
} pb_two;

pb_two pb_scan_two(const double *values, int64_t n);

/* Returns the lowest position of `value`, skipping position `other` (-1: none); 0 if absent. */
int64_t pb_scan_position(const double *values, int64_t n, double value, int64_t other);

/* Returns the lowest position >= start whose value is at least `level`; n if there is none. */
int64_t pb_scan_above(const double *values, int64_t n, int64_t start, double level);

/*
 * Returns the lowest position of the largest index
 *     centres[i] - top + (sqrt(factor) roots[i] + factor slopes[i]),
 * with factor >= 0, and writes all n indices to `indices`. A centre may be -INFINITY.
 */
int64_t pb_scan_index(const double *centres, const double *roots, const double *slopes,
                      double factor, double top, int64_t n, double *indices);

/*
 * Returns the lowest position of the largest index centres[i] + sqrt(factor) roots[i], as
 * pb_scan_index does if `top` and all slopes are 0.
 */
int64_t pb_scan_root(const double *centres, const double *roots, double factor, int64_t n);

#ifdef __cplusplus
}
#endif

#endif
