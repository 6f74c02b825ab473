#ifndef PYBANDIT_BITGEN_H
#define PYBANDIT_BITGEN_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A source of random bits with the members of NumPy's bitgen_t, in the same order. A pointer to
 * a NumPy bit generator can be cast to it, and a C program can supply its own without NumPy.
 */
typedef struct {
    void *state;
    uint64_t (*next_uint64)(void *state);
    uint32_t (*next_uint32)(void *state);
    double (*next_double)(void *state);
    uint64_t (*next_raw)(void *state);
} pb_bitgen;

/* Returns a uniform integer in [0, bound), bound >= 1, without bias (Lemire 2019). */
static inline uint32_t pb_bitgen_below(pb_bitgen *bitgen, uint32_t bound)
{
    uint64_t product = (uint64_t)bitgen->next_uint32(bitgen->state) * bound;
    if ((uint32_t)product < bound) {  /* once in 2^32 / bound draws */
        const uint32_t rejected = (uint32_t)-bound % bound;
        while ((uint32_t)product < rejected)
            product = (uint64_t)bitgen->next_uint32(bitgen->state) * bound;
    }
    return (uint32_t)(product >> 32);
}

/* Returns a uniform number in (0, 1): the midpoint of one of 2^52 equal intervals. */
static inline double pb_bitgen_open(pb_bitgen *bitgen)
{
    const double unit = 1.0 / 4503599627370496.0;  /* 2^-52 */
    return ((double)(bitgen->next_uint64(bitgen->state) >> 12) + 0.5) * unit;
}

/* Draws n standard Gumbel values -log(-log u), u uniform in (0, 1). */
void pb_bitgen_gumbel_many(pb_bitgen *bitgen, int64_t n, double *out);

/*
 * Writes a uniformly random permutation of 0, ..., n - 1, for n below 2^32. It is the one that
 * NumPy's Generator.permutation(n) returns for the same bit generator.
 */
void pb_bitgen_permutation(pb_bitgen *bitgen, int64_t n, int64_t *out);

#ifdef __cplusplus
}
#endif

#endif
