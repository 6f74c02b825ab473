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
 * Race of arms with separate populations of factors, for the largest offset + sum
 * (Chen & Ghahramani 2016, App. C.3). Arm i is eliminated if its estimated total is
 * smaller than the leader's by more than B sqrt(v_x + v_i), where x is the leader and
 * v = N^2 s^2 / T (1 - (T - 1) / (N - 1)).
 *
 * With `student`, s^2 has divisor T - 1, B becomes Student's quantile of the same level
 * with Welch's degrees of freedom, and the quantile is corrected for skewness. No arm is
 * then eliminated while fewer than five of its factors, or of the leader's, differ from
 * the first one read.
 */
typedef struct {
    /* the problem */
    int64_t n_arms;
    const int64_t *sizes;         /* N of each arm, >= 0 */
    const double *const *values;  /* the N factors of each arm; NULL: `function` returns them */
    pb_factor_function function;  /* called with one arm as its only state */
    void *user_data;
    const double *offsets;        /* per arm; -inf if the arm is impossible */
    double boundary;              /* B */
    int student;
    int64_t first_look;           /* >= 2 */
    pb_subsample *subsamples;     /* one per arm, of the arm's size; unused if that is 0 */

    /* workspace, owned by the caller */
    int64_t block;                /* length of indices and of rewards, at least 1 */
    int64_t *indices;
    double *rewards;
    int64_t *alive;               /* n_arms */
    pb_column *columns;           /* n_arms */

    /* outcome */
    int64_t winner;               /* after a failure: the arm with the invalid reward */
    int64_t n_looks;
    int64_t n_evaluations;
    int exact;                    /* 1 if all factors of every arm left at the last look were
                                     read; an arm eliminated earlier may have been better */
    int64_t bad_factor;           /* after PB_NOT_FINITE: index of the invalid factor, or -1 if
                                     only a square is not finite */
    double bad_reward;            /* its value */

    int64_t n_alive;
} pb_populations;

/*
 * Returns how many of `size` factors the look after the one at `n_read` has read: first
 * `first_look`, then a tenth of the remaining ones more, then twice as many at each look.
 */
int64_t pb_populations_next(int64_t size, int64_t first_look, int64_t n_read);

/* Runs the race to the end. At least one offset must be finite. O(1) per factor read. */
pb_status pb_populations_run(pb_populations *race, pb_bitgen *bitgen);

#ifdef __cplusplus
}
#endif

#endif
