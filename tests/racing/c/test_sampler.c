#include "../../_shared/c/check.h"

#include "pybandit/racing/sampler.h"
#include "pybandit/racing/schedule.h"

enum { N = 3000, D = 4 };

typedef struct {
    double matrix[N * D];
    int64_t calls;
    int64_t fails_at;  /* index of the call that fails; -1 if none does */
    int writes_nan;
} problem;

static int look_up(const int64_t *factors, int64_t n_factors, const int64_t *states,
                   int64_t n_states, double *out, void *user_data)
{
    problem *p = user_data;
    if (p->calls++ == p->fails_at)
        return 7;
    for (int64_t f = 0; f < n_factors; f++)
        for (int64_t s = 0; s < n_states; s++)
            out[f * n_states + s] = p->writes_nan ? NAN : p->matrix[factors[f] * D + states[s]];
    return 0;
}

/* Fills noisy factors whose totals are exactly log 1, 2, 3, 4. */
static problem *make_problem(void)
{
    problem *p = allocate(1, sizeof *p);
    uint64_t counter = 3;
    p->calls = p->writes_nan = 0;
    p->fails_at = -1;
    for (int i = 0; i < D; i++) {
        double total = 0.0;
        for (int r = 0; r < N; r++) {
            p->matrix[r * D + i] = 1e-3 * splitmix_double(&counter);
            total += p->matrix[r * D + i];
        }
        for (int r = 0; r < N; r++)
            p->matrix[r * D + i] += (log(i + 1.0) - total) / N;
    }
    return p;
}

typedef struct {
    pb_sampler sampler;
    void *memory, *looks;
    uint64_t counter;
    pb_bitgen bitgen;
} fixture;

static pb_factors factors_of(problem *p, int as_matrix)
{
    return as_matrix ? (pb_factors){N, D, p->matrix, NULL, NULL, 0}
                     : (pb_factors){N, D, NULL, look_up, p, 0};
}

/* Allocates exactly the required memory. */
static void begin(fixture *f, pb_factors factors, const double *log_prior,
                  pb_subsample_kind kind)
{
    pb_schedule schedule;
    f->looks = allocate(pb_schedule_memory(N, 50, 1.0), 1);
    assert(pb_schedule_normal(0.001, PB_ONE_SIDED, N, D, 50, 1.0, f->looks, &schedule) == PB_OK);
    f->memory = allocate(pb_sampler_memory(&factors, &schedule, kind), 1);
    pb_sampler_init(&f->sampler, &factors, &schedule, log_prior, kind, f->memory);
    f->counter = 5;
    f->bitgen = splitmix(&f->counter);
}

static void end(fixture *f)
{
    free(f->memory);
    free(f->looks);
}

/* Draws have p(i) proportional to (i + 1) times the prior, from a matrix and a function. */
static void follows_the_law(void)
{
    enum { DRAWS = 20000 };
    problem *p = make_problem();
    const double log_prior[D] = {log(4.0), 0.0, -INFINITY, log(0.5)};
    const double with[D] = {4.0 / 8.0, 2.0 / 8.0, 0.0, 2.0 / 8.0}, without[D] = {.1, .2, .3, .4};
    const pb_subsample_kind kinds[] = {PB_SUBSAMPLE_PERMUTATION, PB_SUBSAMPLE_REJECTION,
                                       PB_SUBSAMPLE_KEYED};
    for (int k = 0; k < 6; k++) {
        fixture f;
        begin(&f, factors_of(p, k & 1), k < 3 ? log_prior : NULL, kinds[k % 3]);
        int64_t hits[D] = {0}, partial = 0;
        for (int draw = 0; draw < DRAWS; draw++) {
            int64_t state = -1;
            assert(pb_sampler_draw(&f.sampler, &f.bitgen, &state) == PB_OK);
            hits[state]++;
            partial += !f.sampler.race.exact;
        }
        for (int i = 0; i < D; i++)
            assert(binomial_fits(hits[i], DRAWS, k < 3 ? with[i] : without[i]));
        assert(partial > DRAWS / 4);
        end(&f);
    }
    free(p);
}

/* Totals of a control variate have the effect of a log prior. */
static void totals_act_like_a_prior(void)
{
    problem *p = make_problem();
    const double log_prior[D] = {log(4.0), 0.0, -INFINITY, log(0.5)}, zeros[D] = {0.0};
    const double totals[D] = {log(4.0), 0.0, 7.0, log(0.5)}, open[D] = {0.0, 0.0, -INFINITY, 0.0};
    fixture priors, both;
    begin(&priors, factors_of(p, 1), log_prior, PB_SUBSAMPLE_PERMUTATION);
    begin(&both, factors_of(p, 1), open, PB_SUBSAMPLE_PERMUTATION);
    priors.sampler.totals = zeros;
    both.sampler.totals = totals;
    for (int draw = 0; draw < 2000; draw++) {
        int64_t one, other;
        assert(pb_sampler_draw(&priors.sampler, &priors.bitgen, &one) == PB_OK);
        assert(pb_sampler_draw(&both.sampler, &both.bitgen, &other) == PB_OK);
        assert(one == other);
    }
    end(&priors);
    end(&both);
    free(p);
}

/* The last look requests 16384 rows per call, more than a single partial look keeps. */
static void one_look(void)
{
    enum { MANY = 40000 };
    double *matrix = allocate(MANY * D, sizeof *matrix);
    for (int i = 0; i < MANY * D; i++)
        matrix[i] = i % D == 2;
    problem *p = make_problem();
    pb_schedule schedule;
    void *looks = allocate(pb_schedule_memory(MANY, MANY, 1.0), 1);
    assert(pb_schedule_normal(0.05, PB_ONE_SIDED, MANY, D, MANY, 1.0, looks, &schedule) == PB_OK);
    for (int k = 0; k < 2; k++) {
        const pb_factors factors = {MANY, D, k ? matrix : NULL, look_up, p, 0};
        void *memory =
            allocate(pb_sampler_memory(&factors, &schedule, PB_SUBSAMPLE_KEYED), 1);
        fixture f;
        f.counter = 5;
        f.bitgen = splitmix(&f.counter);
        p->writes_nan = 1;
        pb_sampler_init(&f.sampler, &factors, &schedule, NULL, PB_SUBSAMPLE_KEYED, memory);
        int64_t state;
        assert(pb_sampler_draw(&f.sampler, &f.bitgen, &state) == (k ? PB_OK : PB_NOT_FINITE));
        assert(state == (k ? 2 : -1));
        free(memory);
    }
    free(looks);
    free(matrix);
    free(p);
}

static int refuse(pb_race *race)
{
    (void)race;
    return 1;
}

static int provide(pb_race *race)
{
    if (race->needed_indices > race->indices_capacity) {
        race->indices = realloc(race->indices, (size_t)race->needed_indices * sizeof(int64_t));
        race->indices_capacity = race->needed_indices;
    }
    if (race->needed_rewards > race->rewards_capacity) {
        race->rewards = realloc(race->rewards, (size_t)race->needed_rewards * sizeof(double));
        race->rewards_capacity = race->needed_rewards;
    }
    return !race->indices || !race->rewards;
}

/* Draws are the same whether memory grows as needed or is allocated in advance. */
static void grows(void)
{
    problem *p = make_problem();
    fixture given, grown;
    begin(&given, factors_of(p, 0), NULL, PB_SUBSAMPLE_PERMUTATION);
    begin(&grown, factors_of(p, 0), NULL, PB_SUBSAMPLE_PERMUTATION);
    pb_race *race = &grown.sampler.race;
    race->indices = NULL, race->rewards = NULL;
    race->indices_capacity = race->rewards_capacity = 0;
    int64_t a, b;
    assert(pb_sampler_draw(&grown.sampler, &grown.bitgen, &b) == PB_GROW && b == -1);
    grown.sampler.grow = refuse;
    assert(pb_sampler_draw(&grown.sampler, &grown.bitgen, &b) == PB_GROW && b == -1);
    grown.sampler.grow = provide;
    grown.counter = given.counter;
    for (int draw = 0; draw < 50; draw++) {
        assert(pb_sampler_draw(&given.sampler, &given.bitgen, &a) == PB_OK);
        assert(pb_sampler_draw(&grown.sampler, &grown.bitgen, &b) == PB_OK);
        assert(a == b && given.counter == grown.counter);
        assert(given.sampler.race.n_evaluations == race->n_evaluations);
    }
    assert(race->indices_capacity > 50);
    free(race->indices);
    free(race->rewards);
    end(&given);
    end(&grown);
    free(p);
}

/* After a function fails at any call, the next draw is correct. */
static void draws_after_failures(void)
{
    problem *p = make_problem();
    fixture f;
    begin(&f, factors_of(p, 0), NULL, PB_SUBSAMPLE_REJECTION);
    int64_t state, failed = 0;
    for (int64_t at = 0; at < 6; at++) {
        p->calls = 0;
        p->fails_at = at;
        const pb_status status = pb_sampler_draw(&f.sampler, &f.bitgen, &state);
        assert(status == PB_CALLBACK ? state == -1 : status == PB_OK);
        failed += status == PB_CALLBACK;
        p->fails_at = -1;
        p->writes_nan = 1;
        assert(pb_sampler_draw(&f.sampler, &f.bitgen, &state) == PB_NOT_FINITE && state == -1);
        p->writes_nan = 0;
        assert(pb_sampler_draw(&f.sampler, &f.bitgen, &state) == PB_OK && state >= 0);
    }
    assert(failed >= 1);
    end(&f);
    free(p);
}

int main(void)
{
    follows_the_law();
    totals_act_like_a_prior();
    one_look();
    grows();
    draws_after_failures();
    return 0;
}
