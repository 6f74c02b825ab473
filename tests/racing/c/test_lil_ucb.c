#include "../../_shared/c/check.h"

#include "pybandit/racing/lil_ucb.h"

/* lil'UCB with exactly the memory that the header requires. */
typedef struct {
    pb_lil_ucb race;
    uint32_t *bits;
    double *offsets, *ranges;
    uint64_t counter;
    pb_bitgen bitgen;
} fixture;

static void fixture_init(fixture *f, pb_factors factors, double delta, double range)
{
    const int64_t n = factors.n_factors, n_states = factors.n_states;
    const int64_t entries = pb_subsample_memory(PB_SUBSAMPLE_REJECTION, n, 1);
    f->counter = 5;
    f->bitgen = splitmix(&f->counter);
    f->bits = calloc((size_t)(n_states * entries), sizeof *f->bits);
    f->offsets = allocate(n_states, sizeof(double));
    f->ranges = allocate(n_states, sizeof(double));
    f->race = (pb_lil_ucb){
        .factors = factors,
        .offsets = f->offsets,
        .ranges = f->ranges,
        .lil = {delta / 5.0, 0.0, 0.5, 1.0 + 10.0 / (double)n_states, 0.5 * range},
        .subsamples = allocate(n_states, sizeof(pb_subsample)),
        .sums = allocate(n_states, sizeof(double)),
        .low = allocate(n_states, sizeof(double)),
        .high = allocate(n_states, sizeof(double)),
        .pulls = allocate(n_states, sizeof(int64_t)),
        .heap = {allocate(n_states, sizeof(double)), allocate(n_states, sizeof(int64_t)), 0}};
    for (int64_t i = 0; i < n_states; i++) {
        f->offsets[i] = 0.0;
        f->ranges[i] = range;
        pb_subsample_init(&f->race.subsamples[i], PB_SUBSAMPLE_REJECTION, n, 1,
                          f->bits + i * entries);
    }
}

static void fixture_free(fixture *f)
{
    free(f->bits);
    free(f->offsets);
    free(f->ranges);
    free(f->race.subsamples);
    free(f->race.sums);
    free(f->race.low);
    free(f->race.high);
    free(f->race.pulls);
    free(f->race.heap.keys);
    free(f->race.heap.arms);
}

static void bonus(void)
{
    const pb_lil heuristic = {0.05 / 5.0, 0.0, 0.5, 6.0, 1.0};
    assert(close_to(pb_lil_bonus(&heuristic, 1.0), 4.598530315353108, 1e-14));
    assert(close_to(pb_lil_bonus(&heuristic, 100.0), 0.5254986494204222, 1e-15));
    const pb_lil theory = {0.05, 0.01, 1.0, 9.0, 2.0};
    const double level = log(log(1.01 * 7.0 + 2.0) / 0.05);
    assert(close_to(pb_lil_bonus(&theory, 7.0),
                    2.0 * 1.1 * 2.0 * sqrt(2.0 * 1.01 * level / 7.0), 1e-13));
}

static int look_up(const int64_t *factors, int64_t n_factors, const int64_t *states,
                   int64_t n_states, double *out, void *user_data)
{
    const pb_factors *source = user_data;
    assert(n_factors == 1 && n_states == 1);
    *out = ((const double *)source->matrix)[factors[0] * source->n_states + states[0]];
    return 0;
}

static int fail(const int64_t *factors, int64_t n_factors, const int64_t *states,
                int64_t n_states, double *out, void *user_data)
{
    (void)factors, (void)n_factors, (void)states, (void)n_states, (void)out, (void)user_data;
    return 1;
}

/* Case 9 of exact_cases.json: a race takes 8 pulls if it ends early, or all 16. */
static void follows_the_exact_law(void)
{
    enum { N = 8, RUNS = 20000 };
    double matrix[2 * N];
    for (int i = 0; i < N; i++) {
        matrix[2 * i] = i < 5;
        matrix[2 * i + 1] = i < 3;
    }
    pb_factors factors = {N, 2, matrix, NULL, NULL, 0};
    for (int k = 0; k < 2; k++) {
        fixture f;
        fixture_init(&f, k ? (pb_factors){N, 2, NULL, look_up, &factors, 0} : factors, 0.9, 1.0);
        f.offsets[0] = 0.013 * N;
        int64_t early = 0;
        for (int r = 0; r < RUNS; r++) {
            assert(pb_lil_ucb_run(&f.race, &f.bitgen) == PB_OK);
            assert(f.race.winner == 0 && f.race.n_pulls == (f.race.exact ? 16 : 8));
            early += !f.race.exact;
        }
        assert(binomial_fits(early, RUNS, 15.0 / 224.0));
        fixture_free(&f);
    }
}

/* A race run in parts of any size has the same outcome. */
static void runs_in_parts(void)
{
    enum { N = 40, D = 3 };
    double matrix[N * D];
    for (int i = 0; i < N * D; i++)
        matrix[i] = (double)(i * 7 % 11) / 11.0;
    for (int64_t part = 1; part <= 50; part += 7) {
        fixture whole, parts;
        fixture_init(&whole, (pb_factors){N, D, matrix, NULL, NULL, 0}, 0.05, 1.0);
        fixture_init(&parts, (pb_factors){N, D, matrix, NULL, NULL, 0}, 0.05, 1.0);
        assert(pb_lil_ucb_run(&whole.race, &whole.bitgen) == PB_OK && whole.race.ended);
        assert(pb_lil_ucb_begin(&parts.race, &parts.bitgen) == PB_OK && !parts.race.ended);
        int64_t before = parts.race.n_pulls;
        assert(before == D);
        while (!parts.race.ended) {
            assert(pb_lil_ucb_continue(&parts.race, &parts.bitgen, part) == PB_OK);
            assert(parts.race.n_pulls - before <= part);
            before = parts.race.n_pulls;
        }
        assert(parts.race.winner == whole.race.winner && parts.race.exact == whole.race.exact);
        assert(parts.race.n_pulls == whole.race.n_pulls);
        fixture_free(&whole);
        fixture_free(&parts);
    }
}

static void small_worlds_and_failures(void)
{
    double matrix[] = {1.0, 3.0, 2.0};
    pb_factors factors = {1, 3, matrix, NULL, NULL, 0};
    fixture f;
    fixture_init(&f, factors, 0.05, 10.0);
    assert(pb_lil_ucb_run(&f.race, &f.bitgen) == PB_OK);
    assert(f.race.winner == 1 && f.race.exact && f.race.n_pulls == 3);
    f.offsets[1] = f.offsets[0] = -INFINITY;
    assert(pb_lil_ucb_run(&f.race, &f.bitgen) == PB_OK);
    assert(f.race.winner == 2 && f.race.exact && f.race.n_pulls == 0);
    f.offsets[1] = 0.0;
    matrix[1] = NAN;
    assert(pb_lil_ucb_run(&f.race, &f.bitgen) == PB_NOT_FINITE);
    assert(f.race.winner == 1 && f.race.factor == 0 && isnan(f.race.reward));
    f.race.factors = (pb_factors){1, 3, NULL, fail, NULL, 0};
    assert(pb_lil_ucb_run(&f.race, &f.bitgen) == PB_CALLBACK);
    fixture_free(&f);

    double spread[] = {0.0, 0.0, 0.0, 1.0, 0.0, 2.0};  /* state 1 exceeds the range 1 */
    fixture_init(&f, (pb_factors){3, 2, spread, NULL, NULL, 0}, 0.05, 1.0);
    assert(pb_lil_ucb_run(&f.race, &f.bitgen) == PB_RANGE);
    assert(f.race.winner == 1);
    fixture_free(&f);
}

int main(void)
{
    bonus();
    follows_the_exact_law();
    runs_in_parts();
    small_worlds_and_failures();
    return 0;
}
