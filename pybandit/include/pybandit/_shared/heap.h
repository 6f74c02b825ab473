#ifndef PYBANDIT_HEAP_H
#define PYBANDIT_HEAP_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A binary heap of arms. The root has the largest key; ties go to the lower arm. A policy pulls
 * the root and then gives it a new key: the root is the arm that a scan of all keys would find.
 */
typedef struct {
    double *keys;   /* n values, owned by the caller; never NaN */
    int64_t *arms;  /* n arms, owned by the caller: the arm of each key */
    int64_t n;
} pb_heap;

/* Arranges keys and arms as a heap. O(n). */
void pb_heap_build(pb_heap *heap);

/* Gives the root a new key. O(log n). */
void pb_heap_replace_root(pb_heap *heap, double key);

#ifdef __cplusplus
}
#endif

#endif
