/* What the fuzzers of exact chains on minibatches share. */
#ifndef CHAIN_H
#define CHAIN_H

#include "fuzz.h"

#include "pybandit/mcmc/minibatch.h"

/* Lower triangular with a diagonal above 0. */
static double *choose_factor(choices *c, pool *p, int64_t d)
{
    double *factor = TAKE(p, d * d, double);
    choose_numbers(c, factor, d * d, 3.0);
    for (int64_t i = 0; i < d; i++)
        factor[i * d + i] = 0.01 + fabs(factor[i * d + i]);
    return factor;
}

/* A chain is where it may be. */
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
