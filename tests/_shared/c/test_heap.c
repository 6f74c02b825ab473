#include "check.h"

#include "pybandit/_shared/heap.h"

/* Returns the member with the largest key, the first of equal ones, by a scan. */
static int64_t scanned(const int64_t *members, int64_t n, const double *key_of)
{
    int64_t best = members[0];
    for (int64_t i = 1; i < n; i++)
        if (key_of[members[i]] > key_of[best] ||
            (key_of[members[i]] == key_of[best] && members[i] < best))
            best = members[i];
    return best;
}

static double any_key(uint64_t *random, int kind)
{
    static const double special[] = {0.0, -0.0, INFINITY, -INFINITY, 1.0, 0x1p-1074};
    const uint64_t bits = splitmix_next(random);
    switch (kind) {
    case 0:
        return splitmix_double(random);
    case 1:
        return (double)(bits % 3);
    case 2:
        return special[bits % 6];
    default:
        return INFINITY;
    }
}

/* Checks that every member is in the heap once, with its key. */
static void holds_its_arms(const pb_heap *heap, const double *key_of, const int64_t *members)
{
    int64_t sum = 0;
    for (int64_t i = 0; i < heap->n; i++) {
        assert(heap->keys[i] == key_of[heap->arms[i]]);
        sum += heap->arms[i] - members[i];
        for (int64_t j = 0; j < i; j++)
            assert(heap->arms[i] != heap->arms[j]);
    }
    assert(sum == 0);
}

static void chooses_as_a_scan(void)
{
    uint64_t random = 1;
    for (int run = 0; run < 10000; run++) {
        const int64_t n = 1 + (int64_t)(splitmix_next(&random) % (run % 10 ? 8 : 70));
        const int kind = run % 4;
        pb_heap heap = {allocate(n, sizeof(double)), allocate(n, sizeof(int64_t)), n};
        double *key_of = allocate(3 * n, sizeof *key_of);
        int64_t *members = allocate(n, sizeof *members);
        /* arms in any order, not all of them */
        for (int64_t i = 0; i < n; i++)
            members[i] = 3 * i + (int64_t)(splitmix_next(&random) % 3);
        for (int64_t i = n - 1; i > 0; i--) {
            const int64_t j = (int64_t)(splitmix_next(&random) % (uint64_t)(i + 1));
            const int64_t swapped = members[i];
            members[i] = members[j];
            members[j] = swapped;
        }
        for (int64_t i = 0; i < n; i++) {
            heap.arms[i] = members[i];
            heap.keys[i] = key_of[members[i]] = any_key(&random, kind);
        }
        pb_heap_build(&heap);
        for (int64_t pull = 0; pull < 3 * n + 5; pull++) {
            const int64_t arm = heap.arms[0];
            assert(arm == scanned(members, n, key_of));
            key_of[arm] = any_key(&random, pull % 5 ? kind : (int)(pull % 3));
            pb_heap_replace_root(&heap, key_of[arm]);
        }
        holds_its_arms(&heap, key_of, members);
        free(heap.keys);
        free(heap.arms);
        free(key_of);
        free(members);
    }
}

static void one_arm(void)
{
    double key = -INFINITY;
    int64_t arm = 7;
    pb_heap heap = {&key, &arm, 1};
    pb_heap_build(&heap);
    pb_heap_replace_root(&heap, INFINITY);
    assert(arm == 7 && key == INFINITY);
}

static void ties_by_hand(void)
{
    double keys[] = {1.0, 1.0, 1.0, 1.0, 1.0};
    int64_t arms[] = {9, 4, 6, 2, 8};
    pb_heap heap = {keys, arms, 5};
    pb_heap_build(&heap);
    static const int64_t expected[] = {2, 4, 6, 8, 9, 2};
    for (int i = 0; i < 6; i++) {
        assert(heap.arms[0] == expected[i]);
        pb_heap_replace_root(&heap, i < 5 ? 0.5 : 0.25);
    }
    assert(heap.arms[0] == 4);
}

int main(void)
{
    chooses_as_a_scan();
    one_arm();
    ties_by_hand();
    return 0;
}
