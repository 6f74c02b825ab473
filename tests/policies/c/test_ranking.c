#include "../../_shared/c/check.h"

#include "pybandit/policies/protocol/ranking.h"

typedef struct {
    double mean;
    int64_t arm;
} item;

static int order(const void *a, const void *b)
{
    const item *x = a, *y = b;
    if (x->mean != y->mean)
        return x->mean > y->mean ? -1 : 1;
    return (x->arm > y->arm) - (x->arm < y->arm);
}

/* Ranks n of `all` arms, and compares with a comparison sort. */
static void check(const int64_t *arms, int64_t n, const double *means)
{
    pb_ranked *out = allocate(n, sizeof *out), *memory = allocate(n, sizeof *memory);
    item *items = allocate(n, sizeof *items);
    for (int64_t i = 0; i < n; i++)
        items[i] = (item){means[arms[i]], arms[i]};
    if (n > 0)
        qsort(items, (size_t)n, sizeof *items, order);
    pb_ranking_sort(arms, n, means, out, memory);
    for (int64_t i = 0; i < n; i++)
        assert(out[i].arm == items[i].arm);
    for (int64_t i = 1; i < n; i++)
        assert((out[i - 1].key < out[i].key) == (items[i - 1].mean > items[i].mean) &&
               out[i - 1].key <= out[i].key);
    free(out);
    free(memory);
    free(items);
}

static double any_mean(uint64_t *random, int kind)
{
    static const double special[] = {0.0,      -0.0, INFINITY,  -INFINITY, 1.0,     -1.0,
                                     0x1p-1074, -0x1p-1074, 0x1p1023, -0x1p1023, 0.5, 0.25};
    const uint64_t bits = splitmix_next(random);
    double mean;
    switch (kind) {
    case 0:
        return splitmix_double(random);
    case 1:
        return (double)(bits % 5) / 4.0 - 0.5;
    case 2:
        return special[bits % 12];
    case 3:
        return 1.0 + (double)(bits % 3) * 0x1p-52;
    default:
        memcpy(&mean, &bits, sizeof mean);
        return isnan(mean) ? 0.0 : mean;
    }
}

static void equals_a_sort_by_comparisons(void)
{
    const int64_t sizes[] = {0, 1, 2, 3, 17, 400, 20000};
    uint64_t random = 3;
    for (int s = 0; s < 7; s++)
        for (int kind = 0; kind < 5; kind++)
            for (int repeat = 0; repeat < (sizes[s] > 1000 ? 1 : 20); repeat++) {
                const int64_t all = 2 * sizes[s] + 1;
                double *means = allocate(all, sizeof *means);
                int64_t *arms = allocate(sizes[s], sizeof *arms), n = 0;
                for (int64_t i = 0; i < all; i++) {
                    means[i] = any_mean(&random, kind);
                    if (n < sizes[s] && (splitmix_next(&random) % 2 || all - i <= sizes[s] - n))
                        arms[n++] = i;
                }
                check(arms, n, means);
                free(means);
                free(arms);
            }
}

static void orders_by_hand(void)
{
    const double means[] = {-0.0, 0.0, INFINITY, -INFINITY, -0x1p-1074, 0x1p-1074, 0.0, INFINITY};
    const int64_t arms[] = {0, 1, 2, 3, 4, 5, 6, 7}, expected[] = {2, 7, 5, 0, 1, 6, 4, 3};
    pb_ranked out[8], memory[8];
    pb_ranking_sort(arms, 8, means, out, memory);
    for (int i = 0; i < 8; i++)
        assert(out[i].arm == expected[i]);
    assert(out[3].key == out[4].key && out[4].key == out[5].key);
}

int main(void)
{
    equals_a_sort_by_comparisons();
    orders_by_hand();
    return 0;
}
