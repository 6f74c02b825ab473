/* Batch policies pull only surviving arms, stay below both limits of pulls, and end. */
#include "fuzz.h"

#include "pybandit/policies/batch/batch_racing.h"
#include "pybandit/policies/batch/batch_sar.h"

/* Carries out a batch, and checks that its arms are survivors. */
static void pull(const pb_batch *batch, int64_t n, int64_t size, int64_t repeats,
                 const unsigned char *alive, choices *c, int64_t *pulls, double *sums)
{
    int64_t sum = 0;
    HOLDS(batch->n_pulls >= 1 && batch->n_pulls <= size && batch->n_arms >= 1);
    HOLDS(batch->n_arms <= n && batch->first >= 0 && batch->first < batch->n_arms);
    for (int64_t i = 0; i < batch->n_arms; i++) {
        const int64_t arm = batch->arms[i], count = pb_batch_count(batch, i);
        HOLDS(arm >= 0 && arm < n && alive[arm] && (i == 0 || arm > batch->arms[i - 1]));
        HOLDS(count >= 0 && count <= repeats);
        sum += count;
        if (count && choose_byte(c) >= 16) {  /* otherwise the rewards are lost */
            pulls[arm] += count;
            sums[arm] += (double)count * choose_number(c, 10.0);
        }
    }
    HOLDS(sum == batch->n_pulls);
}

static int64_t count_of(const unsigned char *flags, int64_t n)
{
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++)
        count += flags[i] != 0;
    return count;
}

static void sar(choices *c, pool *p, int64_t n, int64_t size, int64_t repeats)
{
    pb_batch_sar s = {.n = n, .k = choose(c, 0, n), .size = size, .repeats = repeats,
                      .improved = choose_byte(c) & 1, .lower_index = choose_byte(c) & 1,
                      .ring = {.arms = TAKE(p, n, int64_t)}, .harmonic = TAKE(p, n + 1, double),
                      .ceilings = TAKE(p, n + 1, int64_t), .alive = TAKE(p, n, unsigned char),
                      .accepted = TAKE(p, n, unsigned char), .means = TAKE(p, n, double),
                      .ranked = TAKE(p, 2 * n, pb_ranked)};
    s.max_batches = pb_batch_sar_least(n, size, repeats) + choose(c, 0, 60);
    int64_t *pulls = TAKE(p, n, int64_t);
    double *sums = TAKE(p, n, double);
    memset(pulls, 0, (size_t)n * sizeof *pulls);
    memset(sums, 0, (size_t)n * sizeof *sums);
    pb_batch_sar_begin(&s);
    while (!s.done) {
        const int64_t before = s.n_batches;
        const pb_batch batch = pb_batch_sar_next(&s);
        HOLDS(before < s.max_batches);
        pull(&batch, n, size, repeats, s.alive, c, pulls, sums);
        pb_batch_sar_advance(&s, pulls, sums);
        HOLDS(s.n_batches == before + 1 && s.n_batches <= s.max_batches);
        HOLDS(s.n_left == count_of(s.alive, n) && s.n_open >= 0 && s.n_open <= s.k);
        HOLDS(count_of(s.accepted, n) == (s.done ? s.k : s.k - s.n_open));
    }
    HOLDS(count_of(s.accepted, n) == s.k);
}

static void racing(choices *c, pool *p, int64_t n, int64_t size, int64_t repeats)
{
    pb_batch_racing r = {.n = n, .k = choose(c, 0, n), .size = size, .repeats = repeats,
                         .omega = sqrt(choose_unit(c) / (6.0 * (double)n)),
                         .scale = choose_byte(c) / 256.0 * 0.05,
                         .ring = {.arms = TAKE(p, n, int64_t)}, .lower = TAKE(p, n, double),
                         .upper = TAKE(p, n, double), .members = TAKE(p, n, int64_t),
                         .lowers = {.order = TAKE(p, n, int64_t), .place = TAKE(p, n, int64_t)},
                         .uppers = {.order = TAKE(p, n, int64_t), .place = TAKE(p, n, int64_t)},
                         .alive = TAKE(p, n, unsigned char), .accepted = TAKE(p, n, unsigned char)};
    int64_t *pulls = TAKE(p, n, int64_t);
    double *sums = TAKE(p, n, double);
    memset(pulls, 0, (size_t)n * sizeof *pulls);
    memset(sums, 0, (size_t)n * sizeof *sums);
    pb_batch_racing_begin(&r);
    HOLDS(!r.done || r.k == 0 || r.k == n);
    for (int i = 0; i < 60 && !r.done; i++) {
        const pb_batch batch = pb_batch_racing_next(&r);
        pull(&batch, n, size, repeats, r.alive, c, pulls, sums);
        pb_batch_racing_advance(&r, pulls, sums);
        HOLDS(r.n_batches == i + 1 && r.n_open >= 0 && r.n_open <= r.k);
        HOLDS(count_of(r.accepted, n) == r.k - r.n_open);
        HOLDS(r.done || (r.ring.n_arms > r.n_open && r.n_open > 0));
        HOLDS(r.ring.n_arms == count_of(r.alive, n));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    choices c = {bytes, bytes + size};
    pool p = {.n = 0};
    const int64_t n = choose(&c, 1, 40), repeats = choose(&c, 1, 9);
    const int64_t batch = choose(&c, 1, n * repeats);
    if (choose_byte(&c) & 1)
        sar(&c, &p, n, batch, repeats);
    else
        racing(&c, &p, n, batch, repeats);
    pool_free(&p);
    return 0;
}
