#ifndef PYBANDIT_STREAM_H
#define PYBANDIT_STREAM_H

#include <stdint.h>

#include "pybandit/_shared/bitgen.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * NumPy's default generator, PCG64 (PCG XSL RR 128/64, O'Neill 2014), seeded as SeedSequence.spawn
 * would: bit for bit equal to default_rng(children[i]), without the 10 us for Python objects.
 */
typedef struct {
    uint64_t state_high, state_low;
    uint64_t step_high, step_low;  /* odd */
    int has_half;                  /* 1 if the upper half of the last 64 bits is in `half` */
    uint32_t half;
} pb_stream;

/* Number of words of a pool that pb_stream_begin reads to fill the state of a PCG64. */
enum { PB_STREAM_POOL = 8 };

/*
 * The state of a SeedSequence after mixing its own entropy and spawn key: the pool, its size in
 * words, and the number of words mixed in, which is at least pool_size.
 */
typedef struct {
    uint32_t pool[PB_STREAM_POOL];  /* first words of the pool, or all */
    int64_t pool_size;              /* at least 4 */
    int64_t n_words;
} pb_stream_seeds;

/* Seeds a stream as SeedSequence(..., spawn_key=(..., *key)) does; n_key >= 1 words of 32 bits. */
void pb_stream_begin(const pb_stream_seeds *seeds, const uint32_t *key, int64_t n_key,
                     pb_stream *stream);

/* Seeds a stream as SeedSequence(words) does; any number of words of 32 bits. */
void pb_stream_seed(const uint32_t *words, int64_t n_words, pb_stream *stream);

/* Returns an interface to the stream. The caller owns the stream, which must outlive it. */
pb_bitgen pb_stream_bits(pb_stream *stream);

#ifdef __cplusplus
}
#endif

#endif
