#ifndef XOSHIRO_H
#define XOSHIRO_H

/* xoshiro256++ of Blackman and Vigna (2019) as a pb_bitgen, seeded by splitmix64. */
#include <stdint.h>

#include "pybandit/_shared/bitgen.h"

typedef struct {
    uint64_t s[4];
} xoshiro;

static inline uint64_t xoshiro_next(void *state)
{
    uint64_t *s = ((xoshiro *)state)->s;
    const uint64_t sum = s[0] + s[3], result = ((sum << 23) | (sum >> 41)) + s[0];
    const uint64_t shifted = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= shifted;
    s[3] = (s[3] << 45) | (s[3] >> 19);
    return result;
}

static inline uint32_t xoshiro_next32(void *state) { return (uint32_t)(xoshiro_next(state) >> 32); }

static inline double xoshiro_double(void *state)
{
    return (double)(xoshiro_next(state) >> 11) * 0x1p-53;
}

static inline pb_bitgen xoshiro_bitgen(xoshiro *generator, uint64_t seed)
{
    for (int i = 0; i < 4; i++) {
        uint64_t x = seed += 0x9e3779b97f4a7c15u;
        x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
        x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
        generator->s[i] = x ^ (x >> 31);
    }
    return (pb_bitgen){generator, xoshiro_next, xoshiro_next32, xoshiro_double, xoshiro_next};
}

#endif
