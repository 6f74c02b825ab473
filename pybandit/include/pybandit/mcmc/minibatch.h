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
 * Metropolis-Hastings whose test reads few rows and is exact. The log posterior is a
 * quadratic function around a mode plus remainders r_i of the rows. In z, where
 * theta = mode + L z, the quadratic one is slope'z - |z|^2 / 2, and
 *   |r_i(z') - r_i(z)| <= c_i M(z, z')
 * c_i the `bound` of a row. The remainders are those of glm.h, or the caller's.
 */
typedef enum {
    PB_MINIBATCH_FACTORISED,  /* accepts with min(1, e^quadratic) prod_i min(1, e^(r_i' - r_i))
                                 (Cornish et al. 2019) */
    PB_MINIBATCH_AUXILIARY    /* with Poisson counts of the rows as auxiliary variables (Zhang &
                                 De Sa 2020; Prado, Nemeth & Sherlock 2024) */
} pb_minibatch_test;

/* What M is. */
typedef enum {
    PB_MINIBATCH_LINE,   /* pb_minibatch_spread: rows depend on x_i'theta alone */
    PB_MINIBATCH_SPACE,  /* pb_minibatch_spread_any, of theta - mode */
    PB_MINIBATCH_OWN     /* a function of the caller's */
} pb_minibatch_form;

/* Read only: many chains share it. */
typedef struct {
    pb_glm glm;              /* n_rows below 2^32. Where the remainders are the caller's only the
                                sizes are read, and the features, NULL unless the form is LINE */
    const pb_glm_row *rows;  /* anchored at mode and factor; of a caller's only bound and, with
                                LINE, third */
    const pb_alias *alias;   /* over their bounds */
    double total;            /* sum of the bounds */
    const double *mode;      /* d */
    const double *factor;    /* L, lower triangular, (d, d) */
    const double *slope;     /* d: L' times the gradient of the log posterior at the mode */
    pb_minibatch_test test;
    double gamma;            /* above 0; auxiliary only: c_i M gamma is added to the rates */
    double most;             /* where more rows than this are expected, all are read, in order */
    double radius;           /* the target ends where |z| is that, and bounds need not hold past
                                it; INFINITY: nowhere */
    pb_minibatch_form form;
} pb_minibatch;

typedef int64_t (*pb_poisson_draw)(void *state, double mean);

/* Remainders of a caller's, for one chain. */
typedef struct {
    pb_factors factors;      /* one state: r_i(points[1]) - r_i(points[0]); a row may come twice
                                in a call */
    double *points;          /* (2, d): theta, and theta proposed, which the functions read */
    double slack;            /* what a difference may exceed its bound by: rounding of factors */
    int (*spread)(void *data, double *out);  /* M of points; not 0: it failed. OWN only */
    void *spread_data;
} pb_own_rows;

typedef struct {
    const pb_minibatch *problem;
    pb_move *moves;
    int64_t n_moves;
    pb_normal_draw normal;    /* both draw from the bit generator */
    pb_poisson_draw poisson;
    int adapts;               /* whether steps change the scales of the moves */
    pb_own_rows *own;         /* NULL: the remainders of glm */

    /* the caller's, d each; `z` and `point` begin with where the chain is */
    double *z;
    double *point;            /* L z */
    double *next_z, *next_point, *work;

    /* sums, of steps since the caller set them to 0 */
    int64_t n_accepted;
    int64_t n_evaluations;    /* rows that were read */
    int64_t n_exact;          /* tests that read all */

    /* after PB_RANGE; and PB_NOT_FINITE, where the row is -1 if M is at fault */
    int64_t bad_row;
    double bad_difference, bad_bound;
} pb_chain;

/* The numbers of a chain's memory: of z, point, next_z, next_point and work together. */
static inline int64_t pb_chain_memory(int64_t n_parameters)
{
    return 5 * n_parameters;
}

/* point = L z. O(d^2). */
void pb_chain_place(pb_chain *chain);

/*
 * One step. PB_OK, or PB_RANGE where a difference was read that exceeds its bound; of a
 * caller's functions PB_CALLBACK where one failed, PB_NOT_FINITE. The chain is as before then.
 * O(d^2 + rows d).
 */
pb_status pb_chain_step(pb_chain *chain, pb_bitgen *bitgen);

/*
 * M(z, z') = max over |w| = 1 of |(w'z')^3 - (w'z)^3| / 3; the same for (z', z). At most
 * |z' - z| max(|z|^2, |z'|^2), and a third to a half of that for independent normal z, z'.
 * O(d).
 */
double pb_minibatch_spread(const double *z, const double *next, int64_t d);

/*
 * The integral of |x + t a|^2 |a| over t in [0, 1], a = x' - x: |a| (|m|^2 + |a|^2 / 12), m
 * halfway. With |third derivative of l_i| <= k_i as a form on x, it is M for c_i = k_i / 2. O(d).
 */
double pb_minibatch_spread_any(const double *x, const double *next, int64_t d);

#ifdef __cplusplus
}
#endif

#endif
