#include "../../_shared/c/check.h"

#include "pybandit/racing/race.h"

enum { MAX_LOOKS = 40 };

/* A race with doubling looks and exactly the memory that the headers require. */
typedef struct {
    pb_race race;
    pb_subsample subsample;
    int64_t rows[MAX_LOOKS];
    double scale[MAX_LOOKS], slack[MAX_LOOKS];
    double *offsets;
    uint64_t counter;
    pb_bitgen bitgen;
} fixture;

static void fixture_init(fixture *f, pb_factors factors, int64_t first_look, double boundary)
{
    const int64_t n = factors.n_factors, n_states = factors.n_states;
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
    f->offsets = allocate(n_states, sizeof *f->offsets);
    for (int64_t i = 0; i < n_states; i++)
        f->offsets[i] = 0.0;
    f->race = (pb_race){.factors = factors,
                        .schedule = {looks, f->rows, f->scale, f->slack, NULL},
                        .subsample = &f->subsample,
                        .offsets = f->offsets,
                        .pairwise = 1,
                        .states = allocate(n_states, sizeof(int64_t)),
                        .kept = allocate(n_states, sizeof(int64_t)),
                        .moments_memory = allocate(7 * n_states, sizeof(double))};
}

static void fixture_free(fixture *f)
{
    free(f->subsample.memory);
    free(f->offsets);
    free(f->race.states);
    free(f->race.kept);
    free(f->race.moments_memory);
    free(f->race.indices);
    free(f->race.rewards);
}

static void *grown(void *memory, int64_t n, size_t size)
{
    void *larger = realloc(memory, (size_t)n * size);
    assert(larger);
    return larger;
}

/* Runs one race. Its memory grows exactly to the requested size. */
static pb_status run(fixture *f)
{
    pb_race *race = &f->race;
    pb_race_begin(race, &f->bitgen);
    pb_status status = pb_race_run(race, &f->bitgen);
    while (status == PB_GROW) {
        assert(race->needed_indices > race->indices_capacity ||
               race->needed_rewards > race->rewards_capacity);
        if (race->needed_indices > race->indices_capacity) {
            race->indices = grown(race->indices, race->needed_indices, sizeof(int64_t));
            race->indices_capacity = race->needed_indices;
        }
        if (race->needed_rewards > race->rewards_capacity) {
            race->rewards = grown(race->rewards, race->needed_rewards, sizeof(double));
            race->rewards_capacity = race->needed_rewards;
        }
        status = pb_race_run(race, &f->bitgen);
    }
    return status;
}

/* Fills rewards of N factors: noise plus a mean that grows by `step` per state. */
static double *noisy(int64_t n, int64_t n_states, double step)
{
    uint64_t counter = 11;
    double *matrix = allocate(n * n_states, sizeof *matrix);
    for (int64_t i = 0; i < n * n_states; i++)
        matrix[i] = splitmix_double(&counter) + step * (double)(i % n_states);
    return matrix;
}

static int look_up(const int64_t *factors, int64_t n_factors, const int64_t *states,
                   int64_t n_states, double *out, void *user_data)
{
    const pb_factors *source = user_data;
    const double *matrix = source->matrix;
    for (int64_t f = 0; f < n_factors; f++)
        for (int64_t s = 0; s < n_states; s++) {
            assert(s == 0 || states[s] > states[s - 1]);
            out[f * n_states + s] = matrix[factors[f] * source->n_states + states[s]];
        }
    return 0;
}

static pb_factors as_function(pb_factors *matrix, pb_factor_function function)
{
    return (pb_factors){matrix->n_factors, matrix->n_states, NULL, function, matrix, 0};
}

/* With a boundary too wide to eliminate states, every race ends with the full sums. */
static void reads_everything(void)
{
    enum { N = 1000, D = 6 };
    double *matrix = noisy(N, D, 0.001);
    double best = -INFINITY;
    int64_t winner = -1;
    const double offsets[D] = {0.0, 9.0, -9.0, 3.0, -INFINITY, -1.0};
    for (int i = 0; i < D; i++) {
        double total = offsets[i];
        for (int r = 0; r < N; r++)
            total += matrix[r * D + i];
        if (total > best) {
            best = total;
            winner = i;
        }
    }
    pb_factors factors = {N, D, matrix, NULL, NULL, 0};
    for (int k = 0; k < 4; k++) {
        fixture f;
        fixture_init(&f, k & 1 ? as_function(&factors, look_up) : factors, 50, 1e9);
        memcpy(f.offsets, offsets, sizeof offsets);
        f.race.pairwise = k / 2;
        assert(run(&f) == PB_OK);
        assert(f.race.winner == winner && f.race.exact);
        assert(f.race.n_evaluations == N * (D - 1));
        assert(f.race.n_looks == f.race.schedule.n_looks);
        fixture_free(&f);
    }
    free(matrix);
}

/* A function that returns the entries of a matrix gives the same race as the matrix. */
static void function_equals_matrix(void)
{
    enum { N = 5000, D = 9 };
    double *matrix = noisy(N, D, 0.02);
    pb_factors factors = {N, D, matrix, NULL, NULL, 0};
    for (int pairwise = 0; pairwise < 2; pairwise++) {
        fixture a, b;
        fixture_init(&a, factors, 20, 2.5);
        fixture_init(&b, as_function(&factors, look_up), 20, 2.5);
        a.race.pairwise = b.race.pairwise = pairwise;
        int64_t partial = 0;
        for (int draw = 0; draw < 200; draw++) {
            pb_bitgen_gumbel_many(&a.bitgen, D, a.offsets);
            memcpy(b.offsets, a.offsets, D * sizeof(double));
            b.counter = a.counter;
            assert(run(&a) == PB_OK);
            assert(run(&b) == PB_OK);
            if (a.race.exact) {  /* with a matrix, the last look does not advance the permutation */
                memcpy(b.subsample.memory, a.subsample.memory,
                       N * sizeof(uint32_t));
                assert(b.race.exact);
            }
            assert(a.race.winner == b.race.winner);
            assert(a.race.n_looks == b.race.n_looks);
            assert(a.race.n_evaluations == b.race.n_evaluations);
            partial += !a.race.exact;
        }
        assert(partial > 20);
        fixture_free(&a);
        fixture_free(&b);
    }
    free(matrix);
}

/* Case 1 of exact_cases.json: 420 outcomes whose probabilities are known fractions. */
static void follows_the_exact_law(void)
{
    enum { N = 8, RACES = 20000 };
    double matrix[] = {3, 9, 6, -8, -9, -4, 6, -2, -1, 1, 0, -2, 2, -7, -4, -9};
    pb_factors factors = {N, 2, matrix, NULL, NULL, 0};
    for (int k = 0; k < 2; k++) {
        fixture f;
        fixture_init(&f, k ? as_function(&factors, look_up) : factors, 2, 1.5);
        int64_t wrong = 0, first = 0, second = 0;
        for (int race = 0; race < RACES; race++) {
            assert(run(&f) == PB_OK);
            wrong += f.race.winner == 1;
            first += f.race.n_looks == 1;
            second += f.race.n_looks == 2;
        }
        assert(binomial_fits(wrong, RACES, 4.0 / 35.0));
        assert(binomial_fits(first, RACES, 13.0 / 28.0));
        assert(binomial_fits(second, RACES, 5.0 / 28.0));
        fixture_free(&f);
    }
}

/* Races read everything if all differences, or all but four, are equal. */
static void equal_values_are_no_evidence(void)
{
    enum { N = 400 };
    double *matrix = allocate(2 * N, sizeof *matrix);
    pb_factors factors = {N, 2, matrix, NULL, NULL, 0};
    for (int others = 0; others < 8; others += 4)
        for (int k = 0; k < 4; k++) {
            fixture f;
            double unit[MAX_LOOKS];
            for (int64_t r = 0; r < N; r++) {
                matrix[2 * r] = 1.0;
                matrix[2 * r + 1] = others && r < N / 100 ? 1.0 : 2.0;
            }
            fixture_init(&f, k & 1 ? as_function(&factors, look_up) : factors, 50, 0.0);
            for (int64_t t = 0; t < f.race.schedule.n_looks; t++)
                unit[t] = 0.1;
            f.race.schedule.unit = unit;
            f.race.pairwise = k / 2;
            assert(run(&f) == PB_OK);
            assert(f.race.winner == 1 && f.race.exact);
            f.race.schedule.unit = NULL;  /* the race of the paper, which decides on them early */
            assert(run(&f) == PB_OK);
            assert(!f.race.exact && f.race.n_evaluations == 100);
            fixture_free(&f);
        }
    free(matrix);
}

/* Totals of a million rewards of 1e9 would lose a difference of 1; sums of differences keep it. */
static void exact_looks_keep_digits(void)
{
    enum { N = 1000000 };
    double *matrix = allocate(2 * N, sizeof *matrix);
    uint64_t counter = 5;
    for (int64_t r = 0; r < N; r++) {
        matrix[2 * r] = 1e9 + floor(splitmix_double(&counter) * 1024.0) / 1024.0;
        matrix[2 * r + 1] = matrix[2 * r] + (r % 2 ? 1.0 : -1.0) + (r ? 0.0 : 1.0 / 1024.0);
    }
    for (int k = 0; k < 4; k++) {
        pb_factors factors = {N, 2, matrix, NULL, NULL, 0};
        fixture f;
        fixture_init(&f, k & 1 ? as_function(&factors, look_up) : factors, N, 0.0);
        f.race.pairwise = k / 2;
        assert(run(&f) == PB_OK);
        assert(f.race.winner == 1 && f.race.exact);
        f.offsets[0] = 2.0 / 1024.0;
        assert(run(&f) == PB_OK);
        assert(f.race.winner == 0);
        fixture_free(&f);
    }
    free(matrix);
}

static void small_worlds(void)
{
    double matrix[] = {1.0, 3.0, 2.0};
    pb_factors one_factor = {1, 3, matrix, NULL, NULL, 0};
    pb_factors one_state = {3, 1, matrix, NULL, NULL, 0};
    fixture f;
    fixture_init(&f, one_factor, 50, 2.0);
    assert(run(&f) == PB_OK);
    assert(f.race.winner == 1 && f.race.exact && f.race.n_looks == 1);
    f.offsets[1] = f.offsets[2] = -INFINITY;  /* a single possible state wins without reading */
    assert(run(&f) == PB_OK);
    assert(f.race.winner == 0 && f.race.exact && f.race.n_evaluations == 0);
    fixture_free(&f);

    fixture_init(&f, one_state, 2, 2.0);
    assert(run(&f) == PB_OK);
    assert(f.race.winner == 0 && f.race.exact && f.race.n_evaluations == 0);
    fixture_free(&f);

    double tied[] = {5.0, 5.0, 5.0, 5.0};
    fixture_init(&f, (pb_factors){2, 2, tied, NULL, NULL, 0}, 50, 2.0);
    assert(run(&f) == PB_OK);
    assert(f.race.winner == 0);  /* ties go to the lowest index */
    fixture_free(&f);
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
    look_up(factors, n_factors - 1, states, n_states, out, user_data);
    return 0;
}

/* Each failure is reported, and the memory stays usable for the next race. */
static void failures(void)
{
    enum { N = 400, D = 3 };
    double *matrix = noisy(N, D, 0.5);
    pb_factors factors = {N, D, matrix, NULL, NULL, 0};
    for (int k = 0; k < 2; k++) {
        fixture f;
        fixture_init(&f, k ? as_function(&factors, look_up) : factors, 50, 1e9);
        const double kept = matrix[7 * D + 1], bad[] = {NAN, INFINITY, -INFINITY, 1e200};
        for (int i = 0; i < 4; i++) {
            matrix[7 * D + 1] = bad[i];
            if (i < 3 || k)  /* the last look on a matrix computes no squares */
                assert(run(&f) == PB_NOT_FINITE);
            assert(i == 3 || f.race.winner == -1);
        }
        matrix[7 * D + 1] = kept;
        assert(run(&f) == PB_OK);
        assert(f.race.winner == 2);
        if (k) {
            f.race.factors.function = fail;
            assert(run(&f) == PB_CALLBACK);
            f.race.factors.function = leave_out;
            assert(run(&f) == PB_NOT_FINITE);
            f.race.factors.function = look_up;
            assert(run(&f) == PB_OK);
        }
        fixture_free(&f);
    }
    free(matrix);
}

/* Uniform rewards of range 1 satisfy a stated range of 1, but not one of 1/2. */
static void ranges(void)
{
    enum { N = 2000, D = 4 };
    double *matrix = noisy(N, D, 0.3);
    const double wide[D] = {1, 1, 1, 1}, narrow[D] = {1, 1, 1, 0.5};
    pb_factors factors = {N, D, matrix, NULL, NULL, 0};
    for (int k = 0; k < 4; k++) {
        fixture f;
        fixture_init(&f, k & 1 ? as_function(&factors, look_up) : factors, 50, 3.0);
        f.race.pairwise = k / 2;
        for (int t = 0; t < MAX_LOOKS; t++)
            f.slack[t] = 1e-3;
        f.race.ranges = wide;
        assert(run(&f) == PB_OK);
        assert(f.race.winner == 3 && !f.race.exact);
        f.race.ranges = narrow;
        assert(run(&f) == PB_RANGE);
        if (f.race.pairwise) {
            f.race.ranges = wide;
            f.race.difference_range = 2.0;  /* differences lie in [-1, 1] */
            assert(run(&f) == PB_OK);
            f.race.difference_range = 1.0;
            assert(run(&f) == PB_RANGE);
        }
        fixture_free(&f);
    }
    free(matrix);
}

/* At the exact look, too, rewards are checked against the range of their own state. */
static void ranges_belong_to_states(void)
{
    enum { N = 200, D = 2 };
    double *matrix = noisy(N, D, 0.0);
    for (int r = 0; r < N; r++)
        matrix[r * D + 1] = 0.7 + 0.1 * matrix[r * D + 1];
    const double ranges[D] = {1.0, 0.1};
    pb_factors factors = {N, D, matrix, NULL, NULL, 0};
    for (int k = 0; k < 4; k++) {
        fixture f;
        fixture_init(&f, k & 1 ? as_function(&factors, look_up) : factors, 50, 1e9);
        f.race.pairwise = k / 2;
        f.race.ranges = ranges;
        assert(run(&f) == PB_OK);
        assert(f.race.winner == 1 && f.race.exact);
        fixture_free(&f);
    }
    free(matrix);
}

int main(void)
{
    reads_everything();
    function_equals_matrix();
    follows_the_exact_law();
    equal_values_are_no_evidence();
    exact_looks_keep_digits();
    small_worlds();
    failures();
    ranges();
    ranges_belong_to_states();
    return 0;
}
