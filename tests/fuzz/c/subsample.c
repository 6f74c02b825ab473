/* Orders of indices of every kind contain each index once, for any sequence of calls. */
#include "fuzz.h"

#include "pybandit/racing/subsample.h"

static void order(pb_subsample *subsample, choices *c, pb_bitgen *bitgen, int64_t *out,
                  unsigned char *seen)
{
    int64_t left = subsample->size;
    memset(seen, 0, (size_t)left);
    pb_subsample_restart(subsample, bitgen);
    while (left > 0) {
        int64_t n = choose(c, 0, 40);
        n = n == 0 || n > left ? left : n;
        if (choose_byte(c) < 16)
            pb_subsample_rest(subsample, bitgen, n, out);
        else
            pb_subsample_next(subsample, bitgen, n, out);
        for (int64_t i = 0; i < n; i++) {
            HOLDS(out[i] >= 0 && out[i] < subsample->size && !seen[out[i]]);
            seen[out[i]] = 1;
        }
        left -= n;
        HOLDS(subsample->position == subsample->size - left);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    choices c = {bytes, bytes + size};
    pool p = {.n = 0};
    const pb_subsample_kind kind = (pb_subsample_kind)choose(&c, 0, 4);
    const int64_t n = choose(&c, 1, 700);
    const int64_t run = kind == PB_SUBSAMPLE_BLOCKS || kind == PB_SUBSAMPLE_GROUPS
                            ? choose(&c, 1, n) : 1;
    const int64_t n_memory = pb_subsample_memory(kind, n, run);
    uint32_t *memory = TAKE(&p, n_memory, uint32_t);
    if (kind == PB_SUBSAMPLE_REJECTION)
        memset(memory, 0, (size_t)n_memory * sizeof *memory);
    uint64_t counter = choose_bits(&c);
    pb_bitgen bitgen = fuzz_bitgen(&counter);
    pb_subsample subsample;
    pb_subsample_init(&subsample, kind, n, run, memory);
    int64_t *out = TAKE(&p, n, int64_t);
    unsigned char *seen = TAKE(&p, n, unsigned char);
    for (int64_t i = choose(&c, 1, 3); i > 0; i--)
        order(&subsample, &c, &bitgen, out, seen);
    pool_free(&p);
    return 0;
}
