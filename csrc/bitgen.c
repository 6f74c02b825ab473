#include "pybandit/bitgen.h"

#include <math.h>

void pb_bitgen_gumbel_many(pb_bitgen *bitgen, int64_t n, double *out)
{
    for (int64_t i = 0; i < n; i++) {
        /* the midpoint of one of 2^52 equal cells, exact in a double: never 0 or 1 */
        const double u =
            ((double)(bitgen->next_uint64(bitgen->state) >> 12) + 0.5) * 0x1p-52;
        out[i] = -log(-log(u));
    }
}
