/* Orders drawn in pieces contain each item once, and are those drawn at once. */
#include "fuzz.h"

#include "pybandit/betting/order.h"

static pb_order begin(pool *p, int64_t n, uint64_t seed)
{
    const int64_t n_words = (n + 63) / 64;
    pb_order order = {.n_items = n, .taken = TAKE(p, n_words, uint64_t),
                      .items = TAKE(p, n, int64_t)};
    memset(order.taken, 0, (size_t)n_words * sizeof *order.taken);
    pb_bitgen bitgen = fuzz_bitgen(&seed);
    pb_order_seed(&order, &bitgen);
    return order;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    choices c = {bytes, bytes + size};
    pool p = {.n = 0};
    const int64_t n = choose(&c, 1, 700);
    const uint64_t seed = choose_bits(&c);
    pb_order whole = begin(&p, n, seed), order = begin(&p, n, seed);
    unsigned char *const seen = TAKE(&p, n, unsigned char);
    memset(seen, 0, (size_t)n);
    pb_order_draw(&whole, n);
    for (int64_t until = 0, done = 0; done < n;) {
        const int64_t most = choose(&c, 0, 40);
        until = most == 0 || until + most > n ? n : until + most;
        pb_order_draw(&order, until);
        HOLDS(order.n_drawn >= until && order.n_drawn <= n);
        for (; done < order.n_drawn; done++) {
            const int64_t item = order.items[done];
            HOLDS(item >= 0 && item < n && !seen[item] && item == whole.items[done]);
            seen[item] = 1;
        }
    }
    pool_free(&p);
    return 0;
}
