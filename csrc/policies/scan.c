/*
 * Scans over the arms (pybandit/policies/scan.h). Four chains whose steps do not wait for each
 * other; a position is looked for once its value is known, which costs less than
 * carrying it along.
 */
#include <math.h>

#include "pybandit/policies/scan.h"
#include "../_shared/wide.h"

#define LOAD(p) (*(const unaligned *)(p))
#define ALL(value) ((vector){(value), (value), (value), (value)})

typedef int64_t mask __attribute__((vector_size(LANES * sizeof(int64_t))));

ALWAYS_INLINE double larger(double a, double b) { return b > a ? b : a; }
ALWAYS_INLINE double smaller(double a, double b) { return b < a ? b : a; }

/* `where` chooses a, elsewhere b: GCC makes blends of these masks in loops */
#define CHOOSE(where, a, b) ((vector)(((mask)(a) & (where)) | ((mask)(b) & ~(where))))
#define LARGER(a, b) CHOOSE((b) > (a), b, a)
#define SMALLER(a, b) CHOOSE((b) < (a), b, a)

ALWAYS_INLINE double largest_lane(const vector *v)
{
    return larger(larger((*v)[0], (*v)[1]), larger((*v)[2], (*v)[3]));
}

/* inlined: a call that ends a function with wide registers leaves them dirty */
ALWAYS_INLINE int64_t position(const double *values, int64_t n, double value, int64_t other)
{
    const vector wanted = ALL(value);
    int64_t i = 0;
    while (i < n) {
        for (; i + 2 * LANES <= n; i += 2 * LANES) {
            const mask here = (LOAD(values + i) == wanted) | (LOAD(values + i + LANES) == wanted);
            if (here[0] | here[1] | here[2] | here[3])
                break;
        }
        for (const int64_t end = i + 2 * LANES < n ? i + 2 * LANES : n; i < end; i++)
            if (values[i] == value && i != other)
                return i;
    }
    return 0;
}

WIDE double pb_scan_largest(const double *values, int64_t n)
{
    vector a = ALL(-INFINITY), b = a, c = a, d = a;
    int64_t i = 0;
    for (; i + 4 * LANES <= n; i += 4 * LANES) {
        a = LARGER(a, LOAD(values + i));
        b = LARGER(b, LOAD(values + i + LANES));
        c = LARGER(c, LOAD(values + i + 2 * LANES));
        d = LARGER(d, LOAD(values + i + 3 * LANES));
    }
    a = LARGER(a, b);
    c = LARGER(c, d);
    a = LARGER(a, c);
    double best = largest_lane(&a);
    for (; i < n; i++)
        best = larger(best, values[i]);
    return best;
}

WIDE double pb_scan_least(const double *values, int64_t n)
{
    vector a = ALL(INFINITY), b = a;
    int64_t i = 0;
    for (; i + 2 * LANES <= n; i += 2 * LANES) {
        a = SMALLER(a, LOAD(values + i));
        b = SMALLER(b, LOAD(values + i + LANES));
    }
    a = SMALLER(a, b);
    double best = smaller(smaller(a[0], a[1]), smaller(a[2], a[3]));
    for (; i < n; i++)
        best = smaller(best, values[i]);
    return best;
}

WIDE pb_two pb_scan_two(const double *values, int64_t n)
{
    vector first = ALL(-INFINITY), second = first, other = first, behind = first;
    int64_t i = 0;
    for (; i + 2 * LANES <= n; i += 2 * LANES) {
        const vector one = LOAD(values + i), two = LOAD(values + i + LANES);
        const vector less = SMALLER(first, one), smaller = SMALLER(other, two);
        second = LARGER(second, less);
        behind = LARGER(behind, smaller);
        first = LARGER(first, one);
        other = LARGER(other, two);
    }
    const vector less = SMALLER(first, other);
    second = LARGER(second, behind);
    second = LARGER(second, less);
    first = LARGER(first, other);
    pb_two two = {first[0], second[0]};
    for (int lane = 1; lane < LANES; lane++) {
        two.second = larger(larger(two.second, second[lane]), smaller(two.first, first[lane]));
        two.first = larger(two.first, first[lane]);
    }
    for (; i < n; i++) {
        two.second = larger(two.second, smaller(two.first, values[i]));
        two.first = larger(two.first, values[i]);
    }
    return two;
}

WIDE double pb_scan_sum(const double *values, int64_t n)
{
    vector sum = ALL(0.0);
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        sum += LOAD(values + i);
    for (; i < n; i++)
        sum[0] += values[i];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

WIDE int64_t pb_scan_position(const double *values, int64_t n, double value, int64_t other)
{
    return position(values, n, value, other);
}

WIDE int64_t pb_scan_above(const double *values, int64_t n, int64_t start, double level)
{
    const vector wanted = ALL(level);
    int64_t i = start;
    for (; i + 2 * LANES <= n; i += 2 * LANES) {
        const mask here = (LOAD(values + i) >= wanted) | (LOAD(values + i + LANES) >= wanted);
        if (here[0] | here[1] | here[2] | here[3])
            break;
    }
    while (i < n && values[i] < level)
        i++;
    return i;
}

#define INDEX(read, i) \
    (read(centres + (i)) - top + (root * read(roots + (i)) + factor * read(slopes + (i))))

WIDE int64_t pb_scan_index(const double *centres, const double *roots, const double *slopes,
                           double factor, double top, int64_t n, double *indices)
{
    const double root = sqrt(factor);
    vector best = ALL(-INFINITY), other = best;
    int64_t i = 0;
    for (; i + 2 * LANES <= n; i += 2 * LANES) {
        const vector one = INDEX(LOAD, i), two = INDEX(LOAD, i + LANES);
        *(unaligned *)(indices + i) = one;
        *(unaligned *)(indices + i + LANES) = two;
        best = LARGER(best, one);
        other = LARGER(other, two);
    }
    best = LARGER(best, other);
    double largest = largest_lane(&best);
    for (; i < n; i++) {
        indices[i] = INDEX(*, i);
        largest = larger(largest, indices[i]);
    }
    return position(indices, n, largest, -1);
}
