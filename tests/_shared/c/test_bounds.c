#include "check.h"

#include "pybandit/_shared/bounds.h"

int main(void)
{
    assert(close_to(pb_bounds_normal(50, 1e5, 1, 3), 0.42416011023903605, 1e-15));
    assert(close_to(pb_bounds_bernstein_serfling(100, 1000, 1, 4, 0.05), 1.108648993258086,
                    1e-14));
    assert(close_to(pb_bounds_bernstein_serfling(600, 1000, 1, 4, 0.05),
                    0.21518779450856043, 1e-14));

    /* if everything is read, even of a population of one, all half-widths are 0 */
    assert(pb_bounds_normal(1, 1, 1, 3) == 0.0);
    assert(pb_bounds_bernstein_serfling(1, 1, 1, 4, 0.05) == 0.0);
    assert(pb_bounds_normal(1000, 1000, 1, 3) == 0.0);

    assert(pb_bounds_normal_tail(0.0) == 0.5);
    assert(close_to(pb_bounds_normal_tail(1.959963984540054), 0.025, 1e-16));
    assert(close_to(pb_bounds_normal_tail_inverse(0.025), 1.959963984540054, 1e-14));
    assert(close_to(pb_bounds_normal_tail_inverse(0.975), -1.959963984540054, 1e-13));
    assert(fabs(pb_bounds_normal_tail_inverse(0.5)) < 1e-15);
    for (double p = 0.4; p > 1e-300; p *= 0.01) {
        const double z = pb_bounds_normal_tail_inverse(p);
        /* one rounding of z changes the tail by about z roundings: its relative slope is z */
        assert(close_to(pb_bounds_normal_tail(z) / p, 1.0, 1e-15 * (1.0 + z * z)));
    }
    return 0;
}
