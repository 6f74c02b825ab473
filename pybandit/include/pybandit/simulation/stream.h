#ifndef PYBANDIT_STREAM_H
#define PYBANDIT_STREAM_H

#include <stdint.h>

#include "pybandit/_shared/bitgen.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * NumPy's default generator, PCG64, and what SeedSequence.spawn makes of a seed: bit for bit
 * default_rng(children[i]), without the 10 us of objects. O'Neill 2014 (PCG XSL RR 128/64).
 */
typedef struct {
    uint64_t state_high, state_low;
    uint64_t step_high, step_low;  /* odd */
    int has_half;                  /* of the last 64 bits next_uint32 has given the lower half */
    uint32_t half;
} pb_stream;

/* The words that pb_stream_begin reads of a pool: it fills the state of a PCG64. */
enum { PB_STREAM_POOL = 8 };

/*
 * What a SeedSequence has mixed of its own entropy and spawn key: `pool`, and how many words
 * went in, at least pool_size, the number of all of the pool's words.
 */
typedef struct {
    uint32_t pool[PB_STREAM_POOL];  /* its first words, or all */
    int64_t pool_size;              /* at least 4 */
    int64_t n_words;
} pb_stream_seeds;

/* The stream of SeedSequence(..., spawn_key=(..., *key)); n_key words of 32 bits, 1 or more. */
void pb_stream_begin(const pb_stream_seeds *seeds, const uint32_t *key, int64_t n_key,
                     pb_stream *stream);

/* The stream of SeedSequence(entropy of these words of 32 bits); any number of them. */
void pb_stream_seed(const uint32_t *words, int64_t n_words, pb_stream *stream);

/* The stream as a source of bits. It is the caller's, and must outlive them. */
pb_bitgen pb_stream_bits(pb_stream *stream);

#ifdef __cplusplus
}
#endif

#endif
