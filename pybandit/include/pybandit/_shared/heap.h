#ifndef PYBANDIT_HEAP_H
#define PYBANDIT_HEAP_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Arms by key: the root has the largest, ties to the lower arm. A policy pulls the
 * root and gives it a new key, which is what a scan of all keys would have chosen.
 */
typedef struct {
    double *keys;   /* n, the caller's; never NaN */
    int64_t *arms;  /* n, the caller's: where each key belongs */
    int64_t n;
} pb_heap;

/* Puts keys and arms in the order of a heap. O(n). */
void pb_heap_build(pb_heap *heap);

/* The root has a new key. O(log n). */
void pb_heap_replace_root(pb_heap *heap, double key);

#ifdef __cplusplus
}
#endif

#endif
