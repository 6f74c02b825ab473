#ifndef PYBANDIT_SCAN_H
#define PYBANDIT_SCAN_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * One value an arm, n >= 1 of them, none NaN: what a policy that looks at every arm at
 * every pull asks of them. O(n). Sums are of four interleaved chains, in this order on
 * every machine.
 */

double pb_scan_largest(const double *values, int64_t n);
double pb_scan_least(const double *values, int64_t n);
double pb_scan_sum(const double *values, int64_t n);

/* The two largest; equal where the largest is there twice; -INFINITY where n is 1. */
typedef struct {
    double first, second;
} pb_two;

pb_two pb_scan_two(const double *values, int64_t n);

/* The lowest position of a value, the position `other` (or -1) aside; 0 where it is nowhere. */
int64_t pb_scan_position(const double *values, int64_t n, double value, int64_t other);

/* The lowest position from `start` on of a value of at least `level`; n where there is none. */
int64_t pb_scan_above(const double *values, int64_t n, int64_t start, double level);

/*
 * The lowest position of the largest index
 *     centres[i] - top + (sqrt(factor) roots[i] + factor slopes[i]),
 * factor >= 0; `indices` receives all n of them. A centre may be -INFINITY.
 */
int64_t pb_scan_index(const double *centres, const double *roots, const double *slopes,
                      double factor, double top, int64_t n, double *indices);

#ifdef __cplusplus
}
#endif

#endif
