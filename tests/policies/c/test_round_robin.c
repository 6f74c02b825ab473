#include "../../_shared/c/check.h"

#include "pybandit/policies/protocol/round_robin.h"

enum { MOST = 24 };

/* The algorithm as printed: the least pulled arm below the cap, the first of equals. */
static void printed(const int64_t *arms, int64_t n, const int64_t *pulls, int64_t size,
                    int64_t repeats, int64_t *asked)
{
    memset(asked, 0, MOST * sizeof *asked);
    for (int64_t j = 0; j < size && j < n * repeats; j++) {
        int64_t best = -1;
        for (int64_t i = 0; i < n; i++) {
            const int64_t arm = arms[i];
            if (asked[arm] < repeats &&
                (best < 0 || pulls[arm] + asked[arm] < pulls[best] + asked[best]))
                best = arm;
        }
        asked[best]++;
    }
}

/* For random batches and removals, every batch is the printed one. */
static void equals_the_printed_algorithm(void)
{
    uint64_t random = 1;
    for (int run = 0; run < 400; run++) {
        const int64_t n = 1 + (int64_t)(splitmix_next(&random) % MOST);
        pb_round_robin ring = {.arms = allocate(n, sizeof(int64_t))};
        unsigned char *flags = allocate(n, 1);
        int64_t pulls[MOST] = {0}, asked[MOST], counted[MOST];
        memset(flags, 1, (size_t)n);
        pb_round_robin_begin(&ring, n);
        while (ring.n_arms > 0) {
            const int64_t size = 1 + (int64_t)(splitmix_next(&random) % 60);
            const int64_t repeats = 1 + (int64_t)(splitmix_next(&random) % 5);
            const pb_batch batch = pb_round_robin_next(&ring, size, repeats);
            printed(ring.arms, ring.n_arms, pulls, size, repeats, asked);
            memset(counted, 0, sizeof counted);
            for (int64_t j = 0; j < batch.n_pulls; j++)
                counted[batch.arms[(batch.first + j) % batch.n_arms]]++;
            assert(memcmp(counted, asked, sizeof asked) == 0);
            for (int64_t i = 0; i < ring.n_arms; i++)
                assert(pb_batch_count(&batch, i) == asked[ring.arms[i]]);
            pb_round_robin_pulled(&ring, batch.n_pulls);
            for (int64_t arm = 0; arm < n; arm++)
                pulls[arm] += asked[arm];
            for (int64_t i = 0; i < ring.n_arms; i++)
                assert(pb_round_robin_pulls(&ring, ring.arms[i]) == pulls[ring.arms[i]]);
            for (int64_t i = 0; i < ring.n_arms; i++)
                flags[ring.arms[i]] = splitmix_next(&random) % 4 > 0;
            pb_round_robin_keep(&ring, flags);
            assert(ring.cursor == 0 || ring.cursor < ring.n_arms);
            for (int64_t i = 0, arm = 0; arm < n; arm++)
                if (flags[arm])
                    assert(ring.arms[i++] == arm && pb_round_robin_pulls(&ring, arm) == pulls[arm]);
        }
        free(ring.arms);
        free(flags);
    }
}

/* n * repeats exceeds 2^63. */
static void takes_large_caps(void)
{
    int64_t arms[3];
    pb_round_robin ring = {.arms = arms};
    pb_round_robin_begin(&ring, 3);
    assert(pb_round_robin_next(&ring, 7, INT64_MAX).n_pulls == 7);
    assert(pb_round_robin_next(&ring, INT64_MAX / 2, 5).n_pulls == 15);
}

static void pulls_one_arm(void)
{
    const int64_t arm = 5;
    const pb_batch batch = pb_batch_one(&arm);
    assert(batch.n_pulls == 1 && batch.arms[batch.first] == 5);
    assert(batch.n_arms == 1 && pb_batch_count(&batch, 0) == 1);
}

int main(void)
{
    pulls_one_arm();
    equals_the_printed_algorithm();
    takes_large_caps();
    return 0;
}
