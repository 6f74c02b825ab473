/*
 * A random order that is drawn as far as it is needed (pybandit/betting/order.h).
 *
 * Up to half of the items are drawn with replacement, and repeated ones are rejected: at most two
 * draws per item, and one bit of memory. The other half is then listed and shuffled. Both ways
 * give each of the items left with the same probability.
 */
#include "pybandit/betting/order.h"

#include "../_shared/minimum.h"
#include "../_shared/prefetch.h"

enum { BATCH = 32, WORD = 64 };

/*
 * Rejects repeated items until `until` are drawn. Words of `taken` are prefetched for a batch. A
 * batch has at most as many draws as there are items to draw, so none is left over.
 */
static void reject_repeated(pb_order *order, pb_bitgen *bitgen, int64_t until)
{
    uint32_t chosen[BATCH];
    int64_t n_drawn = order->n_drawn;
    while (n_drawn < until) {
        const int64_t count = minimum(BATCH, until - n_drawn);
        for (int64_t i = 0; i < count; i++) {
            chosen[i] = pb_bitgen_below(bitgen, (uint32_t)order->n_items);
            PREFETCH(order->taken + chosen[i] / WORD);
        }
        for (int64_t i = 0; i < count; i++) {
            uint64_t *const word = order->taken + chosen[i] / WORD;
            const uint64_t bit = (uint64_t)1 << chosen[i] % WORD;
            /* not a branch: it would often be mispredicted */
            order->items[n_drawn] = chosen[i];
            n_drawn += !(*word & bit);
            *word |= bit;
        }
    }
    order->n_drawn = n_drawn;
}

/* Writes the items that were not drawn behind those that were. */
static void list_rest(pb_order *order)
{
    int64_t at = order->n_drawn;
    for (int64_t item = 0; item < order->n_items; item++)
        if (!(order->taken[item / WORD] >> item % WORD & 1))
            order->items[at++] = item;
}

/* Shuffles the rest up to `until`: places to swap are drawn first, so that their loads overlap. */
static void shuffle_rest(pb_order *order, pb_bitgen *bitgen, int64_t until)
{
    int64_t chosen[BATCH], *const items = order->items;
    while (order->n_drawn < until) {
        const int64_t at = order->n_drawn, count = minimum(BATCH, until - at);
        for (int64_t i = 0; i < count; i++) {
            chosen[i] = at + i + pb_bitgen_below(bitgen, (uint32_t)(order->n_items - at - i));
            PREFETCH(items + chosen[i]);
        }
        for (int64_t i = 0; i < count; i++) {
            const int64_t item = items[chosen[i]];
            items[chosen[i]] = items[at + i];
            items[at + i] = item;
        }
        order->n_drawn += count;
    }
}

void pb_order_draw(pb_order *order, pb_bitgen *bitgen, int64_t until)
{
    const int64_t half = order->n_items / 2;
    if (order->n_drawn < half)
        reject_repeated(order, bitgen, minimum(half, until));
    if (order->n_drawn < half || until <= order->n_drawn)
        return;
    if (order->n_drawn == half)
        list_rest(order);
    shuffle_rest(order, bitgen, until);
}
