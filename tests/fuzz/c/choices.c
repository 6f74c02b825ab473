/* Choices of arms by Thompson sampling, scans, rankings and heaps, compared with plain loops. */
#include "fuzz.h"

#include "pybandit/_shared/heap.h"
#include "pybandit/policies/protocol/kl.h"
#include "pybandit/policies/protocol/ranking.h"
#include "pybandit/policies/protocol/scan.h"
#include "pybandit/policies/regret/thompson.h"

static void thompson(choices *c, pool *p, int64_t n)
{
    const int is_gaussian = choose_byte(c) & 1;
    pb_thompson t = {.law = is_gaussian ? PB_THOMPSON_GAUSSIAN : PB_THOMPSON_BETA,
                     .alpha = is_gaussian ? 0.01 + choose_unit(c) : 0.1 + 10.0 * choose_unit(c),
                     .beta = 0.1 + 10.0 * choose_unit(c), .n_arms = n,
                     .arms = TAKE(p, n, pb_thompson_arm),
                     .chances = TAKE(p, pb_thompson_chances(n), double)};
    uint64_t counter = choose_bits(c);
    pb_bitgen bitgen = fuzz_bitgen(&counter);
    pb_thompson_begin(&t);
    int64_t arm = choose(c, 0, n - 1);
    for (int64_t i = choose(c, 1, 60); i > 0; i--) {
        if (is_gaussian) {
            pb_thompson_add(&t, arm, choose_number(c, 50.0), 1.0);
        } else if (choose_byte(c) < 200) {
            const double won = choose_byte(c) & 1;
            pb_thompson_add(&t, arm, won, 1.0 - won);
        } else {
            const double gained = choose_unit(c);
            pb_thompson_add(&t, arm, gained, 1.0 - gained);
        }
        arm = pb_thompson_choose(&t, &bitgen);
        HOLDS(arm >= 0 && arm < n && (!is_gaussian || t.arms[arm].lost > 0.0));
        HOLDS(t.spent >= 0.0 && !isnan(t.limit));
    }
}

static void scans(choices *c, pool *p, int64_t n)
{
    double *values = TAKE(p, n, double), *out = TAKE(p, n, double);
    double *roots = TAKE(p, n, double), *slopes = TAKE(p, n, double);
    int64_t largest = 0;
    double sum = 0.0, size = 0.0;
    for (int64_t i = 0; i < n; i++) {
        values[i] = choose_number(c, 1e9);
        roots[i] = fabs(choose_number(c, 9.0));
        slopes[i] = fabs(choose_number(c, 9.0));
        largest = values[i] > values[largest] ? i : largest;
        sum += values[i];
        size += fabs(values[i]);
    }
    HOLDS(pb_scan_largest(values, n) == values[largest]);
    HOLDS(pb_scan_position(values, n, values[largest], -1) == largest);
    HOLDS(fabs(pb_scan_sum(values, n) - sum) <= 1e-12 * size);
    const pb_two two = pb_scan_two(values, n);
    HOLDS(two.first == values[largest] && two.second <= two.first);
    HOLDS(n > 1 || two.second == -INFINITY);
    const int64_t start = choose(c, 0, n), above = pb_scan_above(values, n, start, values[largest]);
    int64_t plain = start;
    while (plain < n && !(values[plain] >= values[largest]))
        plain++;
    HOLDS(above == plain);
    const double factor = fabs(choose_number(c, 9.0));
    const int64_t best = pb_scan_index(values, roots, slopes, factor, values[largest], n, out);
    for (int64_t i = 0; i < n; i++)
        HOLDS(out[i] < out[best] || (out[i] == out[best] && i >= best));
}

static void rankings(choices *c, pool *p, int64_t n)
{
    int64_t *arms = TAKE(p, n, int64_t), n_left = 0;
    double *means = TAKE(p, n, double), *keys = TAKE(p, n, double);
    pb_ranked *ranked = TAKE(p, n, pb_ranked), *memory = TAKE(p, n, pb_ranked);
    for (int64_t i = 0; i < n; i++) {
        means[i] = choose_byte(c) < 8 ? -0.0 : choose_number(c, 1e300);
        if (choose_byte(c) & 3)
            arms[n_left++] = i;
    }
    if (!n_left)
        arms[n_left++] = 0;
    pb_ranking_sort(arms, n_left, means, ranked, memory);
    for (int64_t i = 0; i < n_left; i++) {
        HOLDS(ranked[i].arm >= 0 && ranked[i].arm < n);
        if (i) {
            const double before = means[ranked[i - 1].arm], now = means[ranked[i].arm];
            HOLDS(before > now || (before == now && ranked[i - 1].arm < ranked[i].arm));
        }
    }
    for (int64_t i = 0; i < n; i++) {
        keys[i] = means[i];
        arms[i] = i;
    }
    pb_heap heap = {keys, arms, n};
    pb_heap_build(&heap);
    for (int64_t i = choose(c, 0, 40); i >= 0; i--) {
        for (int64_t k = 0; k < n; k++) {
            HOLDS(keys[k] < keys[0] || (keys[k] == keys[0] && arms[k] >= arms[0]));
            HOLDS(arms[k] >= 0 && arms[k] < n);
        }
        pb_heap_replace_root(&heap, choose_number(c, 1e9));
    }
}

static void bounds(choices *c)
{
    const double mean = choose_byte(c) < 16 ? (double)(choose_byte(c) & 1) : choose_unit(c);
    const double level = fabs(choose_number(c, 1e4));
    const double upper = pb_kl_upper(mean, level), lower = pb_kl_lower(mean, level);
    HOLDS(upper >= mean && upper <= 1.0 && lower <= mean && lower >= 0.0);
    HOLDS(pb_kl(mean, mean) == 0.0 && pb_kl(mean, upper) >= 0.0);
    HOLDS(pb_kl_upper(mean, 2.0 * level) >= upper && pb_kl_lower(mean, 2.0 * level) <= lower);
    HOLDS(!isnan(pb_kl_upper_tail(mean, level)));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    choices c = {bytes, bytes + size};
    pool p = {.n = 0};
    const int64_t kind = choose(&c, 0, 3), n = choose(&c, 1, 60);
    if (kind == 0)
        thompson(&c, &p, n);
    else if (kind == 1)
        scans(&c, &p, n);
    else if (kind == 2)
        rankings(&c, &p, n);
    else
        bounds(&c);
    pool_free(&p);
    return 0;
}
