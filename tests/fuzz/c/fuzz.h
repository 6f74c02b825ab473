/* What the harnesses share: choices out of bytes, a source of bits, and what must hold. */
#ifndef PYBANDIT_FUZZ_H
#define PYBANDIT_FUZZ_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pybandit/_shared/bitgen.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

/* Ends the program, which is how a fuzzer hears of it. */
#define HOLDS(condition)                                                        \
    do {                                                                        \
        if (!(condition)) {                                                     \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
            abort();                                                            \
        }                                                                       \
    } while (0)

/* Bytes that are taken one after another; zeros once they are all taken. */
typedef struct {
    const uint8_t *at, *end;
} choices;

static inline uint8_t choose_byte(choices *c)
{
    return c->at < c->end ? *c->at++ : 0;
}

/* In [least, most], no more than 2^16 apart. */
static inline int64_t choose(choices *c, int64_t least, int64_t most)
{
    const int64_t width = most - least + 1;
    int64_t byte = choose_byte(c);
    if (width > 256)
        byte += 256 * (int64_t)choose_byte(c);
    return least + byte % width;
}

static inline uint64_t choose_bits(choices *c)
{
    uint64_t bits = 0;
    for (int i = 0; i < 8; i++)
        bits = bits << 8 | choose_byte(c);
    return bits;
}

/* In (0, 1). */
static inline double choose_unit(choices *c)
{
    const uint8_t kind = choose_byte(c);
    if (kind < 16)
        return ldexp(0.5 + choose_byte(c) / 512.0, -(int)choose_byte(c));
    return (kind + (choose_byte(c) + 0.5) / 256.0) / 256.0;
}

/* Finite, mostly small, now and then as large as `most`, or one number again and again. */
static inline double choose_number(choices *c, double most)
{
    const uint8_t kind = choose_byte(c);
    if (kind < 8)
        return 0.0;
    if (kind < 16)
        return (kind & 1 ? most : -most) * choose_unit(c);
    if (kind < 24)
        return (kind & 1 ? 1.0 : -1.0) * ldexp(1.0, -(int)choose_byte(c));
    return (kind - 128) / 16.0 + (kind & 1 ? choose_byte(c) / 4096.0 : 0.0);
}

/* Steele, Lea and Flood 2014. */
static inline uint64_t fuzz_bits(void *state)
{
    uint64_t *counter = state, z = (*counter += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static inline uint32_t fuzz_half(void *state) { return (uint32_t)(fuzz_bits(state) >> 32); }

static inline double fuzz_double(void *state)
{
    return (double)(fuzz_bits(state) >> 11) * (1.0 / 9007199254740992.0);
}

static inline pb_bitgen fuzz_bitgen(uint64_t *counter)
{
    return (pb_bitgen){counter, fuzz_bits, fuzz_half, fuzz_double, fuzz_bits};
}

/* Memory of exactly so many bytes, in which nothing is 0 by chance; freed all at once. */
typedef struct {
    void *blocks[64];
    int n;
} pool;

static inline void *pool_take(pool *p, int64_t n, size_t size)
{
    const size_t bytes = (size_t)n * size;
    HOLDS(n >= 0 && p->n < 64);
    void *block = malloc(bytes ? bytes : 1);
    HOLDS(block);
    memset(block, 0xa5, bytes);
    return p->blocks[p->n++] = block;
}

#define TAKE(pool, n, type) ((type *)pool_take(pool, n, sizeof(type)))

static inline void pool_free(pool *p)
{
    while (p->n)
        free(p->blocks[--p->n]);
}

#endif
