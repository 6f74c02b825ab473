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

/* Writes the log prior of theta, below +inf and not NaN; not 0: it failed. */
typedef int (*pb_log_prior)(const double *theta, void *data, double *out);

/* A standard exponential number, from a bit generator. */
typedef double (*pb_exponential_draw)(void *bitgen);

/* Metropolis-Hastings whose test is a race (accept.h). */
typedef struct {
    int64_t n_parameters;     /* d */
    pb_accept *test;          /* of the log ratios between the points, less what a control knows */
    pb_move *moves;           /* in theta */
    int64_t n_moves;
    int adapts;               /* whether steps change the scales of the moves */
    pb_normal_draw normal;
    pb_exponential_draw exponential;

    /* the prior: e^(-theta'precision theta / 2) where there is one, times the function where
       there is one */
    const double *precision;  /* (d, d); NULL: none */
    pb_log_prior log_prior;   /* NULL: none */
    void *prior_data;

    /* the control: the sums of its gradients and Hessians at a center */
    const double *center;     /* d; NULL: no control */
    const double *gradient;   /* d */
    const double *hessian;    /* (d, d) */

    /* where the range of what is left of log ratios is known: bets of `test` take it at each
       decision, largest M(z, z') + slack on both sides of 0, z = inverse (theta - center) */
    const double *inverse;    /* lower triangular, (d, d); NULL: the range stays */
    int is_line;              /* M: pb_minibatch_spread, or pb_minibatch_spread_any */
    double largest, slack;

    /* the caller's memory */
    double *points;           /* (2, d): where the chain is, and what it proposes; the log ratios
                                read it */
    double *work;             /* 3 d */
    double *start, *farthest; /* d; the farthest point from the start that was taken. NULL: not
                                kept */
    double log_density;       /* log prior of where it is; set by pb_race_chain_begin */

    /* sums, of steps since the caller set them to 0 */
    int64_t n_steps, n_accepted, n_looks, n_evaluations, n_exact;
} pb_race_chain;

/*
 * The log prior of points[0]. PB_OK, or PB_CALLBACK. O(d^2) with a precision.
 */
pb_status pb_race_chain_begin(pb_race_chain *chain);

/*
 * One step. PB_OK, PB_CALLBACK where the prior failed, or what the test returned, with
 * *is_test 1 then; the chain is as before but for points[1]. O(d^2) beside the test.
 */
pb_status pb_race_chain_step(pb_race_chain *chain, pb_bitgen *bitgen, int *is_test);

#ifdef __cplusplus
}
#endif

#endif
