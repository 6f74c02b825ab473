/* Streams of any seed and key: equal seeds give equal streams, and numbers are in range. */
#include "fuzz.h"

#include "pybandit/simulation/stream.h"

static void same_draws(pb_stream *a, pb_stream *b, choices *c)
{
    pb_bitgen one = pb_stream_bits(a), other = pb_stream_bits(b);
    for (int64_t i = choose(c, 0, 40); i > 0; i--) {
        if (choose(c, 0, 2) == 0) {
            HOLDS(one.next_uint32(one.state) == other.next_uint32(other.state));
        } else if (choose_byte(c) & 1) {
            const double drawn = one.next_double(one.state);
            HOLDS(drawn >= 0.0 && drawn < 1.0 && drawn == other.next_double(other.state));
        } else {
            HOLDS(one.next_uint64(one.state) == other.next_raw(other.state));
        }
    }
    HOLDS((a->step_low & 1) == 1);
    HOLDS(a->state_high == b->state_high && a->state_low == b->state_low);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    choices c = {bytes, bytes + size};
    pool p = {.n = 0};
    const int64_t n_words = choose(&c, 0, 40), n_key = choose(&c, 1, 20);
    uint32_t *words = TAKE(&p, n_words, uint32_t), *key = TAKE(&p, n_key, uint32_t);
    for (int64_t i = 0; i < n_words; i++)
        words[i] = (uint32_t)choose_bits(&c);
    for (int64_t i = 0; i < n_key; i++)
        key[i] = (uint32_t)choose_bits(&c);
    pb_stream_seeds seeds = {.pool_size = choose(&c, 4, 30)};
    seeds.n_words = seeds.pool_size + choose(&c, 0, 30);
    for (int i = 0; i < PB_STREAM_POOL; i++)
        seeds.pool[i] = (uint32_t)choose_bits(&c);
    pb_stream a, b;
    memset(&a, 0xa5, sizeof a);
    memset(&b, 0x5a, sizeof b);
    pb_stream_seed(words, n_words, &a);
    pb_stream_seed(words, n_words, &b);
    same_draws(&a, &b, &c);
    pb_stream_begin(&seeds, key, n_key, &a);
    pb_stream_begin(&seeds, key, n_key, &b);
    same_draws(&a, &b, &c);
    pool_free(&p);
    return 0;
}
