#include "../../_shared/c/check.h"

#include "pybandit/policies/protocol/scan.h"

/* Values that tie often, are far apart, or are infinite. */
static double any_value(uint64_t *random, int kind)
{
    static const double special[] = {0.0, 1.0, -INFINITY, 0x1p-1074, -3.0, 1e300};
    const uint64_t bits = splitmix_next(random);
    if (kind == 0)
        return splitmix_double(random) - 0.5;
    return kind == 1 ? (double)(bits % 3) : special[bits % 6];
}

static void matches_plain_scans(void)
{
    uint64_t random = 1;
    for (int run = 0; run < 20000; run++) {
        const int64_t n = 1 + (int64_t)(splitmix_next(&random) % (run % 9 ? 14 : 100));
        double *values = allocate(n, sizeof *values);
        for (int64_t i = 0; i < n; i++)
            values[i] = any_value(&random, run % 3);
        int64_t most = 0, least = 0, other = -1;
        double chain[4] = {0.0, 0.0, 0.0, 0.0};
        for (int64_t i = 0; i < n; i++) {
            most = values[i] > values[most] ? i : most;
            least = values[i] < values[least] ? i : least;
            chain[i < n - n % 4 ? i % 4 : 0] += values[i];
        }
        for (int64_t i = 0; i < n; i++)
            if (i != most && (other < 0 || values[i] > values[other]))
                other = i;
        const pb_two two = pb_scan_two(values, n);
        assert(pb_scan_largest(values, n) == values[most] && two.first == values[most]);
        assert(pb_scan_least(values, n) == values[least]);
        assert(two.second == (other < 0 ? -INFINITY : values[other]));
        assert(pb_scan_position(values, n, values[most], -1) == most);
        if (other >= 0)
            assert(pb_scan_position(values, n, values[other], most) == other);
        assert(pb_scan_position(values, n, 7.0, -1) == 0);
        assert(pb_scan_sum(values, n) == (chain[0] + chain[1]) + (chain[2] + chain[3]));
        const int64_t start = (int64_t)(splitmix_next(&random) % (uint64_t)(n + 1));
        const double level = any_value(&random, run % 3);
        int64_t above = start;
        while (above < n && !(values[above] >= level))
            above++;
        assert(pb_scan_above(values, n, start, level) == above);
        free(values);
    }
}

static void index_is_the_first_largest(void)
{
    uint64_t random = 2;
    for (int run = 0; run < 20000; run++) {
        const int64_t n = 1 + (int64_t)(splitmix_next(&random) % (run % 9 ? 14 : 100));
        double *arms = allocate(4 * n, sizeof *arms);
        double *roots = arms + n, *slopes = roots + n, *indices = slopes + n;
        const double factor = run % 5 ? splitmix_double(&random) * 9.0 : 0.0;
        const double top = run % 2 ? 0.0 : 1.5;
        for (int64_t i = 0; i < n; i++) {
            arms[i] = any_value(&random, run % 3);
            roots[i] = run % 3 ? 1.0 : splitmix_double(&random);
            slopes[i] = (double)(splitmix_next(&random) % 2);
        }
        int64_t best = 0;
        const int64_t found = pb_scan_index(arms, roots, slopes, factor, top, n, indices);
        for (int64_t i = 0; i < n; i++) {
            assert(indices[i] == arms[i] - top + (sqrt(factor) * roots[i] + factor * slopes[i]));
            best = indices[i] > indices[best] ? i : best;
        }
        assert(found == best);
        memset(slopes, 0, (size_t)n * sizeof *slopes);
        assert(pb_scan_root(arms, roots, factor, n)
               == pb_scan_index(arms, roots, slopes, factor, 0.0, n, indices));
        free(arms);
    }
}

int main(void)
{
    matches_plain_scans();
    index_is_the_first_largest();
    return 0;
}
