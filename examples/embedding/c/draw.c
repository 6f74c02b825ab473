/*
 * A racing sampler in plain C: draws which of five models produced 100,000 observations, with a
 * custom factor function, and compares the frequencies with the exact probabilities.
 *
 *     make && ./draw
 */
#define _POSIX_C_SOURCE 199309L

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "pybandit/racing/sampler.h"
#include "pybandit/racing/schedule.h"
#include "xoshiro.h"

enum { N = 100000, D = 5, DRAWS = 20000 };

/* Log factors are rows of a table; a draw reads only some of them. */
typedef struct {
    double (*table)[D];
} problem;

static int log_factors(const int64_t *factors, int64_t n_factors, const int64_t *states,
                       int64_t n_states, double *out, void *user_data)
{
    const problem *p = user_data;
    for (int64_t f = 0; f < n_factors; f++)
        for (int64_t s = 0; s < n_states; s++)
            out[f * n_states + s] = p->table[factors[f]][states[s]];
    return 0;
}

/* Fills the table with noise of 1e-5 per factor; the totals are exactly log 1, ..., log 5. */
static void fill(problem *p, pb_bitgen *bitgen)
{
    for (int i = 0; i < D; i++) {
        double total = 0.0;
        for (int n = 0; n < N; n++)
            total += p->table[n][i] = 1e-5 * bitgen->next_double(bitgen->state);
        for (int n = 0; n < N; n++)
            p->table[n][i] += (log(i + 1.0) - total) / N;
    }
}

static void *reserve(int64_t bytes)
{
    void *memory = malloc((size_t)bytes);
    if (!memory) {
        fprintf(stderr, "out of memory: %lld bytes\n", (long long)bytes);
        exit(EXIT_FAILURE);
    }
    return memory;
}

/* A sampler with its memory and its looks. */
typedef struct {
    pb_sampler sampler;
    void *memory, *looks;
} owned;

static void begin(owned *o, const pb_factors *factors, double delta, int64_t first_look)
{
    pb_schedule schedule;
    o->looks = reserve(pb_schedule_memory(factors->n_factors, first_look, 1.0));
    if (pb_schedule_normal(delta, PB_ONE_SIDED, factors->n_factors, factors->n_states,
                           first_look, 1.0, o->looks, &schedule) != PB_OK) {
        fprintf(stderr, "delta must be above 0 and below (D - 1) / 2; got %g\n", delta);
        exit(EXIT_FAILURE);
    }
    o->memory = reserve(pb_sampler_memory(factors, &schedule, PB_SUBSAMPLE_PERMUTATION));
    pb_sampler_init(&o->sampler, factors, &schedule, NULL, PB_SUBSAMPLE_PERMUTATION, o->memory);
}

static void end(owned *o)
{
    free(o->memory);
    free(o->looks);
}

static int64_t draw(owned *o, pb_bitgen *bitgen)
{
    int64_t state;
    const pb_status status = pb_sampler_draw(&o->sampler, bitgen, &state);
    if (status != PB_OK) {
        fprintf(stderr, "a draw failed with status %d\n", (int)status);
        exit(EXIT_FAILURE);
    }
    return state;
}

/* Prints frequencies and probabilities; returns the largest distance in standard errors. */
static double compare(owned *o, pb_bitgen *bitgen)
{
    int64_t hits[D] = {0}, evaluations = 0;
    double worst = 0.0;
    for (int i = 0; i < DRAWS; i++) {
        hits[draw(o, bitgen)]++;
        evaluations += o->sampler.race.n_evaluations;
    }
    printf("state   exact   drawn\n");
    for (int i = 0; i < D; i++) {
        const double p = (i + 1.0) / 15.0, drawn = (double)hits[i] / DRAWS;
        printf("%5d  %.4f  %.4f\n", i, p, drawn);
        worst = fmax(worst, fabs(drawn - p) / sqrt(p * (1.0 - p) / DRAWS));
    }
    printf("read %.2f%% of the factors\n", 100.0 * (double)evaluations / DRAWS / N / D);
    return worst;
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* State 1 leads state 0 by far, so that the first look decides. */
static int decided(const int64_t *factors, int64_t n_factors, const int64_t *states,
                   int64_t n_states, double *out, void *user_data)
{
    (void)factors, (void)user_data;
    for (int64_t f = 0; f < n_factors; f++)
        for (int64_t s = 0; s < n_states; s++)
            out[f * n_states + s] = (double)states[s];
    return 0;
}

/* Factors that vary, so that with wide bounds no state is eliminated before the last look. */
static int varying(const int64_t *factors, int64_t n_factors, const int64_t *states,
                int64_t n_states, double *out, void *user_data)
{
    (void)user_data;
    for (int64_t f = 0; f < n_factors; f++)
        for (int64_t s = 0; s < n_states; s++)
            out[f * n_states + s] = (double)(factors[f] * states[s]);
    return 0;
}

/* Returns the smallest measured time per draw of two states, in ns; rows[t] are the looks. */
static double time_draws(pb_factor_function function, int64_t n_factors, const int64_t *rows,
                         int64_t n_looks, pb_bitgen *bitgen)
{
    enum { TIMED = 1000, ROUNDS = 40, MOST = 64 };
    double scale[MOST], slack[MOST] = {0.0}, least = INFINITY;
    for (int t = 0; t < MOST; t++)
        scale[t] = function == varying ? 1e9 : 0.0;
    const pb_factors factors = {.n_factors = n_factors, .n_states = 2, .function = function};
    const pb_schedule schedule = {n_looks, rows, scale, slack, NULL};
    pb_sampler sampler;
    void *memory = reserve(pb_sampler_memory(&factors, &schedule, PB_SUBSAMPLE_PERMUTATION));
    pb_sampler_init(&sampler, &factors, &schedule, NULL, PB_SUBSAMPLE_PERMUTATION, memory);
    for (int round = 0; round < ROUNDS; round++) {
        int64_t state;
        const double start = seconds();
        for (int i = 0; i < TIMED; i++)
            if (pb_sampler_draw(&sampler, bitgen, &state) != PB_OK)
                exit(EXIT_FAILURE);
        least = fmin(least, (seconds() - start) / TIMED * 1e9);
    }
    free(memory);
    return least;
}

/* Returns the smallest measured time per call for two states and n_rows rows, in ns. */
static double time_calls(pb_factor_function volatile function, int64_t n_rows)
{
    enum { TIMED = 20000, ROUNDS = 50, MOST = 64 };
    const int64_t indices[MOST] = {0}, states[2] = {0, 1};
    double out[2 * MOST], least = INFINITY;
    for (int round = 0; round < ROUNDS; round++) {
        const double start = seconds();
        for (int i = 0; i < TIMED; i++)
            if (function(indices, n_rows, states, 2, out, NULL))
                exit(EXIT_FAILURE);
        least = fmin(least, (seconds() - start) / TIMED * 1e9);
    }
    return least;
}

static void print_costs(pb_bitgen *bitgen)
{
    const int64_t two[] = {2, N}, fifty[] = {50, N};
    int64_t one_by_one[40];
    for (int t = 0; t < 40; t++)
        one_by_one[t] = t + 2;
    const double draw_2 = time_draws(decided, N, two, 2, bitgen) - time_calls(decided, 2);
    const double draw_50 = time_draws(decided, N, fifty, 2, bitgen) - time_calls(decided, 50);
    const double few = time_draws(varying, 11, one_by_one, 10, bitgen);
    const double many = time_draws(varying, 41, one_by_one, 40, bitgen);
    printf("two states, without the time of the function:\n");
    printf("  a draw that reads 2 factors          %6.1f ns\n", draw_2);
    printf("  a draw that reads 50 factors         %6.1f ns, %.1f ns per factor\n", draw_50,
           (draw_50 - draw_2) / 48.0);
    printf("  a call of an empty function          %6.1f ns\n", time_calls(varying, 0));
    printf("  another look: call, factor, decision %6.1f ns\n",
           (many - few) / 30.0 - (time_calls(varying, 1) - time_calls(varying, 0)));
}

int main(void)
{
    xoshiro generator;
    pb_bitgen bitgen = xoshiro_bitgen(&generator, 20260);
    problem p = {reserve(N * (int64_t)sizeof *p.table)};
    fill(&p, &bitgen);

    const pb_factors factors = {.n_factors = N, .n_states = D, .function = log_factors,
                                .user_data = &p};
    owned o;
    begin(&o, &factors, 0.01, 50);
    const double worst = compare(&o, &bitgen);
    end(&o);
    free(p.table);
    print_costs(&bitgen);

    printf("largest distance from the probabilities: %.1f standard errors\n", worst);
    return worst < 5.0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
