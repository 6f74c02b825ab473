/*
 * Ranks with a radix sort: one stable pass per group of bits of the mean, least significant
 * first, skipping groups that all keys share. Filling its tables costs as much as comparing
 * a few hundred arms, so fewer arms are sorted by merging.
 */
#include "pybandit/policies/protocol/ranking.h"

#include <string.h>

enum { DIGITS = 6, BITS = 11, VALUES = 1 << BITS, MANY = 512, RUN = 16 };

/* Maps means to integers in decreasing order of the mean; -0 and 0 map to the same integer. */
static uint64_t key_of(double mean)
{
    uint64_t bits;
    const double plain = mean + 0.0;
    memcpy(&bits, &plain, sizeof bits);
    return bits >> 63 ? bits : ~bits & INT64_MAX;
}

static int digit_of(uint64_t key, int digit)
{
    return (int)(key >> (digit * BITS) & (VALUES - 1));
}

static void pass(const pb_ranked *from, pb_ranked *to, int64_t n, int digit, int64_t *counts)
{
    int64_t start = 0;
    for (int value = 0; value < VALUES; value++) {
        const int64_t count = counts[value];
        counts[value] = start;
        start += count;
    }
    for (int64_t i = 0; i < n; i++)
        to[counts[digit_of(from[i].key, digit)]++] = from[i];
}

/* Sorts a run of at most RUN entries by insertion; stable. */
static void insert(pb_ranked *ranked, int64_t n)
{
    for (int64_t i = 1; i < n; i++) {
        const pb_ranked moved = ranked[i];
        int64_t j = i;
        for (; j > 0 && ranked[j - 1].key > moved.key; j--)
            ranked[j] = ranked[j - 1];
        ranked[j] = moved;
    }
}

static void merge(const pb_ranked *left, int64_t n_left, const pb_ranked *right,
                  int64_t n_right, pb_ranked *out)
{
    int64_t i = 0, j = 0;
    while (i < n_left && j < n_right)
        *out++ = right[j].key < left[i].key ? right[j++] : left[i++];
    while (i < n_left)
        *out++ = left[i++];
    while (j < n_right)
        *out++ = right[j++];
}

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

static const pb_ranked *sort_by_merges(pb_ranked *out, pb_ranked *memory, int64_t n)
{
    pb_ranked *from = out, *to = memory;
    for (int64_t start = 0; start < n; start += RUN)
        insert(from + start, least(RUN, n - start));
    for (int64_t run = RUN; run < n; run *= 2) {
        for (int64_t start = 0; start < n; start += 2 * run) {
            const int64_t n_left = least(run, n - start);
            merge(from + start, n_left, from + start + n_left,
                  least(run, n - start - n_left), to + start);
        }
        pb_ranked *const swap = from;
        from = to;
        to = swap;
    }
    return from;
}

static const pb_ranked *sort_by_digits(pb_ranked *out, pb_ranked *memory, int64_t n)
{
    int64_t counts[DIGITS][VALUES];
    memset(counts, 0, sizeof counts);
    for (int64_t i = 0; i < n; i++)
        for (int digit = 0; digit < DIGITS; digit++)
            counts[digit][digit_of(out[i].key, digit)]++;
    pb_ranked *from = out, *to = memory;
    for (int digit = 0; digit < DIGITS; digit++) {
        if (counts[digit][digit_of(out[0].key, digit)] == n)
            continue;
        pass(from, to, n, digit, counts[digit]);
        pb_ranked *const swap = from;
        from = to;
        to = swap;
    }
    return from;
}

void pb_ranking_sort(const int64_t *arms, int64_t n, const double *means, pb_ranked *out,
                     pb_ranked *memory)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = (pb_ranked){key_of(means[arms[i]]), arms[i]};
    const pb_ranked *const sorted =
        n < MANY ? sort_by_merges(out, memory, n) : sort_by_digits(out, memory, n);
    if (sorted != out)
        memcpy(out, sorted, (size_t)n * sizeof *out);
}
