#include "../../_shared/c/check.h"

#include "pybandit/racing/populations.h"

enum { MOST_ARMS = 4 };

/* A race with exactly the memory that the header requires. */
typedef struct {
    pb_populations race;
    uint32_t *memory[MOST_ARMS];
    double offsets[MOST_ARMS];
    uint64_t counter;
    pb_bitgen bitgen;
} fixture;

static void fixture_init(fixture *f, const int64_t *sizes, const double *const *values,
                         int64_t n_arms, double boundary, int64_t block)
{
    f->counter = 5;
    f->bitgen = splitmix(&f->counter);
    f->race = (pb_populations){.n_arms = n_arms,
                               .sizes = sizes,
                               .values = values,
                               .offsets = f->offsets,
                               .boundary = boundary,
                               .first_look = 3,
                               .subsamples = allocate(n_arms, sizeof(pb_subsample)),
                               .block = block,
                               .indices = allocate(block, sizeof(int64_t)),
                               .rewards = allocate(block, sizeof(double)),
                               .alive = allocate(n_arms, sizeof(int64_t)),
                               .columns = allocate(n_arms, sizeof(pb_column))};
    for (int64_t i = 0; i < n_arms; i++) {
        f->offsets[i] = 0.0;
        f->memory[i] = NULL;
        if (sizes[i] == 0)
            continue;
        f->memory[i] = allocate(sizes[i], sizeof(uint32_t));
        pb_subsample_init(&f->race.subsamples[i], PB_SUBSAMPLE_PERMUTATION, sizes[i], 1,
                          f->memory[i]);
    }
}

static void fixture_free(fixture *f)
{
    for (int64_t i = 0; i < f->race.n_arms; i++)
        free(f->memory[i]);
    free(f->race.subsamples);
    free(f->race.indices);
    free(f->race.rewards);
    free(f->race.alive);
    free(f->race.columns);
}

static int look_up(const int64_t *factors, int64_t n_factors, const int64_t *states,
                   int64_t n_states, double *out, void *user_data)
{
    const double *const *values = user_data;
    assert(n_states == 1);
    for (int64_t i = 0; i < n_factors; i++)
        out[i] = values[states[0]][factors[i]];
    return 0;
}

static int fail(const int64_t *factors, int64_t n_factors, const int64_t *states,
                int64_t n_states, double *out, void *user_data)
{
    (void)factors, (void)n_factors, (void)states, (void)n_states, (void)out, (void)user_data;
    return 1;
}

static void as_function(fixture *f, const double **values)
{
    f->race.values = NULL;
    f->race.function = look_up;
    f->race.user_data = values;
}

static void schedules(void)
{
    const int64_t sizes[] = {1, 2, 3, 4, 5, 10, 13, 14, 50, 1829};
    const int64_t rows[][6] = {{1},           {2},           {3},
                               {3, 4},        {3, 4, 5},     {3, 4, 8, 10},
                               {3, 4, 8, 13}, {3, 5, 10, 14}, {3, 8, 16, 32, 50},
                               {3, 186, 372, 744, 1488, 1829}};
    for (int k = 0; k < 10; k++)
        for (int64_t look = 0, read = 0; read < sizes[k]; look++) {
            read = pb_populations_next(sizes[k], 3, read);
            assert(read == rows[k][look]);
            assert(pb_populations_next(sizes[k], 3, sizes[k]) == sizes[k]);
        }
    assert(pb_populations_next(0, 3, 0) == 0);
}

/* Case 8 of exact_cases.json: two arms, 17,280 outcomes. */
static void follows_the_exact_law(void)
{
    enum { RACES = 20000 };
    const double first[] = {-9, -2, 1, -1, -2, -2}, second[] = {-9, -7, 1, 0};
    const double *values[] = {first, second};
    const int64_t sizes[] = {6, 4};
    for (int k = 0; k < 2; k++) {
        fixture f;
        fixture_init(&f, sizes, values, 2, 1.2, 2);
        f.offsets[0] = 0.3;
        if (k)
            as_function(&f, values);
        int64_t wrong = 0, looks[4] = {0};
        for (int r = 0; r < RACES; r++) {
            assert(pb_populations_run(&f.race, &f.bitgen) == PB_OK);
            wrong += f.race.winner == 1;
            looks[f.race.n_looks]++;
            assert(f.race.n_evaluations == 4 + 2 * f.race.n_looks);
        }
        assert(binomial_fits(wrong, RACES, 7.0 / 48.0));
        assert(binomial_fits(looks[1], RACES, 29.0 / 80.0));
        assert(binomial_fits(looks[2], RACES, 1.0 / 5.0));
        fixture_free(&f);
    }
}

static void small_worlds(void)
{
    const double one[] = {5.0}, three[] = {1.0, 2.0, 2.0};
    const double *values[] = {NULL, one, three};
    const int64_t sizes[] = {0, 1, 3};
    fixture f;
    fixture_init(&f, sizes, values, 3, 2.0, 1);
    assert(pb_populations_run(&f.race, &f.bitgen) == PB_OK);
    /* arms 1 and 2 tie: 5 = 1 + 2 + 2; the lower index wins */
    assert(f.race.winner == 1 && f.race.exact && f.race.n_looks == 1);
    assert(f.race.n_evaluations == 4);
    f.offsets[0] = 5.5;  /* without factors, this is the total of arm 0 */
    assert(pb_populations_run(&f.race, &f.bitgen) == PB_OK);
    assert(f.race.winner == 0 && f.race.exact);
    f.offsets[0] = f.offsets[1] = -INFINITY;
    assert(pb_populations_run(&f.race, &f.bitgen) == PB_OK);
    assert(f.race.winner == 2 && f.race.exact && f.race.n_evaluations == 0);
    fixture_free(&f);
}

static void failures(void)
{
    double first[40] = {0.0}, second[40] = {0.0};
    const double *values[] = {first, second};
    const int64_t sizes[] = {40, 40};
    for (int k = 0; k < 2; k++) {
        fixture f;
        fixture_init(&f, sizes, values, 2, 1e9, 7);
        if (k)
            as_function(&f, values);
        second[9] = INFINITY;
        assert(pb_populations_run(&f.race, &f.bitgen) == PB_NOT_FINITE);
        assert(f.race.winner == 1 && f.race.bad_factor == 9 && isinf(f.race.bad_reward));
        second[9] = 1.0;
        assert(pb_populations_run(&f.race, &f.bitgen) == PB_OK);
        assert(f.race.winner == 1 && f.race.exact && f.race.n_evaluations == 80);
        f.race.function = fail;
        assert(pb_populations_run(&f.race, &f.bitgen) == (k ? PB_CALLBACK : PB_OK));
        fixture_free(&f);
    }
}

int main(void)
{
    schedules();
    follows_the_exact_law();
    small_worlds();
    failures();
    return 0;
}
