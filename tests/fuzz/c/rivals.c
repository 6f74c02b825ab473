/* Choices among arms that skip most computations equal those that compute everything. */
#include "fuzz.h"

#include "pybandit/policies/confidence/kl_bounds.h"
#include "pybandit/policies/correlated/gaussian_kernel.h"
#include "pybandit/policies/protocol/kl.h"
#include "pybandit/policies/stopping/glr_rival.h"

enum { MOST = 24 };

static void bounds_of_proportions(choices *c, pool *p)
{
    const int64_t n = choose(c, 1, MOST);
    const int is_lower = choose_byte(c) & 1;
    pb_kl_bounds b = {n, is_lower, TAKE(p, n, double), TAKE(p, n, double), TAKE(p, n, double),
                      TAKE(p, n, double), TAKE(p, n, double)};
    unsigned char *skip = TAKE(p, n, unsigned char);
    double *means = TAKE(p, n, double), rate = 1e-3 + 20.0 * choose_unit(c);
    choose_units(c, means, n);
    for (int64_t arm = 0; arm < n; arm++) {
        pb_kl_bounds_set(&b, arm, means[arm], (double)choose(c, 1, 60));
        skip[arm] = choose_byte(c) % 3 == 0;
    }
    for (int step = 0; step < 12; step++) {
        double found = NAN, best = is_lower ? INFINITY : -INFINITY;
        int64_t expected = -1;
        for (int64_t arm = 0; arm < n; arm++) {
            const double level = rate / b.pulls[arm], mean = b.means[arm];
            const double bound = is_lower ? pb_kl_lower(mean, level) : pb_kl_upper(mean, level);
            if (!skip[arm] && (expected < 0 || (is_lower ? bound < best : bound > best))) {
                expected = arm;
                best = bound;
            }
        }
        HOLDS(pb_kl_bounds_choose(&b, rate, skip, &found) == expected);
        HOLDS(expected < 0 || found == best);
        rate *= choose_byte(c) < 200 ? 1.01 : 0.1 + 3.0 * choose_unit(c);
        const int64_t arm = choose(c, 0, n - 1);
        pb_kl_bounds_set(&b, arm, choose_unit(c), b.pulls[arm] + 1.0);
    }
}

static void rival(choices *c, pool *p)
{
    const int64_t n = choose(c, 1, MOST);
    const int gaussian = choose_byte(c) & 1;
    const pb_glr glr = {gaussian ? PB_GLR_GAUSSIAN : PB_GLR_BERNOULLI, choose_unit(c) * 4.0,
                        gaussian && choose_byte(c) & 1 ? choose_unit(c) / 4.0 : 0.0, 1, 1.0};
    double *means = TAKE(p, n, double), *counts = TAKE(p, n, double);
    double *extra = TAKE(p, n, double), *memory = TAKE(p, n, double), least = INFINITY;
    int64_t best = 0, expected;
    choose_units(c, means, n);
    for (int64_t arm = 0; arm < n; arm++) {
        counts[arm] = (double)choose(c, 1, 200);
        extra[arm] = log(counts[arm]);
        if (arm && choose_byte(c) % 8 == 0)
            means[arm] = -INFINITY;
        best = means[arm] > means[best] ? arm : best;
    }
    const pb_glr_rivals arms = {n, means, counts, choose_byte(c) & 1 ? extra : NULL, memory};
    expected = best;
    for (int64_t arm = 0; arm < n; arm++) {
        const pb_glr_arm leader = {counts[best], means[best], 0.0};
        const pb_glr_arm other = {counts[arm], means[arm], 0.0};
        if (arm == best || means[arm] == -INFINITY)
            continue;
        const double z = pb_glr_statistic(&glr, &leader, &other) +
                         (arms.extra ? extra[arm] : 0.0);
        if (z < least) {
            least = z;
            expected = arm;
        }
    }
    HOLDS(pb_glr_rival(&glr, &arms, best) == expected);
}

static void check(choices *c, pool *p)
{
    const int64_t n = choose(c, 1, 12);
    double *kernel = TAKE(p, n * n, double), *sums = TAKE(p, n, double);
    double largest = 0.0, apart = 0.0;
    choose_numbers(c, kernel, n * n, 1e3);
    const int spoilt = choose_byte(c) % 8 == 0;
    if (spoilt)
        kernel[choose(c, 0, n * n - 1)] = choose_byte(c) & 1 ? NAN : INFINITY;
    const pb_gaussian_kernel found = pb_gaussian_kernel_check(kernel, n, sums);
    HOLDS(isnan(found.row_sum) == spoilt);
    for (int64_t i = 0; i < n && !spoilt; i++)
        for (int64_t j = 0; j < n; j++) {
            largest = fmax(largest, fabs(kernel[i * n + j]));
            apart = fmax(apart, fabs(kernel[i * n + j] - kernel[j * n + i]));
        }
    if (!spoilt) {
        HOLDS(found.largest == largest && found.apart == apart);
        HOLDS(apart == 0.0 ? found.row == 0 && found.column == 0 : found.row > found.column);
        const double place = kernel[found.row * n + found.column];
        HOLDS(fabs(place - kernel[found.column * n + found.row]) == apart);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    choices c = {bytes, bytes + size};
    pool p = {.n = 0};
    static void (*const parts[])(choices *, pool *) = {bounds_of_proportions, rival, check};
    parts[choose_byte(&c) % 3](&c, &p);
    pool_free(&p);
    return 0;
}
