#include "pybandit/bitgen.h"

#include <math.h>

uint32_t pb_bitgen_below(pb_bitgen *bitgen, uint32_t bound)
{
    uint64_t product = (uint64_t)bitgen->next_uint32(bitgen->state) * bound;
    if ((uint32_t)product < bound) {  /* once in 2^32 / bound draws */
        const uint32_t rejected = (uint32_t)-bound % bound;
        while ((uint32_t)product < rejected)
            product = (uint64_t)bitgen->next_uint32(bitgen->state) * bound;
    }
    return (uint32_t)(product >> 32);
}

void pb_bitgen_gumbel_many(pb_bitgen *bitgen, int64_t n, double *out)
{
    for (int64_t i = 0; i < n; i++) {
        /* the midpoint of one of 2^53 equal cells: neither 0 nor 1 can occur */
        const double u =
            ((double)(bitgen->next_uint64(bitgen->state) >> 11) + 0.5) * 0x1p-53;
        out[i] = -log(-log(u));
    }
}
