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

/* The constants of lil'UCB; delta is the one inside the bonus. */
typedef struct {
    double delta, epsilon, beta, lambda;
    double radius;  /* half the range of the rewards */
} pb_lil;

/* (1+beta)(1+sqrt e) sqrt(2 radius^2 (1+e) log(log((1+e) pulls + 2) / delta) / pulls) */
double pb_lil_bonus(const pb_lil *lil, double pulls);

/*
 * lil'UCB over a finite population (Chen & Ghahramani 2016, Sec. 3.2; Jamieson et
 * al. 2014): each state's factors are read in an order of its own, one at a time,
 * where mean + bonus is largest; the bonus is 0 once all N are read.
 */
typedef struct {
    /* the problem */
    pb_factors factors;
    const double *offsets;     /* one a state, on the scale of the total; -inf: impossible */
    const double *ranges;      /* one a state; more is PB_RANGE */
    pb_lil lil;
    pb_subsample *subsamples;  /* one a state, of size N */

    /* workspace, the caller's: n_states each */
    double *sums, *low, *high;
    int64_t *pulls;
    pb_heap heap;              /* its keys and arms */

    /* outcome */
    int64_t winner;            /* after a failure: the state whose reward is at fault */
    int64_t n_pulls;
    int ended;
    int exact;                 /* it ended because the best state was read to the end */
    int64_t factor;            /* the last one read, and its reward */
    double reward;
} pb_lil_ucb;

/* Runs to the end; at least one offset is finite. O(log n_states) a pull. */
pb_status pb_lil_ucb_run(pb_lil_ucb *race, pb_bitgen *bitgen);

/*
 * The same in parts, so that a caller may stop between them: a pull of each state, then n
 * pulls at a time until it has `ended`. A failed race is begun anew.
 */
pb_status pb_lil_ucb_begin(pb_lil_ucb *race, pb_bitgen *bitgen);
pb_status pb_lil_ucb_continue(pb_lil_ucb *race, pb_bitgen *bitgen, int64_t n);

#ifdef __cplusplus
}
#endif

#endif
