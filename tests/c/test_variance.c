#include "check.h"

#include "pybandit/variance.h"

static void below_two_values_there_is_none(void)
{
    assert(pb_variance(0, 0.0, 0.0) == 0.0);
    assert(pb_variance(1, 3.0, 0.0) == 0.0);
    assert(pb_variance(2, 3.0, 0.5) == 0.5);
    assert(pb_variance(5, -10.0, 8.0) == 2.0);
}

static void rounding_is_no_variance(void)
{
    /* ten values of 0.1 */
    assert(pb_variance(10, 1.0, 1e-33) == 0.0);
    assert(pb_variance(10, 1e9, 1e-13) == 0.0);
    assert(pb_variance(10, 0.0, 1e-33) > 0.0);
    assert(pb_variance(10, 1.0, 1e-20) > 0.0);
}

static void the_least_leaves_out_zeros(void)
{
    int64_t *pulls = allocate(4, sizeof *pulls);
    double *sums = allocate(4, sizeof *sums), *deviations = allocate(4, sizeof *deviations);
    for (int i = 0; i < 4; i++) {
        pulls[i] = 3;
        sums[i] = 0.0;
    }
    deviations[0] = 2.0; /* variances 1, 0, 4, 1/2 */
    deviations[1] = 0.0;
    deviations[2] = 8.0;
    deviations[3] = 1.0;
    assert(pb_variance_least(pulls, sums, deviations, 4) == 0.5);
    assert(pb_variance_least(pulls, sums, deviations, 3) == 1.0);
    assert(pb_variance_least(pulls, sums, deviations + 1, 1) == 0.0);
    pulls[0] = 1;
    assert(pb_variance_least(pulls, sums, deviations, 1) == 0.0);
    free(pulls);
    free(sums);
    free(deviations);
}

int main(void)
{
    below_two_values_there_is_none();
    rounding_is_no_variance();
    the_least_leaves_out_zeros();
    return 0;
}
