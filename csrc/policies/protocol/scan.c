/*
 * Scans over the arms (pybandit/policies/protocol/scan.h). They use several independent chains
 * of operations. The position of a value is searched for once the value is known, which is
 * faster than tracking it during the scan.
 */
#include <math.h>

#include "pybandit/policies/protocol/scan.h"
#include "../../_shared/wide.h"

/* up to this many values vectors do not pay: they wait for the value just set */
enum { FEW = 32 };

#define SMALLER(a, b) PICK((b) < (a), b, a)

ALWAYS_INLINE double largest_lane(const vector *v)
{
    return larger(larger(LANE(*v, 0), LANE(*v, 1)), larger(LANE(*v, 2), LANE(*v, 3)));
}

/* Inlined: a tail call from a function with wide registers would leave their upper halves dirty. */
ALWAYS_INLINE int64_t position(const double *values, int64_t n, double value, int64_t other)
{
    const vector wanted = ALL(value);
    int64_t i = 0;
    while (i < n) {
        for (; i + 2 * LANES <= n; i += 2 * LANES) {
            MASK(here, (LOAD(values + i) L == wanted L)
                       | (LOAD(values + i + LANES) L == wanted L));
            if (ANY(here))
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
        EACH a L = LARGER(a L, LOAD(values + i) L);
        EACH b L = LARGER(b L, LOAD(values + i + LANES) L);
        EACH c L = LARGER(c L, LOAD(values + i + 2 * LANES) L);
        EACH d L = LARGER(d L, LOAD(values + i + 3 * LANES) L);
    }
    EACH a L = LARGER(a L, b L);
    EACH c L = LARGER(c L, d L);
    EACH a L = LARGER(a L, c L);
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
        EACH a L = SMALLER(a L, LOAD(values + i) L);
        EACH b L = SMALLER(b L, LOAD(values + i + LANES) L);
    }
    EACH a L = SMALLER(a L, b L);
    double best = smaller(smaller(LANE(a, 0), LANE(a, 1)), smaller(LANE(a, 2), LANE(a, 3)));
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
        VECTOR(less, SMALLER(first L, one L));
        VECTOR(smaller, SMALLER(other L, two L));
        EACH second L = LARGER(second L, less L);
        EACH behind L = LARGER(behind L, smaller L);
        EACH first L = LARGER(first L, one L);
        EACH other L = LARGER(other L, two L);
    }
    VECTOR(less, SMALLER(first L, other L));
    EACH second L = LARGER(second L, behind L);
    EACH second L = LARGER(second L, less L);
    EACH first L = LARGER(first L, other L);
    pb_two two = {LANE(first, 0), LANE(second, 0)};
    for (int lane = 1; lane < LANES; lane++) {
        two.second = larger(larger(two.second, LANE(second, lane)),
                            smaller(two.first, LANE(first, lane)));
        two.first = larger(two.first, LANE(first, lane));
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
        EACH sum L += LOAD(values + i) L;
    for (; i < n; i++)
        LANE(sum, 0) += values[i];
    return (LANE(sum, 0) + LANE(sum, 1)) + (LANE(sum, 2) + LANE(sum, 3));
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
        MASK(here, (LOAD(values + i) L >= wanted L) | (LOAD(values + i + LANES) L >= wanted L));
        if (ANY(here))
            break;
    }
    while (i < n && values[i] < level)
        i++;
    return i;
}

#define LANES_AT(p) LOAD(p) L
#define INDEX(read, i) \
    (read(centres + (i)) - top + (root * read(roots + (i)) + factor * read(slopes + (i))))

WIDE int64_t pb_scan_index(const double *centres, const double *roots, const double *slopes,
                           double factor, double top, int64_t n, double *indices)
{
    const double root = sqrt(factor);
    vector best = ALL(-INFINITY), other = best;
    int64_t i = 0;
    for (; i + 2 * LANES <= n; i += 2 * LANES) {
        VECTOR(one, INDEX(LANES_AT, i));
        VECTOR(two, INDEX(LANES_AT, i + LANES));
        STORED(indices + i) = one;
        STORED(indices + i + LANES) = two;
        EACH best L = LARGER(best L, one L);
        EACH other L = LARGER(other L, two L);
    }
    EACH best L = LARGER(best L, other L);
    double largest = largest_lane(&best);
    for (; i < n; i++) {
        indices[i] = INDEX(*, i);
        largest = larger(largest, indices[i]);
    }
    return position(indices, n, largest, -1);
}

#define BY_ROOT(read, i) (read(centres + (i)) + root * read(roots + (i)))

/* Without branches that depend on the values: which arm is the largest so far is unpredictable. */
static int64_t few_by_root(const double *centres, const double *roots, double root, int64_t n)
{
    double largest = -INFINITY;
    int64_t best = 0;
    UNROLL_8
    for (int64_t i = 0; i < n; i++) {
        const double index = BY_ROOT(*, i);
        best = UNPREDICTABLE(index > largest) ? i : best;
        largest = larger(largest, index);
    }
    return best;
}

WIDE static int64_t many_by_root(const double *centres, const double *roots, double root,
                                 int64_t n)
{
    vector best = ALL(-INFINITY), other = best;
    int64_t i = 0;
    for (; i + 2 * LANES <= n; i += 2 * LANES) {
        VECTOR(one, BY_ROOT(LANES_AT, i));
        VECTOR(two, BY_ROOT(LANES_AT, i + LANES));
        EACH best L = LARGER(best L, one L);
        EACH other L = LARGER(other L, two L);
    }
    EACH best L = LARGER(best L, other L);
    double largest = largest_lane(&best);
    for (; i < n; i++)
        largest = larger(largest, BY_ROOT(*, i));
    for (i = 0; i < n && BY_ROOT(*, i) != largest;)
        i++;
    return i < n ? i : 0;
}

int64_t pb_scan_root(const double *centres, const double *roots, double factor, int64_t n)
{
    const double root = sqrt(factor);
    if (n <= FEW)
        return few_by_root(centres, roots, root, n);
    return many_by_root(centres, roots, root, n);
}
