/* Races of arms with separate factors, and lil'UCB: they end, and read no factor twice. */
#include "fuzz.h"

#include "pybandit/racing/lil_ucb.h"
#include "pybandit/racing/populations.h"

enum { MOST_ARMS = 5, MOST_N = 60 };

typedef struct {
    double values[MOST_ARMS][MOST_N];
    unsigned char asked[MOST_ARMS][MOST_N];
    int64_t sizes[MOST_ARMS], n_calls, fails_at;
} world;

static int look_up(const int64_t *factors, int64_t n_factors, const int64_t *states,
                   int64_t n_states, double *out, void *data)
{
    world *w = data;
    HOLDS(n_states == 1 && states[0] >= 0 && states[0] < MOST_ARMS && n_factors >= 1);
    if (w->n_calls++ == w->fails_at)
        return 3;
    for (int64_t i = 0; i < n_factors; i++) {
        HOLDS(factors[i] >= 0 && factors[i] < w->sizes[states[0]]);
        HOLDS(!w->asked[states[0]][factors[i]]);
        w->asked[states[0]][factors[i]] = 1;
        out[i] = w->values[states[0]][factors[i]];
    }
    return 0;
}

static void orders(choices *c, pool *p, const world *w, int64_t n, pb_subsample *subsamples)
{
    const pb_subsample_kind kind = choose_byte(c) & 1 ? PB_SUBSAMPLE_PERMUTATION
                                                      : PB_SUBSAMPLE_REJECTION;
    for (int64_t i = 0; i < n; i++)
        if (w->sizes[i])
            pb_subsample_init(subsamples + i, kind, w->sizes[i], 1,
                              ZEROS(p, pb_subsample_memory(kind, w->sizes[i], 1), uint32_t));
}

static void check_status(pb_status status, const world *w, int is_odd)
{
    HOLDS(status == PB_OK || (status == PB_CALLBACK && w->fails_at >= 0) ||
          ((status == PB_NOT_FINITE || status == PB_RANGE) && is_odd));
}

static void populations(choices *c, pool *p, world *w, int64_t n, const double *offsets,
                        pb_bitgen *bitgen, int is_odd)
{
    const double *values[MOST_ARMS];
    int64_t sum = 0;
    const int64_t block = choose(c, 1, 30);
    const uint8_t flags = choose_byte(c);
    for (int64_t i = 0; i < n; i++) {
        values[i] = w->values[i];
        w->sizes[i] = choose(c, 0, MOST_N);
        sum += w->sizes[i];
    }
    pb_populations race = {.n_arms = n, .sizes = w->sizes, .values = flags & 1 ? values : NULL,
                           .function = look_up, .user_data = w, .offsets = offsets,
                           .boundary = 0.5 + 5.0 * choose_unit(c), .student = flags & 2 ? 1 : 0,
                           .first_look = choose(c, 2, 20),
                           .subsamples = TAKE(p, n, pb_subsample), .block = block,
                           .indices = TAKE(p, block, int64_t), .rewards = TAKE(p, block, double),
                           .alive = TAKE(p, n, int64_t), .columns = TAKE(p, n, pb_column)};
    orders(c, p, w, n, race.subsamples);
    const pb_status status = pb_populations_run(&race, bitgen);
    check_status(status, w, is_odd);
    HOLDS(race.n_evaluations >= 0 && race.n_evaluations <= sum);
    if (status == PB_OK)
        HOLDS(race.winner >= 0 && race.winner < n && offsets[race.winner] > -INFINITY);
    for (int64_t read = 0, size = w->sizes[0], next; read < size; read = next) {
        next = pb_populations_next(size, race.first_look, read);
        HOLDS(next > read && next <= size);
    }
}

static void lil_ucb(choices *c, pool *p, world *w, int64_t n, const double *offsets,
                    pb_bitgen *bitgen, int is_odd)
{
    const int64_t size = choose(c, 1, MOST_N);
    double *ranges = TAKE(p, n, double);
    for (int64_t i = 0; i < n; i++) {
        w->sizes[i] = size;
        ranges[i] = 2000.0;
    }
    if (is_odd)
        ranges[0] = choose_unit(c);
    pb_lil_ucb race = {.factors = {size, n, NULL, look_up, w}, .offsets = offsets, .ranges = ranges,
                       .lil = {0.2 * choose_unit(c), 0.0, 0.5, 1.0 + 10.0 / (double)n,
                               choose_unit(c)},
                       .subsamples = TAKE(p, n, pb_subsample), .sums = TAKE(p, n, double),
                       .low = TAKE(p, n, double), .high = TAKE(p, n, double),
                       .pulls = TAKE(p, n, int64_t),
                       .heap = {TAKE(p, n, double), TAKE(p, n, int64_t), 0}};
    HOLDS(pb_lil_bonus(&race.lil, 1.0) >= pb_lil_bonus(&race.lil, 100.0));
    orders(c, p, w, n, race.subsamples);
    pb_status status = choose_byte(c) & 1 ? pb_lil_ucb_run(&race, bitgen)
                                          : pb_lil_ucb_begin(&race, bitgen);
    for (int64_t calls = 0; status == PB_OK && !race.ended; calls++) {
        HOLDS(calls <= n * size);
        status = pb_lil_ucb_continue(&race, bitgen, choose(c, 1, 20));
    }
    check_status(status, w, is_odd);
    HOLDS(race.n_pulls <= n * size && race.winner >= 0 && race.winner < n);
    if (status == PB_OK)
        HOLDS(offsets[race.winner] > -INFINITY);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static world w;
    choices c = {bytes, bytes + size};
    pool p = {.n = 0};
    const int64_t n = choose(&c, 1, MOST_ARMS), flags = choose(&c, 0, 255);
    uint64_t counter = choose_bits(&c);
    pb_bitgen bitgen = fuzz_bitgen(&counter);
    double *offsets = TAKE(&p, n, double);
    for (int64_t i = 0; i < n; i++) {
        offsets[i] = i && choose_byte(&c) < 32 ? -INFINITY : choose_number(&c, 1e3);
        choose_numbers(&c, w.values[i], MOST_N, 900.0);
        memset(w.asked[i], 0, MOST_N);
    }
    w.n_calls = 0;
    w.fails_at = (flags & 6) == 6 ? choose(&c, 0, 40) : -1;
    const int is_odd = (flags & 24) == 24;
    if (is_odd)
        w.values[choose(&c, 0, n - 1)][choose(&c, 0, MOST_N - 1)] = flags & 32 ? NAN : 1e200;
    if (flags & 1)
        populations(&c, &p, &w, n, offsets, &bitgen, is_odd);
    else
        lil_ucb(&c, &p, &w, n, offsets, &bitgen, is_odd);
    pool_free(&p);
    return 0;
}
