#ifndef PYBANDIT_POPULATIONS_H
#define PYBANDIT_POPULATIONS_H

#include <stdint.h>

#include "pybandit/_shared/bitgen.h"
#include "pybandit/_shared/status.h"
#include "pybandit/racing/column.h"
#include "pybandit/racing/factors.h"
#include "pybandit/racing/subsample.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A race of arms that each have factors of their own, for the largest
 * offset + sum (Chen & Ghahramani 2016, App. C.3). Arm i leaves when its total is
 * behind the leader's by more than B sqrt(v_x + v_i),
 * v = N^2 s^2 / T (1 - (T - 1) / (N - 1)).
 *
 * With `student`, s^2 has divisor T - 1, B becomes Student's quantile of the same level
 * with Welch's degrees of freedom, skewness makes it larger or smaller, and an arm of
 * which fewer than five factors differ from the first is read on.
 */
typedef struct {
    /* the problem */
    int64_t n_arms;
    const int64_t *sizes;         /* N of each, >= 0 */
    const double *const *values;  /* its N factors; NULL: the function has them, */
    pb_factor_function function;  /* called with states = one arm */
    void *user_data;
    const double *offsets;        /* one an arm; -inf: impossible */
    double boundary;              /* B */
    int student;
    int64_t first_look;           /* >= 2 */
    pb_subsample *subsamples;     /* one an arm, of its size where that is not 0 */

    /* workspace, the caller's */
    int64_t block;                /* entries of the next two, at least 1 */
    int64_t *indices;
    double *rewards;
    int64_t *alive;               /* n_arms */
    pb_column *columns;           /* n_arms */

    /* outcome */
    int64_t winner;               /* after a failure: the arm whose reward is at fault */
    int64_t n_looks;
    int64_t n_evaluations;
    int exact;                    /* every arm left at the last look was read to the end; arms
                                     dropped before may have been better */
    int64_t bad_factor;           /* after PB_NOT_FINITE: which, or -1, and what it was */
    double bad_reward;

    int64_t n_alive;
} pb_populations;

/*
 * How many of `size` factors are read at the look after the one with `n_read`: the
 * first look, then a tenth of the rest more, then twice as many at each.
 */
int64_t pb_populations_next(int64_t size, int64_t first_look, int64_t n_read);

/* Runs to the end; at least one offset is finite. O(1) a factor read. */
pb_status pb_populations_run(pb_populations *race, pb_bitgen *bitgen);

#ifdef __cplusplus
}
#endif

#endif
