#include "../../_shared/c/check.h"

#include "pybandit/simulation/stream.h"

/* NumPy's values: PCG64(SeedSequence(12345, spawn_key=key)).random_raw(3). */
static const pb_stream_seeds SEEDS = {
    .pool = {0xf293d734, 0xfd668225, 0xf94ff895, 0x872090a0}, .pool_size = 4, .n_words = 4};

static void gives(const pb_stream_seeds *seeds, const uint32_t *key, int64_t n_key,
                  const uint64_t *expected, int n)
{
    pb_stream stream;
    pb_stream_begin(seeds, key, n_key, &stream);
    pb_bitgen bits = pb_stream_bits(&stream);
    for (int i = 0; i < n; i++)
        assert((i % 2 ? bits.next_raw : bits.next_uint64)(bits.state) == expected[i]);
}

static void equals_numpy(void)
{
    gives(&SEEDS, (uint32_t[]){0}, 1,
          (uint64_t[]){0xdeb83ea4398640ad, 0x8f95f3c8c2793734, 0x38b87aa8d94d266c}, 3);
    gives(&SEEDS, (uint32_t[]){7}, 1,
          (uint64_t[]){0xfba78aac26b006a5, 0xb16a68eccba0f932, 0x1a32bd504477421c}, 3);
    gives(&SEEDS, (uint32_t[]){7, 0x61726d73, 3}, 3,
          (uint64_t[]){0x2578e141ab58b678, 0xccdf33e3a5c2f74f, 0x1eb09e9e60f7788a}, 3);
}

/* SeedSequence([1, 2, 3, 4, 5, 6], pool_size=9, spawn_key=(2,)): a pool of nine words. */
static void equals_numpy_with_a_larger_pool(void)
{
    const pb_stream_seeds seeds = {
        .pool = {0xb53173c8, 0x93f73a00, 0x42c511b3, 0xbac1cae4, 0xc7d90ad9, 0x385eb034,
                 0x45a5ed67, 0xd61add7},
        .pool_size = 9, .n_words = 9};
    gives(&seeds, (uint32_t[]){2}, 1, (uint64_t[]){0x4fc7543c3c58d652, 0x2fee5347db3debc6}, 2);
}

/* next_uint32 returns the lower half first, then the upper; a double uses the upper 53 bits. */
static void halves_and_doubles(void)
{
    pb_stream stream;
    pb_stream_begin(&SEEDS, (uint32_t[]){7}, 1, &stream);
    pb_bitgen bits = pb_stream_bits(&stream);
    assert(bits.next_uint32(bits.state) == 0x26b006a5);
    assert(bits.next_uint64(bits.state) == 0xb16a68eccba0f932);
    assert(bits.next_uint32(bits.state) == 0xfba78aac);
    assert(bits.next_uint32(bits.state) == 0x4477421c);
    pb_stream_begin(&SEEDS, (uint32_t[]){7}, 1, &stream);
    assert(bits.next_double(bits.state) == 0.9830252332964733);
}

/* Checks that a stream seeded by `words` gives PCG64(SeedSequence(words)).random_raw(3). */
static void seeded(const uint32_t *words, int64_t n, const uint64_t *expected)
{
    pb_stream stream;
    pb_stream_seed(words, n, &stream);
    pb_bitgen bits = pb_stream_bits(&stream);
    for (int i = 0; i < 3; i++)
        assert(bits.next_uint64(bits.state) == expected[i]);
}

static void seeds_are_numpys(void)
{
    seeded((uint32_t[]){0}, 0,
           (uint64_t[]){0xa30febcfd9c2825f, 0x4510bdf882d9d721, 0xa7d3da94ecde8b8});
    seeded((uint32_t[]){5}, 1,
           (uint64_t[]){0xce14abeeabb8e5a8, 0xced5352505cc99f5, 0x83ec603f7806adc0});
    seeded((uint32_t[]){1, 2, 3, 4}, 4,
           (uint64_t[]){0x7bcebf241ec1bc7, 0xf1dbfe8e420800f6, 0x3ee8356360850f29});
    seeded((uint32_t[]){1, 2, 3, 4, 5, 6, 7, 8}, 8,
           (uint64_t[]){0x32e8432732959c02, 0xcb825c3213ada2d4, 0x9ee6703c979b74fc});
    seeded((uint32_t[]){9, 8, 7, 6, 5, 4, 3}, 7,
           (uint64_t[]){0x816d99b036aa94ad, 0x7ee4d23b47686cad, 0x9c774ddb71a5b4bd});
}

int main(void)
{
    seeds_are_numpys();
    equals_numpy();
    equals_numpy_with_a_larger_pool();
    halves_and_doubles();
    return 0;
}
