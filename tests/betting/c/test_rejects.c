#include "betting_check.h"

#include "pybandit/betting/rejects.h"

enum { N_ARMS = 90, N_ITEMS = 500 };

static pb_rejects rejects_new(double strength)
{
    pb_rejects made = {.n_items = N_ITEMS, .weights = soiled(N_ARMS + 1, sizeof(double))};
    pb_rejects_begin(&made, N_ARMS, 1, strength);
    return made;
}

/* Weights are powers of j, with one exponent up to j = PB_REJECTS_FEW and another one above. */
static void weights_fall(void)
{
    for (int half = 0; half < 3; half++) {
        const double late = 1.1 + 0.25 * half, early = 1.0 + 0.1 * half;
        pb_rejects rejects = rejects_new(0.5 * half);
        for (int j = 2; j <= N_ARMS; j++)
            assert(rejects.weights[j] > 0.0 && rejects.weights[j] < rejects.weights[j - 1]);
        assert(fabs(rejects.weights[7] * pow(7.0, late) - 1.0) < 1e-12);
        assert(fabs(rejects.weights[80] / rejects.weights[8] * pow(10.0, early) - 1.0) < 1e-12);
        free(rejects.weights);
    }
}

/* With more than 100 competing arms the exponents are closer to 1. */
static void exponents_shrink(void)
{
    double weights[202];
    pb_rejects rejects = {.n_items = N_ITEMS, .weights = weights};
    pb_rejects_begin(&rejects, 200, 1, 1.0);
    assert(fabs(weights[8] * pow(8.0, 1.3) - 1.0) < 1e-12);
    assert(fabs(weights[80] / weights[8] * pow(10.0, 1.1) - 1.0) < 1e-12);
    pb_rejects_begin(&rejects, 200, 101, 1.0);
    assert(fabs(weights[8] * pow(8.0, 1.6) - 1.0) < 1e-12);
}

/* A race never exceeds its budget, uses nearly all of it, and keeps at least `places` arms. */
static void a_budget_is_kept(void)
{
    pb_rejects rejects = rejects_new(0.5);
    for (int64_t budget = N_ARMS; budget < N_ARMS * N_ITEMS; budget = budget * 3 / 2)
        for (int64_t places = 1; places < 40; places += 13) {
            int64_t n_alive = N_ARMS, n_read = 0, left = budget;
            for (;;) {
                const int64_t block = pb_rejects_block(&rejects, n_alive, places, n_read, left);
                assert(block >= 0 && block * n_alive <= left && n_read + block <= N_ITEMS);
                if (!block)
                    break;
                n_read += block;
                left -= block * n_alive;
                if (n_read == N_ITEMS)
                    break;
                const int64_t kept = pb_rejects_keep(&rejects, n_alive, places, n_read, left);
                assert(places <= kept && kept <= n_alive);
                n_alive = kept;
                if (n_alive == places)
                    break;
            }
            assert(left < N_ARMS || n_read == N_ITEMS || n_alive == places);
            assert(budget < 4 * N_ARMS || left <= budget / 10);
        }
    /* with a budget for all cells, no arm has to leave */
    assert(pb_rejects_keep(&rejects, N_ARMS, 1, 4, N_ARMS * N_ITEMS) == N_ARMS);
    free(rejects.weights);
}

int main(void)
{
    weights_fall();
    exponents_shrink();
    a_budget_is_kept();
    return 0;
}
