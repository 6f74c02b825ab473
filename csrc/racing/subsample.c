/*
 * Indices without replacement at O(1) per index.
 *
 * The first T entries of a Fisher-Yates shuffle are a uniform ordered sample for any
 * initial arrangement, so each draw starts from the permutation that the last one left.
 * Initialising the permutation is O(N), too expensive for a single draw; a single draw therefore
 * rejects repeated indices with a bitmap. A hash table of the displaced entries is not used
 * because it would have to grow during a race.
 */
#include "pybandit/racing/subsample.h"

#include <math.h>
#include <string.h>

#include "../_shared/minimum.h"
#include "../_shared/prefetch.h"

enum { BATCH = 64 };

static int64_t n_blocks(int64_t size, int64_t run) { return (size + run - 1) / run; }

int64_t pb_subsample_memory(pb_subsample_kind kind, int64_t size, int64_t run)
{
    switch (kind) {
    case PB_SUBSAMPLE_KEYED: return 0;
    case PB_SUBSAMPLE_REJECTION: return (size + 31) / 32;
    default: return n_blocks(size, run);
    }
}

void pb_subsample_init(pb_subsample *subsample, pb_subsample_kind kind, int64_t size,
                       int64_t run, uint32_t *memory)
{
    subsample->kind = kind;
    subsample->size = size;
    subsample->position = 0;
    subsample->memory = memory;
    subsample->run = run;
    subsample->origin = 0;
    if (kind == PB_SUBSAMPLE_KEYED) {
        /* the grid of height * width cells exceeds the population by less than a row */
        subsample->width = (uint32_t)ceil(sqrt((double)size));
        subsample->height = (uint32_t)((size + subsample->width - 1) / subsample->width);
        return;
    }
    if (kind == PB_SUBSAMPLE_REJECTION)
        return;
    const int64_t n = n_blocks(size, run);
    for (int64_t i = 0; i < n; i++)
        memory[i] = (uint32_t)i;
}

void pb_subsample_restart(pb_subsample *subsample, pb_bitgen *bitgen)
{
    if (subsample->kind == PB_SUBSAMPLE_REJECTION && subsample->position > 0)
        memset(subsample->memory, 0,
               sizeof(uint32_t) * (size_t)pb_subsample_memory(subsample->kind,
                                                              subsample->size, 1));
    subsample->position = 0;
    if (subsample->kind == PB_SUBSAMPLE_BLOCKS)
        subsample->origin = pb_bitgen_below(bitgen, (uint32_t)subsample->size);
    if (subsample->kind == PB_SUBSAMPLE_KEYED)
        for (int round = 0; round < PB_SUBSAMPLE_ROUNDS; round++)
            subsample->keys[round] = bitgen->next_uint64(bitgen->state);
}

/* Swaps entry `chosen` of the permutation into place `at`, and returns it. */
static uint32_t settle(uint32_t *permutation, int64_t at, int64_t chosen)
{
    const uint32_t entry = permutation[chosen];
    permutation[chosen] = permutation[at];
    permutation[at] = entry;
    return entry;
}

static void next_of_permutation(pb_subsample *subsample, pb_bitgen *bitgen, int64_t n,
                                int64_t *out)
{
    uint32_t chosen[BATCH];
    for (int64_t done = 0; done < n; done += BATCH) {
        const int64_t at = subsample->position + done;
        const int64_t count = minimum(BATCH, n - done);
        /* positions to swap do not depend on the entries: draw them first, so that the
           second loop does not wait for memory */
        for (int64_t i = 0; i < count; i++) {
            chosen[i] = (uint32_t)(at + i) +
                        pb_bitgen_below(bitgen, (uint32_t)(subsample->size - at - i));
            PREFETCH(subsample->memory + chosen[i]);
        }
        for (int64_t i = 0; i < count; i++)
            out[done + i] = settle(subsample->memory, at + i, chosen[i]);
    }
}

static void next_of_rejection(pb_subsample *subsample, pb_bitgen *bitgen, int64_t n,
                              int64_t *out)
{
    const uint32_t size = (uint32_t)subsample->size;
    for (int64_t i = 0; i < n; i++) {
        uint32_t index, bit;
        do {
            index = pb_bitgen_below(bitgen, size);
            bit = (uint32_t)1 << (index & 31);
        } while (subsample->memory[index >> 5] & bit);
        subsample->memory[index >> 5] |= bit;
        out[i] = index;
    }
}

/*
 * Blocks tile the population from `origin` on, cyclically, so the rows of the shorter last block
 * vary, except for GROUPS. The shorter block is always read last, so every prefix consists of
 * whole blocks.
 */
static void next_of_blocks(pb_subsample *subsample, pb_bitgen *bitgen, int64_t n,
                           int64_t *out)
{
    const int64_t run = subsample->run, size = subsample->size;
    const int64_t n_whole = size / run;
    int64_t position = subsample->position;
    for (int64_t done = 0; done < n;) {
        const int64_t block = position / run, within = position % run;
        if (within == 0 && block < n_whole)
            settle(subsample->memory, block,
                   block + pb_bitgen_below(bitgen, (uint32_t)(n_whole - block)));
        int64_t row = subsample->origin + subsample->memory[block] * run + within;
        if (row >= size)
            row -= size;
        const int64_t count = minimum(minimum(run - within, n - done), size - row);
        for (int64_t i = 0; i < count; i++)
            out[done + i] = row + i;
        done += count;
        position += count;
    }
}

/* splitmix64's finaliser: every input bit reaches every output bit. */
static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* (value + keyed hash of other) mod bound */
static uint32_t shifted(uint32_t value, uint32_t other, uint64_t key, uint32_t bound)
{
    const uint64_t hash = mix(other + key) >> 32;
    const uint64_t sum = value + (hash * bound >> 32);
    return (uint32_t)(sum >= bound ? sum - bound : sum);
}

/* Applies a Feistel network on the grid, again while the result is beyond the population. */
static int64_t keyed_index(const pb_subsample *subsample, int64_t position)
{
    int64_t index = position;
    do {
        uint32_t left = (uint32_t)(index / subsample->width);
        uint32_t right = (uint32_t)(index % subsample->width);
        for (int round = 0; round < PB_SUBSAMPLE_ROUNDS; round += 2) {
            left = shifted(left, right, subsample->keys[round], subsample->height);
            right = shifted(right, left, subsample->keys[round + 1], subsample->width);
        }
        index = (int64_t)left * subsample->width + right;
    } while (index >= subsample->size);
    return index;
}

void pb_subsample_next(pb_subsample *subsample, pb_bitgen *bitgen, int64_t n, int64_t *out)
{
    switch (subsample->kind) {
    case PB_SUBSAMPLE_PERMUTATION:
        next_of_permutation(subsample, bitgen, n, out);
        break;
    case PB_SUBSAMPLE_REJECTION:
        next_of_rejection(subsample, bitgen, n, out);
        break;
    case PB_SUBSAMPLE_BLOCKS:
    case PB_SUBSAMPLE_GROUPS:
        next_of_blocks(subsample, bitgen, n, out);
        break;
    case PB_SUBSAMPLE_KEYED:
        for (int64_t i = 0; i < n; i++)
            out[i] = keyed_index(subsample, subsample->position + i);
        break;
    }
    subsample->position += n;
}

void pb_subsample_rest(pb_subsample *subsample, pb_bitgen *bitgen, int64_t n, int64_t *out)
{
    if (subsample->kind != PB_SUBSAMPLE_PERMUTATION) {
        pb_subsample_next(subsample, bitgen, n, out);
        return;
    }
    for (int64_t i = 0; i < n; i++)
        out[i] = subsample->memory[subsample->position + i];
    subsample->position += n;
}
