/*
 * A random order that is drawn as far as it is needed (pybandit/betting/order.h).
 *
 * Up to half of the items are drawn with replacement, and repeated ones are rejected: at most two
 * draws per item, and one bit of memory. The other half is then listed and shuffled. Both ways
 * give each of the items left with the same probability.
 *
 * The generator is private: a caller that draws other numbers between two calls does not change
 * the order. It is in this file so that the compiler can inline it.
 */
#include "pybandit/betting/order.h"

#include "../_shared/minimum.h"
#include "../_shared/prefetch.h"

enum { BATCH = 32, WORD = 64, WARM_UP = 12 };

static inline uint64_t next_word(uint64_t *s)
{
    const uint64_t word = s[0] + s[1] + s[3]++;
    s[0] = s[1] ^ (s[1] >> 11);
    s[1] = s[2] + (s[2] << 3);
    s[2] = (s[2] << 24 | s[2] >> 40) + word;
    return word;
}

/* Returns half of a word: as in NumPy, the low half comes first. */
static uint32_t next_half(void *state)
{
    pb_order *const order = state;
    order->has_spare = !order->has_spare;
    if (!order->has_spare)
        return (uint32_t)order->spare;
    const uint64_t word = next_word(order->state);
    order->spare = word >> 32;
    return (uint32_t)word;
}

void pb_order_seed(pb_order *order, pb_bitgen *bitgen)
{
    for (int i = 0; i < 3; i++)
        order->state[i] = bitgen->next_uint64(bitgen->state);
    order->state[3] = 1;
    order->has_spare = 0;
    for (int i = 0; i < WARM_UP; i++)
        next_word(order->state);
}

/*
 * Rejects repeated items until `until` are drawn. Words of `taken` are prefetched for a batch. A
 * batch has at most as many draws as there are items to draw, so none is left over.
 */
static void reject_repeated(pb_order *order, int64_t until)
{
    pb_bitgen bitgen = {.state = order, .next_uint32 = next_half};
    uint32_t chosen[BATCH];
    int64_t n_drawn = order->n_drawn;
    while (n_drawn < until) {
        const int64_t count = minimum(BATCH, until - n_drawn);
        for (int64_t i = 0; i < count; i++) {
            chosen[i] = pb_bitgen_below(&bitgen, (uint32_t)order->n_items);
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
static void shuffle_rest(pb_order *order, int64_t until)
{
    pb_bitgen bitgen = {.state = order, .next_uint32 = next_half};
    int64_t chosen[BATCH], *const items = order->items;
    while (order->n_drawn < until) {
        const int64_t at = order->n_drawn, count = minimum(BATCH, until - at);
        for (int64_t i = 0; i < count; i++) {
            chosen[i] = at + i + pb_bitgen_below(&bitgen, (uint32_t)(order->n_items - at - i));
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

void pb_order_draw(pb_order *order, int64_t until)
{
    const int64_t half = order->n_items / 2;
    if (order->n_drawn < half)
        reject_repeated(order, minimum(half, until));
    if (order->n_drawn < half || until <= order->n_drawn)
        return;
    if (order->n_drawn == half)
        list_rest(order);
    shuffle_rest(order, until);
}
