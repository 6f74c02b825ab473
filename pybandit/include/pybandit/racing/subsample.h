#ifndef PYBANDIT_SUBSAMPLE_H
#define PYBANDIT_SUBSAMPLE_H

#include <stdint.h>

#include "pybandit/_shared/bitgen.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Indices of [0, size) without replacement, one fresh order per restart.
 *
 * PB_SUBSAMPLE_PERMUTATION: exactly uniform. A permutation that persists from
 *   draw to draw is advanced by a partial Fisher-Yates shuffle, so a draw that
 *   reads T indices costs O(T) however large the population is.
 * PB_SUBSAMPLE_REJECTION: exactly uniform, for a single draw. Indices that come
 *   up again are drawn anew, against one bit of memory an index: cheap to begin,
 *   log N draws an index where all are read.
 * PB_SUBSAMPLE_BLOCKS: runs of `run` consecutive indices in a uniform random
 *   order from a random origin; for a population shuffled once beforehand.
 * PB_SUBSAMPLE_GROUPS: the same with the first run at index 0, where runs lie apart
 *   and are read as a whole, as row groups of a file; the short one is then always
 *   the last rows.
 * PB_SUBSAMPLE_KEYED: a pseudorandom permutation in O(1) memory, for
 *   populations too large to hold one.
 */
typedef enum {
    PB_SUBSAMPLE_PERMUTATION = 0,
    PB_SUBSAMPLE_BLOCKS = 1,
    PB_SUBSAMPLE_KEYED = 2,
    PB_SUBSAMPLE_REJECTION = 3,
    PB_SUBSAMPLE_GROUPS = 4
} pb_subsample_kind;

enum { PB_SUBSAMPLE_ROUNDS = 12 };

typedef struct {
    pb_subsample_kind kind;
    int64_t size;      /* the population */
    int64_t position;  /* indices handed out since the restart */
    uint32_t *memory;  /* the caller's: a permutation, or for REJECTION the bits */
    int64_t run;            /* consecutive indices a block: 1 but for BLOCKS and GROUPS */
    int64_t origin;         /* where block 0 starts */
    /* KEYED: x = left * width + right, left < height, right < width */
    uint64_t keys[PB_SUBSAMPLE_ROUNDS];
    uint32_t height;
    uint32_t width;
} pb_subsample;

/* How many entries of memory the caller must provide; zeroed for REJECTION. */
int64_t pb_subsample_memory(pb_subsample_kind kind, int64_t size, int64_t run);

/*
 * size >= 1; at most 2^32 - 1, or 2^62 for KEYED.
 * O(memory), once; pb_subsample_restart begins each order.
 */
void pb_subsample_init(pb_subsample *subsample, pb_subsample_kind kind, int64_t size,
                       int64_t run, uint32_t *memory);

/* Forgets what was handed out and begins a fresh order: O(1), REJECTION O(size / 32). */
void pb_subsample_restart(pb_subsample *subsample, pb_bitgen *bitgen);

/* The next n indices of the order; n <= size - position. */
void pb_subsample_next(pb_subsample *subsample, pb_bitgen *bitgen, int64_t n, int64_t *out);

/*
 * n of the indices that were not handed out, for who wants all of them and no order: those of a
 * permutation as they lie, which is nearly how the rows lie, at no random number.
 */
void pb_subsample_rest(pb_subsample *subsample, pb_bitgen *bitgen, int64_t n, int64_t *out);

#ifdef __cplusplus
}
#endif

#endif
