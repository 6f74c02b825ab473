#include "../../_shared/c/check.h"

#include "pybandit/policies/correlated/gaussian_kernel.h"

enum { MOST = 100 };

/* Compares with a plain loop over all entries, for sizes around those of tiles. */
static void properties_match_plain_loops(void)
{
    uint64_t random = 7;
    double *kernel = allocate(MOST * MOST, sizeof(double)), *sums = allocate(MOST, sizeof(double));
    for (int run = 0; run < 300; run++) {
        const int64_t n = 1 + (int64_t)(splitmix_next(&random) % MOST);
        double largest = 0.0, apart = 0.0, row_sum = 0.0;
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j <= i; j++) {
                kernel[i * n + j] = kernel[j * n + i] = splitmix_double(&random) - 0.5;
                if (run % 3 == 0 && splitmix_double(&random) < 0.1)
                    kernel[j * n + i] += 0.125 * splitmix_double(&random);
            }
        for (int64_t i = 0; i < n; i++) {
            double sum = 0.0;
            for (int64_t j = 0; j < n; j++) {
                const double entry = kernel[i * n + j], other = kernel[j * n + i];
                sum += fabs(i < j ? other : entry);
                largest = fabs(entry) > largest ? fabs(entry) : largest;
                apart = fabs(entry - other) > apart ? fabs(entry - other) : apart;
            }
            row_sum = sum > row_sum ? sum : row_sum;
        }
        const pb_gaussian_kernel seen = pb_gaussian_kernel_check(kernel, n, sums);
        assert(seen.largest == largest && seen.apart == apart);
        assert(close_to(seen.row_sum, row_sum, 1e-12 * row_sum));
        assert(fabs(kernel[seen.row * n + seen.column] - kernel[seen.column * n + seen.row])
               == apart);
        assert(apart == 0.0 ? seen.row == 0 && seen.column == 0 : seen.row > seen.column);
        const double odd[] = {NAN, INFINITY, -INFINITY};
        kernel[splitmix_next(&random) % (uint64_t)(n * n)] = odd[run % 3];
        assert(isnan(pb_gaussian_kernel_check(kernel, n, sums).row_sum));
    }
    free(kernel);
    free(sums);
}

int main(void)
{
    properties_match_plain_loops();
    return 0;
}
