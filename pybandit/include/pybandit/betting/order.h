#ifndef PYBANDIT_ORDER_H
#define PYBANDIT_ORDER_H

#include <stdint.h>

#include "pybandit/_shared/bitgen.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A uniformly random order of the items 0, ..., n_items - 1, drawn as far as it is needed. A race
 * that reads 1,000 of 10^6 items draws about 1,000 numbers, and touches 125 KB of `taken`.
 */
typedef struct {
    int64_t n_items;  /* 1 <= n_items < 2^32 */
    int64_t n_drawn;  /* the first n_drawn of `items` are final; 0 at the start */
    uint64_t *taken;  /* (n_items + 63) / 64 words, 0 at the start; owned by the caller */
    int64_t *items;   /* n_items entries; owned by the caller */
    uint64_t state[4]; /* private generator: SFC64, as in NumPy */
    uint64_t spare;    /* unused half of its last word */
    int has_spare;
} pb_order;

/* Seeds the private generator of an order with three words of `bitgen`. */
void pb_order_seed(pb_order *order, pb_bitgen *bitgen);

/*
 * Draws until at least `until` <= n_items entries are final. The order does not depend on how it
 * is divided into calls.
 */
void pb_order_draw(pb_order *order, int64_t until);

#ifdef __cplusplus
}
#endif

#endif
