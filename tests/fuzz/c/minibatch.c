/* Exact chains with any data and moves: a step gives finite numbers, or is undone with an error. */
#include "chain.h"

/* Returns a count that grows with the mean; its distribution does not matter. */
static int64_t poisson(void *bitgen, double mean)
{
    pb_bitgen *bits = bitgen;
    HOLDS(mean >= 0.0 && isfinite(mean));
    const double most = mean < 1e3 ? mean : 1e3;
    return (int64_t)(2.0 * most * bits->next_double(bits->state) + bits->next_double(bits->state));
}

static void step(pb_chain *chain, pb_bitgen *bitgen)
{
    const int64_t d = chain->problem->glm.n_parameters, n = chain->problem->glm.n_rows;
    double before[4];
    memcpy(before, chain->z, (size_t)d * sizeof *before);
    const int64_t accepted = chain->n_accepted;
    const pb_status status = pb_chain_step(chain, bitgen);
    HOLDS(status == PB_OK || status == PB_RANGE || status == PB_NOT_FINITE);
    HOLDS(chain->n_evaluations >= 0 && chain->n_exact >= 0);
    if (status != PB_OK) {
        HOLDS(memcmp(before, chain->z, (size_t)d * sizeof *before) == 0);
        HOLDS(chain->n_accepted == accepted && chain->bad_row >= -1 && chain->bad_row < n);
    }
    holds_place(chain, d);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    choices c = {bytes, bytes + size};
    pool p = {.n = 0};
    const int64_t n = choose(&c, 1, 40), d = choose(&c, 1, 4), flags = choose(&c, 0, 255);
    const pb_glm_family family = (pb_glm_family)choose(&c, 0, 3);
    uint64_t counter = choose_bits(&c);
    pb_bitgen bitgen = fuzz_bitgen(&counter);
    double *x = TAKE(&p, n * d, double), *y = TAKE(&p, n, double), *trials = TAKE(&p, n, double);
    double *mode = TAKE(&p, d, double), *slope = TAKE(&p, d, double), *work = TAKE(&p, d, double);
    double *factor = choose_factor(&c, &p, d), *scales = choose_factor(&c, &p, d);
    double *center = TAKE(&p, d, double);
    choose_numbers(&c, x, n * d, 20.0);
    choose_numbers(&c, mode, d, 3.0);
    choose_numbers(&c, slope, d, 3.0);
    choose_numbers(&c, center, d, 3.0);
    for (int64_t i = 0; i < n; i++) {
        trials[i] = (double)choose(&c, 1, 9);
        y[i] = family == PB_GLM_STUDENT ? choose_number(&c, 50.0) : (double)choose(&c, 0, 1);
    }
    const double radius = family == PB_GLM_POISSON || flags & 1 ? 3.0 * choose_unit(&c) : INFINITY;
    const pb_glm glm = {family, n, d, x, y, family == PB_GLM_LOGISTIC && flags & 2 ? trials : NULL,
                        0.1 + 9.0 * choose_unit(&c), 0.05 + choose_unit(&c), radius};
    pb_glm_row *rows = TAKE(&p, n, pb_glm_row);
    pb_glm_anchor(&glm, 0, n, mode, factor, rows, work);
    pb_alias *alias = TAKE(&p, n, pb_alias);
    const double total = pb_alias_build(&rows[0].bound, (int64_t)(sizeof *rows / sizeof(double)),
                                        n, alias, TAKE(&p, n, int64_t));
    if (!isfinite(total)) {  /* the Python class rejects such data */
        pool_free(&p);
        return 0;
    }
    if (total == 0.0)  /* the table is not written, and must not be read */
        memset(alias, 0xff, (size_t)n * sizeof *alias);
    const pb_minibatch problem = {glm, rows, alias, total, mode, factor, slope,
                                  (pb_minibatch_test)(flags >> 2 & 1), 0.05 + choose_unit(&c),
                                  flags & 8 ? (double)choose(&c, 0, 60) : (double)n, radius,
                                  PB_MINIBATCH_LINE};
    pb_move moves[2] = {{PB_MOVE_AUTOREGRESSIVE, flags & 16 ? scales : NULL,
                         flags & 32 ? center : NULL, choose_unit(&c), 0.65,
                         0.01 + choose_unit(&c), 0},
                        {PB_MOVE_WALK, flags & 64 ? scales : NULL, NULL, 1.0, 0.3,
                         0.01 + 2.0 * choose_unit(&c), 0}};
    double *memory = TAKE(&p, pb_chain_memory(d), double);
    pb_chain chain = {&problem, moves, 2, fuzz_normal, poisson, flags > 127, NULL, memory, memory + d,
                      memory + 2 * d, memory + 3 * d, memory + 4 * d, 0, 0, 0, -1, 0.0, 0.0};
    memset(memory, 0, (size_t)d * sizeof *memory);
    pb_chain_place(&chain);
    for (int64_t i = choose(&c, 1, 30); i > 0; i--)
        step(&chain, &bitgen);
    pool_free(&p);
    return 0;
}
