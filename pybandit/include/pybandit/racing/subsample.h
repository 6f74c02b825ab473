#ifndef PYBANDIT_SUBSAMPLE_H
#define PYBANDIT_SUBSAMPLE_H

#include <stdint.h>

#include "pybandit/_shared/bitgen.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Stream of indices from [0, size) without replacement; each restart starts a new order.
 *
 * PB_SUBSAMPLE_PERMUTATION: exactly uniform. Stores a permutation across restarts and
 *   advances it by a partial Fisher-Yates shuffle, so reading T indices costs O(T)
 *   for any population size.
 * PB_SUBSAMPLE_REJECTION: exactly uniform, for a single draw. Draws again if an index
 *   repeats, and stores one bit per index: cheap to start, but about log N draws per
 *   index if all are read.
 * PB_SUBSAMPLE_BLOCKS: blocks of `run` consecutive indices in uniformly random order,
 *   starting at a random origin. For a population that was shuffled beforehand.
 * PB_SUBSAMPLE_GROUPS: as BLOCKS, but block 0 starts at index 0. For blocks that are
 *   stored and read as a whole, such as row groups of a file; a shorter last block is
 *   always the last rows.
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
    int64_t size;      /* size of the population */
    int64_t position;  /* number of indices returned since the restart */
    uint32_t *memory;  /* owned by the caller: a permutation, or the bits of REJECTION */
    int64_t run;            /* indices per block; 1 except for BLOCKS and GROUPS */
    int64_t origin;         /* first index of block 0 */
    /* KEYED: x = left * width + right, left < height, right < width */
    uint64_t keys[PB_SUBSAMPLE_ROUNDS];
    uint32_t height;
    uint32_t width;
} pb_subsample;

/* Returns the number of entries of `memory`. The caller must zero it for REJECTION. */
int64_t pb_subsample_memory(pb_subsample_kind kind, int64_t size, int64_t run);

/*
 * Sets up a stream; call pb_subsample_restart before each order. size must be between 1
 * and 2^32 - 1, or 2^62 for KEYED. O(length of memory).
 */
void pb_subsample_init(pb_subsample *subsample, pb_subsample_kind kind, int64_t size,
                       int64_t run, uint32_t *memory);

/* Starts a new order over all indices. O(1), or O(size / 32) for REJECTION. */
void pb_subsample_restart(pb_subsample *subsample, pb_bitgen *bitgen);

/* Writes the next n indices of the order; requires n <= size - position. */
void pb_subsample_next(pb_subsample *subsample, pb_bitgen *bitgen, int64_t n, int64_t *out);

/*
 * Writes n of the remaining indices, for a caller that reads all of them in any order. For
 * PERMUTATION these are nearly in the order of the rows and use no random numbers.
 */
void pb_subsample_rest(pb_subsample *subsample, pb_bitgen *bitgen, int64_t n, int64_t *out);

#ifdef __cplusplus
}
#endif

#endif
