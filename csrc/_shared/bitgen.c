#include "pybandit/_shared/bitgen.h"

#include <math.h>

#include "minimum.h"
#include "prefetch.h"

enum { SWAPS = 64 };

void pb_bitgen_gumbel_many(pb_bitgen *bitgen, int64_t n, double *out)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = -log(-log(pb_bitgen_open(bitgen)));
}

/*
 * Places to swap do not depend on the entries. Some are drawn and prefetched first, so that the
 * loads of the second loop overlap. As in NumPy, the low bits of a word are a place unless they are
 * too large; counting the valid ones avoids a branch that is mispredicted every fourth time. Both
 * together take a third of the time of NumPy for n = 10^6.
 */
void pb_bitgen_permutation(pb_bitgen *bitgen, int64_t n, int64_t *out)
{
    int64_t chosen[SWAPS + 1];
    uint64_t mask = 1;
    while ((int64_t)mask < n - 1)
        mask = 2 * mask + 1;
    for (int64_t i = 0; i < n; i++)
        out[i] = i;
    for (int64_t last = n - 1; last > 0; last -= SWAPS) {
        const int64_t count = minimum(SWAPS, last);
        for (int64_t i = 0; i < count;) {
            const int64_t most = last - i;
            if (most <= (int64_t)(mask >> 1))
                mask >>= 1;
            chosen[i] = (int64_t)(bitgen->next_uint32(bitgen->state) & mask);
            PREFETCH(out + chosen[i]);
            i += chosen[i] <= most;
        }
        for (int64_t i = 0; i < count; i++) {
            const int64_t entry = out[last - i];
            out[last - i] = out[chosen[i]];
            out[chosen[i]] = entry;
        }
    }
}
