/* Functions of all harnesses: choices derived from bytes, random bits, checks and memory. */
#ifndef PYBANDIT_FUZZ_H
#define PYBANDIT_FUZZ_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pybandit/_shared/bitgen.h"

#if defined __has_include && __has_include(<sanitizer/asan_interface.h>)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#endif

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

/* Ends the program if the condition is false, which the fuzzer reports as a crash. */
#define HOLDS(condition)                                                        \
    do {                                                                        \
        if (!(condition)) {                                                     \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
            abort();                                                            \
        }                                                                       \
    } while (0)

/* A sequence of bytes, followed by zeros, from which choices are drawn. */
typedef struct {
    const uint8_t *at, *end;
} choices;

static inline uint8_t choose_byte(choices *c)
{
    return c->at < c->end ? *c->at++ : 0;
}

/* Returns an integer in [least, most]; they differ by at most 2^16. */
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

/* Returns a number in (0, 1). */
static inline double choose_unit(choices *c)
{
    const uint8_t kind = choose_byte(c);
    if (kind < 16)
        return ldexp(0.5 + choose_byte(c) / 512.0, -(int)choose_byte(c));
    return (kind + (choose_byte(c) + 0.5) / 256.0) / 256.0;
}

/* Returns a finite number, usually small, sometimes 0, tiny, or as large as `most`. */
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

/* Returns the next 64 bits of SplitMix64 (Steele, Lea and Flood 2014). */
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

static inline double fuzz_normal(void *bitgen)
{
    const pb_bitgen *bits = bitgen;
    const double u = bits->next_double(bits->state), v = bits->next_double(bits->state);
    return sqrt(-2.0 * log(1.0 - u)) * cos(6.283185307179586 * v);
}

static inline double fuzz_exponential(void *bitgen)
{
    const pb_bitgen *bits = bitgen;
    return -log(1.0 - bits->next_double(bits->state));
}

/* Derives n numbers from few bytes: chosen one by one, all equal, with ties or without. */
static inline void choose_numbers(choices *c, double *values, int64_t n, double most)
{
    const int64_t kind = choose(c, 0, 5);
    const double scale = kind ? choose_number(c, most) : 0.0, shift = choose_number(c, 9.0);
    uint64_t counter = kind > 2 ? choose_byte(c) : 0;
    for (int64_t i = 0; i < n; i++)
        values[i] = kind < 2    ? choose_number(c, most)
                    : kind == 2 ? shift
                    : kind == 3 ? scale * (double)(fuzz_bits(&counter) % 3)
                                : shift + scale * (fuzz_double(&counter) - 0.5);
}

/* Derives n numbers in [0, 1]. */
static inline void choose_units(choices *c, double *values, int64_t n)
{
    const int64_t kind = choose(c, 0, 4);
    const double mean = kind < 4 ? choose_unit(c) : 0.0, width = choose_unit(c);
    uint64_t counter = choose_byte(c);
    for (int64_t i = 0; i < n; i++) {
        const double u = fuzz_double(&counter);
        values[i] = kind == 0 ? (u < mean) : kind == 1 ? u
                    : kind == 2 ? mean + width * (1.0 - mean) * u : kind == 3 ? mean
                    : choose_byte(c) / 255.0;
    }
}

/*
 * Blocks of exactly the requested size, filled with nonzero bytes and freed all at once. They lie
 * in one arena whose other bytes are poisoned; malloc would take half of the running time. Blocks
 * have the alignment of malloc, and no larger one.
 */
enum { ARENA = 1 << 20, GAP = 80 };

typedef struct {
    int64_t n;  /* bytes of the arena in use */
} pool;

static _Alignas(32) unsigned char arena[ARENA];

static inline void *pool_take(pool *p, int64_t n, size_t size)
{
    const int64_t bytes = n * (int64_t)size;
    HOLDS(n >= 0 && bytes >= 0 && p->n + bytes + 3 * GAP < ARENA);
    static int is_shut;
    if (!is_shut)
        ASAN_POISON_MEMORY_REGION(arena, ARENA);
    is_shut = 1;
    unsigned char *const block = arena + p->n + GAP;
    ASAN_UNPOISON_MEMORY_REGION(block, (size_t)bytes);
    memset(block, 0xa5, (size_t)bytes);
    p->n += GAP + (bytes + 47) / 32 * 32 - 16;  /* the next block also starts at 16 modulo 32 */
    return block;
}

#define TAKE(pool, n, type) ((type *)pool_take(pool, n, sizeof(type)))

/* Takes a block and sets it to 0. */
static inline void *pool_zeros(pool *p, int64_t n, size_t size)
{
    void *const block = pool_take(p, n, size);
    memset(block, 0, (size_t)n * size);
    return block;
}

#define ZEROS(pool, n, type) ((type *)pool_zeros(pool, n, sizeof(type)))

static inline void pool_free(pool *p)
{
    ASAN_POISON_MEMORY_REGION(arena, (size_t)(p->n + 3 * GAP));
    p->n = 0;
}

#endif
