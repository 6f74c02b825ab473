/*
 * PCG64 and SeedSequence as in NumPy (pybandit/simulation/stream.h).
 *
 * SeedSequence hashes words one after the other into a pool, each with the next power of a
 * multiplier. All runs of a simulation share the words before the last ones of the spawn key.
 * NumPy hashes the shared words once; the rest takes about a dozen multiplications per stream.
 */
#include "pybandit/simulation/stream.h"

enum { STATE_WORDS = 8, SHIFT = 16, POOL = 4 /* default pool size in words */ };
static const uint32_t INIT_A = 0x43b0d7e5, MULTIPLIER_A = 0x931e8875;
static const uint32_t INIT_B = 0x8b51f9dd, MULTIPLIER_B = 0x58f38ded;
static const uint32_t MIX_LEFT = 0xca01f9dd, MIX_RIGHT = 0x4973f715;
static const uint64_t STEP_HIGH = 0x2360ed051fc65da4, STEP_LOW = 0x4385df649fccf645;

static uint32_t power(uint32_t base, uint64_t exponent)
{
    uint32_t result = 1;
    for (; exponent; exponent >>= 1, base *= base)
        if (exponent & 1)
            result *= base;
    return result;
}

static uint32_t folded(uint32_t x) { return x ^ x >> SHIFT; }

/* Hashes a word of the key into a word of the pool; `hash` is the previous power. */
static uint32_t mixed(uint32_t in_pool, uint32_t word, uint32_t hash)
{
    const uint32_t hashed = folded((word ^ hash) * (hash * MULTIPLIER_A));
    return folded(MIX_LEFT * in_pool - MIX_RIGHT * hashed);
}

static void product(uint64_t a, uint64_t b, uint64_t *high, uint64_t *low)
{
#ifdef __SIZEOF_INT128__
    __extension__ const unsigned __int128 both = (unsigned __int128)a * b;
    *high = (uint64_t)(both >> 64);
    *low = (uint64_t)both;
#else
    const uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
    const uint64_t middle = a1 * b0 + (a0 * b0 >> 32), other = a0 * b1 + (uint32_t)middle;
    *high = a1 * b1 + (middle >> 32) + (other >> 32);
    *low = a * b;
#endif
}

static void add(pb_stream *stream, uint64_t high, uint64_t low)
{
    stream->state_low += low;
    stream->state_high += high + (stream->state_low < low);
}

static void step(pb_stream *stream)
{
    uint64_t high, low;
    product(stream->state_low, STEP_LOW, &high, &low);
    stream->state_high = high + stream->state_high * STEP_LOW + stream->state_low * STEP_HIGH;
    stream->state_low = low;
    add(stream, stream->step_high, stream->step_low);
}

void pb_stream_begin(const pb_stream_seeds *seeds, const uint32_t *key, int64_t n_key,
                     pb_stream *stream)
{
    const int64_t size = seeds->pool_size;
    const uint32_t first =
        INIT_A * power(MULTIPLIER_A, (uint64_t)size * (uint64_t)seeds->n_words);
    const uint32_t round = power(MULTIPLIER_A, (uint64_t)size);
    uint32_t pool[STATE_WORDS], words[STATE_WORDS], at = first, hash = INIT_B;
    for (int64_t i = 0; i < size && i < STATE_WORDS; i++, at *= MULTIPLIER_A) {
        uint32_t now = at;
        pool[i] = seeds->pool[i];
        for (int64_t j = 0; j < n_key; j++, now *= round)
            pool[i] = mixed(pool[i], key[j], now);
    }
    for (int64_t i = 0; i < STATE_WORDS; i++) {
        const uint32_t word = pool[i % size] ^ hash;
        hash *= MULTIPLIER_B;
        words[i] = folded(word * hash);
    }
    uint64_t numbers[STATE_WORDS / 2];
    for (int i = 0; i < STATE_WORDS / 2; i++)
        numbers[i] = (uint64_t)words[2 * i + 1] << 32 | words[2 * i];
    *stream = (pb_stream){.step_high = numbers[2] << 1 | numbers[3] >> 63,
                          .step_low = numbers[3] << 1 | 1};
    step(stream);
    add(stream, numbers[0], numbers[1]);
    step(stream);
}

void pb_stream_seed(const uint32_t *words, int64_t n_words, pb_stream *stream)
{
    pb_stream_seeds seeds = {.pool_size = POOL, .n_words = POOL};
    uint32_t hash = INIT_A;
    for (int64_t i = 0; i < POOL; i++, hash *= MULTIPLIER_A)
        seeds.pool[i] = folded(((i < n_words ? words[i] : 0) ^ hash) * (hash * MULTIPLIER_A));
    for (int64_t from = 0; from < POOL; from++)
        for (int64_t to = 0; to < POOL; to++)
            if (to != from) {
                seeds.pool[to] = mixed(seeds.pool[to], seeds.pool[from], hash);
                hash *= MULTIPLIER_A;
            }
    pb_stream_begin(&seeds, words + POOL, n_words > POOL ? n_words - POOL : 0, stream);
}

static uint64_t next_uint64(void *state)
{
    pb_stream *const stream = state;
    step(stream);
    const uint64_t word = stream->state_high ^ stream->state_low;
    const unsigned turn = (unsigned)(stream->state_high >> 58);
    return word >> turn | word << (-turn & 63);
}

static uint32_t next_uint32(void *state)
{
    pb_stream *const stream = state;
    if (stream->has_half) {
        stream->has_half = 0;
        return stream->half;
    }
    const uint64_t word = next_uint64(state);
    stream->has_half = 1;
    stream->half = (uint32_t)(word >> 32);
    return (uint32_t)word;
}

static double next_double(void *state)
{
    return (double)(next_uint64(state) >> 11) * (1.0 / 9007199254740992.0);
}

pb_bitgen pb_stream_bits(pb_stream *stream)
{
    return (pb_bitgen){stream, next_uint64, next_uint32, next_double, next_uint64};
}
