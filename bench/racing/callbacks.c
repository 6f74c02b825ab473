/*
 * A sampler embedded in C (Gumbel offsets and a race, without Python), and a loop of calls of a
 * factor function for timing.
 */
#include "pybandit/racing/race.h"

#include <stdlib.h>

/* Draws n times; returns the sum of the winners, or -1 after a failure. */
int64_t draw_many(void *bits, pb_factor_function function, void *user_data,
                  const double *matrix, int64_t n_factors, int64_t n_states,
                  int64_t first_look, const double *log_prior, int64_t n)
{
    pb_bitgen *bitgen = bits;
    /* two looks: either the first decides or everything is read */
    const int64_t rows[] = {first_look, n_factors};
    const double scale[] = {0.0, 0.0}, slack[] = {0.0, 0.0};
    pb_subsample subsample;
    double *memory = malloc((size_t)(7 * n_states) * sizeof(double));
    int64_t *states = malloc((size_t)(2 * n_states) * sizeof(int64_t));
    uint32_t *permutation = malloc((size_t)n_factors * sizeof(uint32_t));
    pb_race race = {
        .factors = {n_factors, n_states, matrix, function, user_data},
        .schedule = {2, rows, scale, slack},
        .subsample = &subsample,
        .offsets = memory,
        .pairwise = 1,
        .states = states,
        .kept = states + n_states,
        .moments_memory = memory + n_states,
        .indices = malloc((size_t)n_factors * sizeof(int64_t)),
        .indices_capacity = n_factors,
        .rewards = malloc((size_t)(n_factors * n_states) * sizeof(double)),
        .rewards_capacity = n_factors * n_states,
    };
    pb_subsample_init(&subsample, PB_SUBSAMPLE_PERMUTATION, n_factors, 1, permutation);
    int64_t total = 0;
    for (int64_t i = 0; i < n && total >= 0; i++) {
        pb_bitgen_gumbel_many(bitgen, n_states, memory);
        for (int64_t state = 0; state < n_states; state++)
            memory[state] += log_prior[state];
        pb_race_begin(&race, bitgen);
        total = pb_race_run(&race, bitgen) == PB_OK ? total + race.winner : -1;
    }
    free(memory);
    free(states);
    free(permutation);
    free(race.indices);
    free(race.rewards);
    return total;
}

/* Calls the function n times for the same pairs; returns the number of failures. */
int64_t call_many(pb_factor_function function, void *user_data, const int64_t *factors,
                  int64_t n_factors, const int64_t *states, int64_t n_states, double *out,
                  int64_t n)
{
    int64_t failures = 0;
    for (int64_t i = 0; i < n; i++)
        failures += function(factors, n_factors, states, n_states, out, user_data) != 0;
    return failures;
}

/* A minimal factor function: user_data[f] in state 0 and zero elsewhere. */
int trivial(const int64_t *factors, int64_t n_factors, const int64_t *states,
            int64_t n_states, double *out, void *user_data)
{
    const double *y = user_data;
    for (int64_t f = 0; f < n_factors; f++)
        for (int64_t s = 0; s < n_states; s++)
            out[f * n_states + s] = states[s] ? 0.0 : y[factors[f]];
    return 0;
}
