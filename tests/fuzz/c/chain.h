/* Functions that the fuzzers of exact chains on minibatches have in common. */
#ifndef CHAIN_H
#define CHAIN_H

#include "fuzz.h"

#include "pybandit/mcmc/minibatch.h"

/* Returns a lower triangular matrix with a positive diagonal. */
static double *choose_factor(choices *c, pool *p, int64_t d)
{
    double *factor = TAKE(p, d * d, double);
    choose_numbers(c, factor, d * d, 3.0);
    for (int64_t i = 0; i < d; i++)
        factor[i * d + i] = 0.01 + fabs(factor[i * d + i]);
    return factor;
}

/* Checks that the state of a chain is valid. */
static void holds_place(const pb_chain *chain, int64_t d)
{
    double length = 0.0;
    for (int64_t i = 0; i < d; i++) {
        HOLDS(isfinite(chain->z[i]) && isfinite(chain->point[i]));
        length += chain->z[i] * chain->z[i];
    }
    HOLDS(sqrt(length) <= chain->problem->radius * (1.0 + 1e-12));
}

#endif
