#include "../../_shared/c/check.h"

#include "pybandit/racing/accept.h"

enum { MAX_LOOKS = 40 };

/* A test with doubling looks and exactly the memory that the header requires. */
typedef struct {
    pb_accept accept;
    pb_subsample subsample;
    int64_t rows[MAX_LOOKS];
    double scale[MAX_LOOKS], slack[MAX_LOOKS];
    uint64_t counter;
    pb_bitgen bitgen;
} fixture;

static void fixture_init(fixture *f, pb_factors factors, int64_t first_look, double boundary,
                         int64_t block)
{
    const int64_t n = factors.n_factors;
    int64_t looks = 0;
    for (int64_t rows = first_look; rows < n; rows *= 2)
        f->rows[looks++] = rows;
    f->rows[looks++] = n;
    for (int64_t t = 0; t < looks; t++) {
        const double read = (double)f->rows[t];
        f->scale[t] = n == 1 ? 0.0
                             : boundary * sqrt((1.0 - (read - 1.0) / ((double)n - 1.0)) / read);
        f->slack[t] = 0.0;
    }
    f->counter = 5;
    f->bitgen = splitmix(&f->counter);
    uint32_t *permutation = allocate(
        pb_subsample_memory(PB_SUBSAMPLE_PERMUTATION, n, 1), sizeof *permutation);
    pb_subsample_init(&f->subsample, PB_SUBSAMPLE_PERMUTATION, n, 1, permutation);
    f->accept = (pb_accept){.factors = factors,
                            .schedule = {looks, f->rows, f->scale, f->slack, NULL},
                            .subsample = &f->subsample,
                            .block = block,
                            .indices = allocate(block, sizeof(int64_t)),
                            .ratios = allocate(block, sizeof(double))};
}

static void fixture_free(fixture *f)
{
    free(f->subsample.memory);
    free(f->accept.indices);
    free(f->accept.ratios);
}

static pb_status run(fixture *f, double log_threshold)
{
    return pb_accept_run(&f->accept, log_threshold, &f->bitgen);
}

static int look_up(const int64_t *factors, int64_t n_factors, const int64_t *states,
                   int64_t n_states, double *out, void *user_data)
{
    const pb_factors *source = user_data;
    assert(n_states == 1 && states[0] == 0);
    for (int64_t f = 0; f < n_factors; f++)
        out[f] = ((const double *)source->matrix)[factors[f]];
    return 0;
}

static pb_factors as_function(pb_factors *matrix)
{
    return (pb_factors){matrix->n_factors, 1, NULL, look_up, matrix, 0};
}

/* With a boundary too wide for any decision, the full sum decides and ties reject. */
static void the_sum_decides(void)
{
    enum { N = 1000 };
    double values[N], sum = 0.0;
    for (int i = 0; i < N; i++) {
        values[i] = (double)((i * 7919) % 101 - 50);
        sum += values[i];
    }
    pb_factors factors = {N, 1, values, NULL, NULL, 0};
    for (int k = 0; k < 4; k++) {
        fixture f;
        fixture_init(&f, k & 1 ? as_function(&factors) : factors, 50, 1e9, k / 2 ? 1 : 300);
        for (int step = -1; step <= 1; step++) {
            assert(run(&f, sum + step) == PB_OK);
            assert(f.accept.accepted == (step < 0) && f.accept.exact);
            assert(f.accept.n_evaluations == N);
            assert(f.accept.n_looks == f.accept.schedule.n_looks);
        }
        fixture_free(&f);
    }
}

/* Adding the same number to the total and to the threshold changes no decision at any look. */
static void a_total_moves_the_threshold(void)
{
    enum { N = 1000 };
    double values[N], sum = 0.0, total = 12345.0;
    for (int i = 0; i < N; i++) {
        values[i] = (double)((i * 7919) % 101 - 50);
        sum += values[i];
    }
    for (int k = 0; k < 2; k++) {
        fixture plain, moved;
        fixture_init(&plain, (pb_factors){N, 1, values, NULL, NULL, 0}, 50, k ? 1e9 : 2.0, 300);
        fixture_init(&moved, (pb_factors){N, 1, values, NULL, NULL, 0}, 50, k ? 1e9 : 2.0, 300);
        moved.accept.total = &total;
        for (int step = -2; step <= 2; step++) {
            const double threshold = sum + (k ? 1.0 : 400.0) * step;
            assert(run(&plain, threshold) == PB_OK && run(&moved, threshold + total) == PB_OK);
            assert(moved.accept.accepted == plain.accept.accepted);
            assert(moved.accept.n_evaluations == plain.accept.n_evaluations);
        }
        fixture_free(&plain);
        fixture_free(&moved);
    }
}

/* An infinite threshold is decided without reading. */
static void infinite_thresholds_read_nothing(void)
{
    double one = 3.0;
    fixture f;
    fixture_init(&f, (pb_factors){1, 1, &one, NULL, NULL, 0}, 50, 2.0, 1);
    for (int sign = -1; sign <= 1; sign += 2) {
        assert(run(&f, (double)sign * INFINITY) == PB_OK);
        assert(f.accept.accepted == (sign < 0) && f.accept.exact);
        assert(f.accept.n_evaluations == 0 && f.accept.n_looks == 0);
    }
    assert(run(&f, 2.5) == PB_OK);
    assert(f.accept.accepted && f.accept.exact && f.accept.n_evaluations == 1);
    fixture_free(&f);
}

/* Tests the differences of case 1 of exact_cases.json: 420 outcomes with known probabilities. */
static void follows_the_exact_law(void)
{
    enum { N = 8, TESTS = 20000 };
    double values[N] = {3 - 9, 6 + 8, -9 + 4, 6 + 2, -1 - 1, 0 + 2, 2 + 7, -4 + 9};
    pb_factors factors = {N, 1, values, NULL, NULL, 0};
    for (int k = 0; k < 2; k++) {
        fixture f;
        fixture_init(&f, k ? as_function(&factors) : factors, 2, 1.5, 3);
        int64_t wrong = 0, first = 0, second = 0;
        for (int test = 0; test < TESTS; test++) {
            assert(run(&f, 0.0) == PB_OK);
            wrong += !f.accept.accepted;
            first += f.accept.n_looks == 1;
            second += f.accept.n_looks == 2;
        }
        assert(binomial_fits(wrong, TESTS, 4.0 / 35.0));
        assert(binomial_fits(first, TESTS, 13.0 / 28.0));
        assert(binomial_fits(second, TESTS, 5.0 / 28.0));
        fixture_free(&f);
    }
}

static int fail(const int64_t *factors, int64_t n_factors, const int64_t *states,
                int64_t n_states, double *out, void *user_data)
{
    (void)factors, (void)n_factors, (void)states, (void)n_states, (void)out, (void)user_data;
    return 1;
}

static int leave_out(const int64_t *factors, int64_t n_factors, const int64_t *states,
                     int64_t n_states, double *out, void *user_data)
{
    return look_up(factors, n_factors - 1, states, n_states, out, user_data);
}

/* Each failure is reported with its factor, and the memory stays usable for the next test. */
static void failures(void)
{
    enum { N = 400 };
    double values[N];
    uint64_t counter = 3;
    for (int i = 0; i < N; i++)
        values[i] = splitmix_double(&counter);
    pb_factors factors = {N, 1, values, NULL, NULL, 0};
    const double kept = values[7], bad[] = {NAN, INFINITY, -INFINITY};
    for (int k = 0; k < 2; k++) {
        fixture f;
        fixture_init(&f, k ? as_function(&factors) : factors, 50, 1e9, 64);
        for (int i = 0; i < 3; i++) {
            values[7] = bad[i];
            assert(run(&f, 0.0) == PB_NOT_FINITE);
            assert(f.accept.bad_factor == 7);
            assert(isnan(bad[i]) ? isnan(f.accept.bad_ratio) : f.accept.bad_ratio == bad[i]);
        }
        values[7] = kept;
        f.accept.range = 1.0;
        assert(run(&f, 0.0) == PB_OK && f.accept.accepted);
        f.accept.range = 0.5;
        assert(run(&f, 0.0) == PB_RANGE);
        f.accept.range = 0.0;
        if (k) {
            f.accept.factors.function = fail;
            assert(run(&f, 0.0) == PB_CALLBACK);
            f.accept.factors.function = leave_out;
            assert(run(&f, 0.0) == PB_NOT_FINITE && isnan(f.accept.bad_ratio));
        }
        fixture_free(&f);
    }
}

/* A bet decides correctly: early if the mean is far from the threshold, else after all factors. */
static void betting(void)
{
    enum { N = 5000, BETS = 4 };
    double values[N], sum = 0.0;
    uint64_t counter = 3;
    for (int i = 0; i < N; i++)
        sum += values[i] = splitmix_double(&counter);
    const double bets[BETS] = {0.1, 0.3, 1.0, 2.0}, shares[BETS] = {0.25, 0.25, 0.25, 0.25};
    pb_threshold threshold = {
        .bets = {PB_MIX_PRODUCT, BETS, bets, shares, NULL},
        .items = {N, 0.0, 1.0, 1.0, NULL},
        .threshold = 1e5,
        .n_arms = 1,
    };
    int64_t integers[3];
    double one_sum;
    threshold.memory = allocate(2 * pb_bets_memory(&threshold.bets), sizeof(double));
    threshold.verdicts = integers;
    threshold.arms = integers + 1;
    threshold.columns = integers + 2;
    threshold.sums = &one_sum;
    pb_factors factors = {N, 1, values, NULL, NULL, 0};
    for (int k = 0; k < 2; k++) {
        fixture f;
        fixture_init(&f, k ? as_function(&factors) : factors, 32, 0.0, 100);
        f.accept.betting = &threshold;
        for (int sign = -1; sign <= 1; sign += 2) {
            assert(run(&f, sum + sign * 0.2 * N) == PB_OK);
            assert(f.accept.accepted == (sign < 0) && !f.accept.exact);
            assert(f.accept.n_evaluations < 500);
            assert(run(&f, sum + sign * 1e-6) == PB_OK);
            assert(f.accept.accepted == (sign < 0) && f.accept.exact);
            assert(f.accept.n_evaluations == N);
            assert(run(&f, sign < 0 ? -0.1 : N) == PB_OK);
            assert(f.accept.accepted == (sign < 0) && f.accept.n_evaluations == 0);
        }
        const double kept = values[11];
        values[11] = 1.5;
        assert(run(&f, sum) == PB_RANGE);
        assert(f.accept.bad_factor == 11 && f.accept.bad_ratio == 1.5);
        values[11] = kept;
        fixture_free(&f);
    }
    free(threshold.memory);
}

/* If all ratios but four are equal, nothing is decided early; the paper's test would decide. */
static void equal_values_are_no_evidence(void)
{
    enum { N = 400 };
    double values[N], unit[MAX_LOOKS];
    for (int i = 0; i < N; i++)
        values[i] = i < 4 ? 300.0 : -1.0;
    for (int t = 0; t < MAX_LOOKS; t++)
        unit[t] = 0.1;
    pb_factors factors = {N, 1, values, NULL, NULL, 0};
    fixture f;
    fixture_init(&f, factors, 50, 2.0, 64);
    int64_t wrong = 0;
    for (int test = 0; test < 200; test++) {
        f.accept.schedule.unit = unit;
        assert(run(&f, 0.0) == PB_OK && f.accept.accepted && f.accept.exact);
        f.accept.schedule.unit = NULL;
        assert(run(&f, 0.0) == PB_OK);
        wrong += !f.accept.accepted;
    }
    assert(wrong > 50);
    fixture_free(&f);
}

/* A test in one block of memory decides like one with separately allocated parts. */
static void uses_one_block_of_memory(void)
{
    enum { N = 30000 };
    double *values = allocate(N, sizeof *values);
    uint64_t random = 9;
    for (int i = 0; i < N; i++)
        values[i] = splitmix_double(&random) - 0.49;
    pb_factors matrix = {N, 1, values, NULL, NULL, 0};
    const pb_factors kinds[] = {matrix, as_function(&matrix)};
    const pb_subsample_kind orders[] = {PB_SUBSAMPLE_PERMUTATION, PB_SUBSAMPLE_REJECTION,
                                        PB_SUBSAMPLE_KEYED};
    for (int k = 0; k < 2; k++) {
        fixture f;
        fixture_init(&f, kinds[k], 50, 2.5, kinds[k].matrix ? 1024 : 16384);
        void *memory = allocate(pb_accept_memory(&kinds[k], PB_SUBSAMPLE_PERMUTATION), 1);
        pb_accept made;
        pb_accept_init(&made, &kinds[k], &f.accept.schedule, PB_SUBSAMPLE_PERMUTATION, memory);
        assert(made.status == PB_OK && !made.total && !made.betting && made.range == 0.0);
        uint64_t counter = 5;
        pb_bitgen bitgen = splitmix(&counter);
        for (double threshold = -3000.0; threshold < 3000.0; threshold += 400.0) {
            int64_t accepted = -1, read = -1;
            assert(run(&f, threshold) == PB_OK);
            assert(pb_accept_decide(&made, threshold, &bitgen, &accepted, &read) == PB_OK);
            assert(accepted == f.accept.accepted && read == f.accept.n_evaluations);
        }
        free(memory);
        for (int order = 0; order < 3; order++) {  /* all orders use this one block of memory */
            memory = allocate(pb_accept_memory(&kinds[k], orders[order]), 1);
            pb_accept_init(&made, &kinds[k], &f.accept.schedule, orders[order], memory);
            int64_t accepted, read;
            for (double threshold = -9000.0; threshold < 9000.0; threshold += 100.0)
                assert(pb_accept_decide(&made, threshold, &bitgen, &accepted, &read) == PB_OK &&
                       (accepted == 0 || accepted == 1) && read >= 50 && read <= N);
            assert(pb_accept_decide(&made, -9000.0, &bitgen, &accepted, &read) == PB_OK);
            assert(accepted && read < N);
            free(memory);
        }
        fixture_free(&f);
    }
    values[0] = NAN;
    fixture f;
    int64_t accepted = -1, read = -1;
    fixture_init(&f, matrix, 50, 1e9, 1024);
    assert(pb_accept_decide(&f.accept, 0.0, &f.bitgen, &accepted, &read) == PB_NOT_FINITE);
    assert(accepted == 0 && read >= 50 && read <= N);
    fixture_free(&f);
    free(values);
}

int main(void)
{
    uses_one_block_of_memory();
    equal_values_are_no_evidence();
    the_sum_decides();
    a_total_moves_the_threshold();
    infinite_thresholds_read_nothing();
    follows_the_exact_law();
    failures();
    betting();
    return 0;
}
