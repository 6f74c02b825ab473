/* A binary heap of (key, arm), with the largest key at the root (pybandit/_shared/heap.h). */
#include "pybandit/_shared/heap.h"

static int before(double key, int64_t arm, double other_key, int64_t other_arm)
{
    return key > other_key || (key == other_key && arm < other_arm);
}

/* Moves (key, arm) down from a hole until no child comes before it. */
static void sink(pb_heap *heap, int64_t hole, double key, int64_t arm)
{
    double *const keys = heap->keys;
    int64_t *const arms = heap->arms;
    for (int64_t child = 2 * hole + 1; child < heap->n; child = 2 * hole + 1) {
        if (child + 1 < heap->n &&
            before(keys[child + 1], arms[child + 1], keys[child], arms[child]))
            child++;
        if (!before(keys[child], arms[child], key, arm))
            break;
        keys[hole] = keys[child];
        arms[hole] = arms[child];
        hole = child;
    }
    keys[hole] = key;
    arms[hole] = arm;
}

void pb_heap_build(pb_heap *heap)
{
    for (int64_t i = heap->n / 2 - 1; i >= 0; i--)
        sink(heap, i, heap->keys[i], heap->arms[i]);
}

void pb_heap_replace_root(pb_heap *heap, double key)
{
    sink(heap, 0, key, heap->arms[0]);
}
