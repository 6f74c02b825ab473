#include "pybandit/_shared/bitgen.h"

#include <math.h>

void pb_bitgen_gumbel_many(pb_bitgen *bitgen, int64_t n, double *out)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = -log(-log(pb_bitgen_open(bitgen)));
}
