#ifndef CHECK_H
#define CHECK_H

/* Shared by the C tests: a bit generator and memory of exact size. */

#undef NDEBUG
#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pybandit/_shared/bitgen.h"

/*
 * A digest of all values drawn and compared. It shows if two compilers or two processors gave the
 * same bits (tests/portability.py).
 */
static uint64_t digested;

static inline void print_digest(void) { printf("%016" PRIx64 "\n", digested); }

static inline void digest(uint64_t word)
{
#ifdef PB_DIGEST
    if (digested == 0) {
        digested = 0xcbf29ce484222325u;
        atexit(print_digest);
    }
    digested = (digested ^ word) * 0x100000001b3u;
#else
    (void)word;
#endif
}

static inline void digest_double(double number)
{
    uint64_t word;
    memcpy(&word, &number, sizeof word);
    digest(number == 0.0 ? 0 : number != number ? 1 : word);
}

static inline uint64_t splitmix_next(void *state)
{
    uint64_t *counter = state;
    uint64_t x = *counter += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    digest(x);
    return x ^ (x >> 31);
}

static inline uint32_t splitmix_next32(void *state)
{
    return (uint32_t)(splitmix_next(state) >> 32);
}

static inline double splitmix_double(void *state)
{
    return (double)(splitmix_next(state) >> 11) * 0x1p-53;
}

static inline pb_bitgen splitmix(uint64_t *counter)
{
    return (pb_bitgen){counter, splitmix_next, splitmix_next32, splitmix_double, splitmix_next};
}

/* Copies exactly n items, so that the address sanitizer detects an access past the end. */
static inline void *allocate(int64_t n, size_t item)
{
    void *memory = malloc((size_t)n * item);
    assert(memory || n == 0);
    return memory;
}

static inline int close_to(double a, double b, double tolerance)
{
    digest_double(a);
    return fabs(a - b) <= tolerance;
}

/* Returns 1 if `hits` of n trials are within 5 standard deviations of probability p. */
static inline int binomial_fits(int64_t hits, int64_t n, double p)
{
    digest((uint64_t)hits);
    return fabs((double)hits - (double)n * p) <= 5.0 * sqrt((double)n * p * (1.0 - p));
}

#endif
