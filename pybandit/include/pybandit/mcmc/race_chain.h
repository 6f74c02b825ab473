#ifndef PYBANDIT_RACE_CHAIN_H
#define PYBANDIT_RACE_CHAIN_H

#include <stdint.h>

#include "pybandit/_shared/bitgen.h"
#include "pybandit/_shared/status.h"
#include "pybandit/mcmc/moves.h"
#include "pybandit/racing/accept.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Writes the log prior of theta, below +inf and not NaN. Returns nonzero on failure. */
typedef int (*pb_log_prior)(const double *theta, void *data, double *out);

/* Returns a standard exponential number drawn from a bit generator. */
typedef double (*pb_exponential_draw)(void *bitgen);

/* A Metropolis-Hastings chain whose test is a race (accept.h). */
typedef struct {
    int64_t n_parameters;     /* d */
    pb_accept *test;          /* sums the log ratios between the points, less the control */
    pb_move *moves;           /* in theta */
    int64_t n_moves;
    int adapts;               /* 1 if steps change the scales of the moves */
    pb_normal_draw normal;
    pb_exponential_draw exponential;

    /* the prior: e^(-theta'precision theta / 2) if `precision` is given, times e^log_prior if
       `log_prior` is given */
    const double *precision;  /* (d, d); NULL: none */
    pb_log_prior log_prior;   /* NULL: none */
    void *prior_data;

    /* the control: the sums of its gradients and Hessians at its center */
    const double *center;     /* d; NULL: no control */
    const double *gradient;   /* d */
    const double *hessian;    /* (d, d) */

    /* the range of the log ratios less the control: if `inverse` is given, the betting bound of
       `test` uses -+(largest M(z, z') + slack) in each decision, z = inverse (theta - center) */
    const double *inverse;    /* lower triangular, (d, d); NULL: the range is not changed */
    int is_line;              /* M is pb_minibatch_spread if 1, pb_minibatch_spread_any if 0 */
    double largest, slack;

    /* memory owned by the caller */
    double *points;           /* (2, d): current and proposed theta, read by the log ratios */
    double *work;             /* 3 d */
    double *start, *farthest; /* d: the start, and the accepted point farthest from it; NULL: not
                                recorded */
    double log_density;       /* log prior of the current point; set by pb_race_chain_begin */

    /* sums over the steps since the caller set them to 0 */
    int64_t n_steps, n_accepted, n_looks, n_evaluations, n_exact;
} pb_race_chain;

/*
 * Computes the log prior of points[0]. Returns PB_OK or PB_CALLBACK. O(d^2) with a precision.
 */
pb_status pb_race_chain_begin(pb_race_chain *chain);

/*
 * Runs one step. Returns PB_OK, PB_CALLBACK if the prior failed, or the status of a failed test;
 * sets *is_test to 1 if a test was run. After an error the current point is unchanged; points[1]
 * may have changed. O(d^2) plus the test.
 */
pb_status pb_race_chain_step(pb_race_chain *chain, pb_bitgen *bitgen, int *is_test);

#ifdef __cplusplus
}
#endif

#endif
