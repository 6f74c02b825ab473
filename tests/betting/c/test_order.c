#include "betting_check.h"

#include "pybandit/betting/order.h"

enum { MOST = 200 };

/* Draws an order of n items in pieces of the given lengths, repeated. */
static void draw(uint64_t seed, int64_t n, int64_t piece, int64_t *items)
{
    uint64_t taken[(MOST + 63) / 64] = {0};
    pb_bitgen bitgen = splitmix(&seed);
    pb_order order = {.n_items = n, .taken = taken, .items = items};
    pb_order_seed(&order, &bitgen);
    for (int64_t until = 0; order.n_drawn < n; until += piece) {
        pb_order_draw(&order, until < n ? until : n);
        assert(order.n_drawn >= until || order.n_drawn == n);
    }
}

/* Every item comes once, and pieces change nothing. */
static void orders_are_permutations(void)
{
    for (int64_t n = 1; n <= MOST; n++) {
        int64_t whole[MOST], parts[MOST], counts[MOST] = {0};
        draw((uint64_t)n, n, n, whole);
        for (int64_t i = 0; i < n; i++)
            assert(++counts[whole[i]] == 1);
        for (int64_t piece = 1; piece <= 7; piece += 3) {
            draw((uint64_t)n, n, piece, parts);
            for (int64_t i = 0; i < n; i++)
                assert(parts[i] == whole[i]);
        }
    }
}

/* All 120 orders of five items are equally frequent. */
static void orders_are_uniform(void)
{
    enum { N = 120000 };
    int64_t items[5], counts[3125] = {0};
    int n_seen = 0;
    for (int i = 0; i < N; i++) {
        draw((uint64_t)i * 0x9e3779b97f4a7c15u + 7, 5, 2, items);
        int64_t code = 0;
        for (int j = 0; j < 5; j++)
            code = 5 * code + items[j];
        counts[code]++;
    }
    for (int i = 0; i < 3125; i++)
        if (counts[i]) {
            n_seen++;
            assert(binomial_fits(counts[i], N, 1.0 / 120.0));
        }
    assert(n_seen == 120);
}

int main(void)
{
    orders_are_permutations();
    orders_are_uniform();
    return 0;
}
