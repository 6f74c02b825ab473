#ifndef PYBANDIT_THOMPSON_H
#define PYBANDIT_THOMPSON_H

#include <stdint.h>

#include "pybandit/_shared/bitgen.h"
#include "pybandit/policies/regret/logit_beta.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Thompson sampling: the arm of the largest theta, each drawn from its posterior, but
 * without drawing those that cannot be the largest. The choice has exactly the law of
 * the argmax, to about 1e-12.
 */
typedef enum {
    PB_THOMPSON_BETA,     /* theta ~ Beta(alpha + successes, beta + failures) */
    PB_THOMPSON_GAUSSIAN  /* theta ~ N(sum / count, noise^2 / count); no count: no theta */
} pb_thompson_law;

typedef struct {
    double gained, lost;  /* successes and failures; Gaussian: the sum and the count */
    double below;         /* P(theta <= threshold) */
    double density;       /* of logit(theta) at the threshold; Gaussian: 0 */
} pb_thompson_arm;

typedef struct {
    /* the caller's, set before pb_thompson_begin */
    pb_thompson_law law;
    double alpha, beta;      /* in [0.1, 1e9]; Gaussian: noise > 0, unused */
    int64_t n_arms;
    pb_thompson_arm *arms;   /* n_arms */
    double *chances;         /* pb_thompson_chances(n_arms) */
    const unsigned char *aside; /* n_arms flags of arms without a theta; NULL if there are none */
    /* the kernel's */
    pb_logit threshold;      /* for logit(theta); Gaussian: theta in `at` */
    double spent, limit;     /* thetas drawn since the threshold was placed; how many may be */
    double all_spent;
    int64_t age;             /* rewards since then */
} pb_thompson;

/* Entries of `chances`. */
int64_t pb_thompson_chances(int64_t n_arms);

/* No rewards yet. O(n_arms). */
void pb_thompson_begin(pb_thompson *thompson);

/*
 * A reward: (successes, failures), O(1) where it is (1, 0) or (0, 1), else as
 * pb_logit_beta_below; Gaussian: (reward, 1).
 */
void pb_thompson_add(pb_thompson *thompson, int64_t arm, double gained, double lost);

/* The arm's flag in `aside` has changed. */
void pb_thompson_look(pb_thompson *thompson, int64_t arm);

/*
 * The next arm. At least one has a theta. O(n_arms / 16) and a draw for each of the
 * few thetas above the threshold; one choice in about n_arms draws all.
 */
int64_t pb_thompson_choose(pb_thompson *thompson, pb_bitgen *bitgen);

/*
 * Moves the threshold, which changes the time of later choices, not their law. O(n_arms)
 * evaluations of a posterior's distribution function. pb_thompson_choose does so itself.
 */
void pb_thompson_place(pb_thompson *thompson, double threshold);

/*
 * Goes on with `arms`, `chances` and the four numbers after `threshold` as they were. Whether
 * they are what belongs to this threshold, to 1e-6; if not, begin anew.
 */
int pb_thompson_resume(pb_thompson *thompson, double threshold);

#ifdef __cplusplus
}
#endif

#endif
