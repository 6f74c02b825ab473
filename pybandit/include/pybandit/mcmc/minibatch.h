#ifndef PYBANDIT_MINIBATCH_H
#define PYBANDIT_MINIBATCH_H

#include <stdint.h>

#include "pybandit/_shared/bitgen.h"
#include "pybandit/_shared/status.h"
#include "pybandit/mcmc/alias.h"
#include "pybandit/mcmc/glm.h"
#include "pybandit/mcmc/moves.h"
#include "pybandit/racing/factors.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Metropolis-Hastings with an exact test that reads few rows. The log posterior is a quadratic
 * function around a mode plus remainders r_i of the rows. In coordinates z, where
 * theta = mode + L z, the quadratic part is slope'z - |z|^2 / 2, and
 *   |r_i(z') - r_i(z)| <= c_i M(z, z')
 * where c_i is the `bound` of a row. The remainders are those of glm.h or user-defined.
 */
typedef enum {
    PB_MINIBATCH_FACTORISED,  /* accepts with probability min(1, e^quadratic)
                                 prod_i min(1, e^(r_i' - r_i)) (Cornish et al. 2019) */
    PB_MINIBATCH_AUXILIARY    /* uses Poisson counts of the rows as auxiliary variables (Zhang &
                                 De Sa 2020; Prado, Nemeth & Sherlock 2024) */
} pb_minibatch_test;

/* Formula of M. */
typedef enum {
    PB_MINIBATCH_LINE,   /* pb_minibatch_spread: rows depend on x_i'theta alone */
    PB_MINIBATCH_SPACE,  /* pb_minibatch_spread_any, of theta - mode */
    PB_MINIBATCH_OWN     /* user-defined function */
} pb_minibatch_form;

/* The problem. Read only; many chains can share it. */
typedef struct {
    pb_glm glm;              /* n_rows below 2^32. For user-defined remainders only the sizes and
                                the features are read; features are NULL unless the form is LINE */
    const pb_glm_row *rows;  /* filled by pb_glm_anchor for this mode and factor; for
                                user-defined remainders only `bound` and, for LINE, `third`
                                are read */
    const pb_alias *alias;   /* table of the bounds */
    double total;            /* sum of the bounds */
    const double *mode;      /* d */
    const double *factor;    /* L, lower triangular, (d, d) */
    const double *slope;     /* d: L' times the gradient of the log posterior at the mode */
    pb_minibatch_test test;
    double gamma;            /* above 0; auxiliary only: c_i M gamma is added to the rates */
    double most;             /* if more rows than this are expected, all are read, in order */
    double radius;           /* the target is restricted to |z| <= radius, and bounds need only
                                hold there; INFINITY: unrestricted */
    pb_minibatch_form form;
} pb_minibatch;

typedef int64_t (*pb_poisson_draw)(void *state, double mean);

/* User-defined remainders, for one chain. */
typedef struct {
    pb_factors factors;      /* one state: r_i(points[1]) - r_i(points[0]); a row may occur twice
                                in a call */
    double *points;          /* (2, d): current and proposed theta, read by the functions */
    double slack;            /* amount by which rounding may take a difference above its bound */
    int (*spread)(void *data, double *out);  /* writes M of `points`; not 0: failed. OWN */
    void *spread_data;
} pb_own_rows;

typedef struct {
    const pb_minibatch *problem;
    pb_move *moves;
    int64_t n_moves;
    pb_normal_draw normal;    /* both draw from the bit generator */
    pb_poisson_draw poisson;
    int adapts;               /* 1 if steps change the scales of the moves */
    pb_own_rows *own;         /* NULL: use the remainders of glm */

    /* memory owned by the caller, d values each; `z` and `point` hold the start of the chain */
    double *z;
    double *point;            /* L z */
    double *next_z, *next_point, *work;

    /* tests that read all rows of glm: the sum of the remainders at `point`, if it is known */
    int is_known;
    double remainders;

    /* sums over the steps since the caller set them to 0 */
    int64_t n_accepted;
    int64_t n_evaluations;    /* rows read */
    int64_t n_exact;          /* tests that read all rows */

    /* set with PB_RANGE and PB_NOT_FINITE; bad_row is -1 if M is not finite or negative */
    int64_t bad_row;
    double bad_difference, bad_bound;
} pb_chain;

/* Returns the total number of values of z, point, next_z, next_point and work. */
static inline int64_t pb_chain_memory(int64_t n_parameters)
{
    return 5 * n_parameters;
}

/* Computes point = L z. O(d^2). */
void pb_chain_place(pb_chain *chain);

/*
 * Runs one step. Returns PB_OK, or PB_RANGE if a difference exceeds its bound; differences are not
 * computed row by row if all rows of glm are read. With user-defined
 * functions it also returns PB_CALLBACK if one failed, and PB_NOT_FINITE if a value is not
 * finite. After an error the state of the chain is unchanged. O(d^2 + rows d).
 */
pb_status pb_chain_step(pb_chain *chain, pb_bitgen *bitgen);

/*
 * Returns M(z, z') = max over |w| = 1 of |(w'z')^3 - (w'z)^3| / 3, which is symmetric. It is at
 * most |z' - z| max(|z|^2, |z'|^2), and a third to a half of that for independent normal z, z'.
 * O(d).
 */
double pb_minibatch_spread(const double *z, const double *next, int64_t d);

/*
 * Returns the integral of |x + t a|^2 |a| over t in [0, 1], where a = x' - x. It equals
 * |a| (|m|^2 + |a|^2 / 12), where m = (x + x') / 2. If the third derivative of l_i, as a form on
 * x, is at most k_i in norm, this is M for c_i = k_i / 2. O(d).
 */
double pb_minibatch_spread_any(const double *x, const double *next, int64_t d);

#ifdef __cplusplus
}
#endif

#endif
