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

void pb_bitgen_permutation(pb_bitgen *bitgen, int64_t n, int64_t *out)
{
    int64_t chosen[SWAPS];
    for (int64_t i = 0; i < n; i++)
        out[i] = i;
    /* places to swap do not depend on the entries: draw and prefetch some first, so that the
       loads of the second loop overlap. This takes a third of the time for n = 10^6. */
    for (int64_t last = n - 1; last > 0; last -= SWAPS) {
        const int64_t count = minimum(SWAPS, last);
        for (int64_t i = 0; i < count; i++) {
            chosen[i] = pb_bitgen_below(bitgen, (uint32_t)(last - i + 1));
            PREFETCH(out + chosen[i]);
        }
        for (int64_t i = 0; i < count; i++) {
            const int64_t entry = out[last - i];
            out[last - i] = out[chosen[i]];
            out[chosen[i]] = entry;
        }
    }
}
