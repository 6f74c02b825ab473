#ifndef PYBANDIT_LIL_UCB_H
#define PYBANDIT_LIL_UCB_H

#include <stdint.h>

#include "pybandit/_shared/bitgen.h"
#include "pybandit/_shared/heap.h"
#include "pybandit/_shared/status.h"
#include "pybandit/racing/factors.h"
#include "pybandit/racing/subsample.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Constants of lil'UCB; delta is the one in the formula of the bonus. */
typedef struct {
    double delta, epsilon, beta, lambda;
    double radius;  /* half the range of the rewards */
} pb_lil;

/*
 * Returns the bonus, with e = epsilon:
 * (1+beta)(1+sqrt e) sqrt(2 radius^2 (1+e) log(log((1+e) pulls + 2) / delta) / pulls).
 */
double pb_lil_bonus(const pb_lil *lil, double pulls);

/*
 * lil'UCB over a finite population (Chen & Ghahramani 2016, Sec. 3.2; Jamieson et
 * al. 2014). Each state has its own random order of factors. Each pull reads the next
 * factor of the state with the largest mean + bonus; the bonus is 0 once all N are read.
 */
typedef struct {
    /* the problem */
    pb_factors factors;
    const double *offsets;     /* per state, added to the total; -inf if it is impossible */
    const double *ranges;      /* per state; a larger spread of rewards is PB_RANGE */
    pb_lil lil;
    pb_subsample *subsamples;  /* one per state, of size N */

    /* workspace, owned by the caller: n_states entries each */
    double *sums, *low, *high;
    int64_t *pulls;
    pb_heap heap;              /* its keys and arms */

    /* outcome */
    int64_t winner;            /* after a failure: the state with the invalid reward */
    int64_t n_pulls;
    int ended;
    int exact;                 /* 1 if the race ended because all N of the winner were read */
    int64_t factor;            /* index of the last factor read */
    double reward;             /* its value */
} pb_lil_ucb;

/* Runs the race to the end. At least one offset must be finite. O(log n_states) per pull. */
pb_status pb_lil_ucb_run(pb_lil_ucb *race, pb_bitgen *bitgen);

/*
 * Run the race in parts, so that the caller can stop in between. `begin` pulls each state
 * once; `continue` makes up to n pulls. Call `continue` until `ended` is 1. After a failure, start
 * again with `begin`.
 */
pb_status pb_lil_ucb_begin(pb_lil_ucb *race, pb_bitgen *bitgen);
pb_status pb_lil_ucb_continue(pb_lil_ucb *race, pb_bitgen *bitgen, int64_t n);

#ifdef __cplusplus
}
#endif

#endif
