#include "../../_shared/c/check.h"

#include "pybandit/racing/subsample.h"

typedef struct {
    pb_subsample stream;
    uint32_t *memory;
    uint64_t counter;
    pb_bitgen bitgen;
} source;

static void source_init(source *s, pb_subsample_kind kind, int64_t size, int64_t run)
{
    const int64_t n = pb_subsample_memory(kind, size, run);
    s->memory = allocate(n, sizeof *s->memory);
    for (int64_t i = 0; i < n; i++)
        s->memory[i] = kind == PB_SUBSAMPLE_REJECTION ? 0 : UINT32_MAX;
    s->counter = 42;
    s->bitgen = splitmix(&s->counter);
    pb_subsample_init(&s->stream, kind, size, run, s->memory);
}

static const pb_subsample_kind kinds[] = {PB_SUBSAMPLE_PERMUTATION, PB_SUBSAMPLE_BLOCKS,
                                          PB_SUBSAMPLE_KEYED, PB_SUBSAMPLE_REJECTION,
                                          PB_SUBSAMPLE_GROUPS};

static int64_t run_of(pb_subsample_kind kind)
{
    return kind == PB_SUBSAMPLE_BLOCKS || kind == PB_SUBSAMPLE_GROUPS ? 5 : 1;
}

/* Each order holds every index once, before and after restarts. */
static void whole_orders(pb_subsample_kind kind, int64_t size)
{
    source s;
    source_init(&s, kind, size, run_of(kind));
    int64_t *indices = allocate(size, sizeof *indices);
    char *seen = allocate(size, 1);
    for (int order = 0; order < 3; order++) {
        memset(seen, 0, (size_t)size);
        pb_subsample_restart(&s.stream, &s.bitgen);
        pb_subsample_next(&s.stream, &s.bitgen, size, indices);
        for (int64_t i = 0; i < size; i++) {
            assert(indices[i] >= 0 && indices[i] < size);
            assert(!seen[indices[i]]++);
        }
    }
    free(indices);
    free(seen);
    free(s.memory);
}

/* An order is the same however many indices each call requests. */
static void calls_do_not_change_the_order(pb_subsample_kind kind)
{
    enum { SIZE = 203 };
    source whole, cut;
    source_init(&whole, kind, SIZE, run_of(kind));
    source_init(&cut, kind, SIZE, run_of(kind));
    int64_t expected[SIZE], got[SIZE];
    for (int order = 0; order < 3; order++) {
        pb_subsample_restart(&whole.stream, &whole.bitgen);
        pb_subsample_restart(&cut.stream, &cut.bitgen);
        pb_subsample_next(&whole.stream, &whole.bitgen, SIZE, expected);
        for (int64_t at = 0, n = 0; at < SIZE; at += n, n = 2 * n + 1) {
            n = n < SIZE - at ? n : SIZE - at;
            pb_subsample_next(&cut.stream, &cut.bitgen, n, got + at);
        }
        assert(memcmp(expected, got, sizeof got) == 0);
    }
    free(whole.memory);
    free(cut.memory);
}

/* The k-th index of an order is uniform, given the earlier orders. */
static void every_position_is_uniform(pb_subsample_kind kind)
{
    enum { SIZE = 13, PREFIX = 4, ORDERS = 40000 };
    source s;
    source_init(&s, kind, SIZE, run_of(kind));
    int64_t counts[PREFIX][SIZE] = {{0}}, indices[PREFIX];
    for (int order = 0; order < ORDERS; order++) {
        pb_subsample_restart(&s.stream, &s.bitgen);
        pb_subsample_next(&s.stream, &s.bitgen, PREFIX, indices);
        for (int k = 0; k < PREFIX; k++)
            counts[k][indices[k]]++;
    }
    for (int k = 0; k < PREFIX; k++)
        for (int i = 0; i < SIZE; i++)
            assert(binomial_fits(counts[k][i], ORDERS, 1.0 / SIZE));
    free(s.memory);
}

/* Within a block, indices are consecutive. */
static void blocks_are_runs(void)
{
    enum { SIZE = 100, RUN = 10 };
    source s;
    source_init(&s, PB_SUBSAMPLE_BLOCKS, SIZE, RUN);
    int64_t indices[SIZE];
    pb_subsample_restart(&s.stream, &s.bitgen);
    pb_subsample_next(&s.stream, &s.bitgen, SIZE, indices);
    for (int i = 0; i < SIZE; i++)
        if (i % RUN)
            assert(indices[i] == (indices[i - 1] + 1) % SIZE);
    free(s.memory);
}

/* Groups start at 0 and come in uniformly random order; a shorter group comes last. */
static void groups_are_whole(void)
{
    enum { SIZE = 23, RUN = 5, WHOLE = SIZE / RUN, ORDERS = 40000 };
    source s;
    source_init(&s, PB_SUBSAMPLE_GROUPS, SIZE, RUN);
    int64_t counts[WHOLE][WHOLE] = {{0}}, indices[SIZE];
    for (int order = 0; order < ORDERS; order++) {
        pb_subsample_restart(&s.stream, &s.bitgen);
        pb_subsample_next(&s.stream, &s.bitgen, SIZE, indices);
        for (int i = 0; i < SIZE; i++)
            assert(i % RUN ? indices[i] == indices[i - 1] + 1 : indices[i] % RUN == 0);
        assert(indices[SIZE - 1] == SIZE - 1);
        for (int k = 0; k < WHOLE; k++)
            counts[k][indices[k * RUN] / RUN]++;
    }
    for (int k = 0; k < WHOLE; k++)
        for (int i = 0; i < WHOLE; i++)
            assert(binomial_fits(counts[k][i], ORDERS, 1.0 / WHOLE));
    free(s.memory);
}

static int by_value(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void keyed_holds_no_memory(void)
{
    enum { N = 10000 };
    const int64_t sizes[] = {(int64_t)1 << 40, ((int64_t)1 << 40) - 1, (int64_t)1 << 62};
    for (int k = 0; k < 3; k++) {
        source s;
        assert(pb_subsample_memory(PB_SUBSAMPLE_KEYED, sizes[k], 1) == 0);
        source_init(&s, PB_SUBSAMPLE_KEYED, sizes[k], 1);
        int64_t *indices = allocate(N, sizeof *indices);
        pb_subsample_restart(&s.stream, &s.bitgen);
        pb_subsample_next(&s.stream, &s.bitgen, N, indices);
        int64_t lower = 0;
        for (int i = 0; i < N; i++) {
            assert(indices[i] >= 0 && indices[i] < sizes[k]);
            lower += indices[i] < sizes[k] / 2;
        }
        assert(binomial_fits(lower, N, 0.5));
        qsort(indices, N, sizeof *indices, by_value);
        for (int i = 1; i < N; i++)
            assert(indices[i] != indices[i - 1]);
        free(indices);
        free(s.memory);
    }
}

/* pb_subsample_rest returns each unread index once; PERMUTATION draws no random numbers. */
static void reads_the_rest(pb_subsample_kind kind)
{
    enum { SIZE = 65 };
    source s;
    source_init(&s, kind, SIZE, run_of(kind));
    int64_t indices[SIZE];
    for (int64_t taken = 0; taken <= SIZE; taken += 13) {
        char seen[SIZE] = {0};
        pb_subsample_restart(&s.stream, &s.bitgen);
        pb_subsample_next(&s.stream, &s.bitgen, taken, indices);
        const uint64_t before = s.counter;
        for (int64_t at = taken; at < SIZE; at += 13)
            pb_subsample_rest(&s.stream, &s.bitgen, 13, indices + at);
        assert(kind != PB_SUBSAMPLE_PERMUTATION || s.counter == before);
        for (int64_t i = 0; i < SIZE; i++) {
            assert(indices[i] >= 0 && indices[i] < SIZE && !seen[indices[i]]);
            seen[indices[i]] = 1;
        }
    }
    free(s.memory);
}

int main(void)
{
    const int64_t sizes[] = {1, 2, 3, 5, 7, 64, 65, 128, 1000};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        for (int i = 0; i < 9; i++)
            whole_orders(kinds[k], sizes[i]);
        calls_do_not_change_the_order(kinds[k]);
        if (kinds[k] != PB_SUBSAMPLE_GROUPS)
            every_position_is_uniform(kinds[k]);
        reads_the_rest(kinds[k]);
    }
    blocks_are_runs();
    groups_are_whole();
    keyed_holds_no_memory();
    return 0;
}
