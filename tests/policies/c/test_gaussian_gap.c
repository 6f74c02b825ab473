#include "gaussian_check.h"

#include "pybandit/policies/correlated/gaussian_gap.h"

enum { MOST = 600 };  /* several blocks */

static void gap_rounds_are_the_algorithms(void)
{
    uint64_t random = 2;
    for (int run = 0; run < 3000; run++) {
        arms a = some_arms(&random, run, run % 10 ? 12 : MOST, 1e-2);
        const double epsilon = run % 3 ? 0.0 : 0.125;
        const double numerator = run % 11 ? (run % 2 ? 30.0 : 3e4) : 0.0;
        double upper[MOST], lower[MOST], std[MOST], complexity = 0.0;
        if (a.n >= 2) {
            double *memory = allocate(pb_gaussian_gap_size(a.n), sizeof *memory);
            const pb_gaussian_gap round = pb_gaussian_gap_round(
                a.means, a.spreads, a.n, numerator, epsilon, 0.5, memory);
            for (int64_t k = 0; k < a.n; k++) {
                std[k] = 0.5 * a.spreads[k];
                upper[k] = a.means[k] + 3.0 * std[k];
                lower[k] = a.means[k] - 3.0 * std[k];
            }
            for (int64_t k = 0; k < a.n; k++) {
                const double gap = fmax(largest(upper, a.n, k) - lower[k],
                                        upper[k] - largest(lower, a.n, k));
                complexity += pow(fmax(0.5 * (gap + epsilon), epsilon), -2.0);
            }
            const double beta = sqrt(numerator / (4.0 * complexity));
            assert(close_to(round.beta, beta, 1e-12 * beta));
            for (int64_t k = 0; k < a.n; k++) {
                upper[k] = a.means[k] + round.beta * std[k];
                lower[k] = a.means[k] - round.beta * std[k];
            }
            int64_t best = 0, rival = -1;
            double least = INFINITY;
            for (int64_t k = 0; k < a.n; k++) {
                const double gap = largest(upper, a.n, k) - lower[k];
                best = gap < least ? k : best;
                least = fmin(gap, least);
            }
            for (int64_t k = 0; k < a.n; k++)
                if (k != best && (rival < 0 || upper[k] > upper[rival]))
                    rival = k;
            assert(round.best == best && round.rival == rival);
            assert(round.bound == largest(upper, a.n, best) - lower[best]);
            const int64_t low = best < rival ? best : rival, high = best + rival - low;
            assert(round.chosen == (std[high] > std[low] ? high : low));
            free(memory);
        }
        free_arms(&a);
    }
}

int main(void)
{
    gap_rounds_are_the_algorithms();
    return 0;
}
