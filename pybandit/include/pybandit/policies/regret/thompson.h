#ifndef PYBANDIT_THOMPSON_H
#define PYBANDIT_THOMPSON_H

#include <stdint.h>

#include "pybandit/_shared/bitgen.h"
#include "pybandit/policies/regret/logit_beta.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Thompson sampling: chooses the arm of the largest theta, each theta drawn from its posterior,
 * without drawing those that cannot be the largest. The choice has exactly the distribution of
 * the argmax, up to an error of about 1e-12.
 */
typedef enum {
    PB_THOMPSON_BETA,     /* theta ~ Beta(alpha + successes, beta + failures) */
    PB_THOMPSON_GAUSSIAN  /* theta ~ N(sum / count, noise^2 / count); no theta if count is 0 */
} pb_thompson_law;

enum { PB_THOMPSON_FEW = 32 };  /* Gaussian arms whose thetas are all drawn */

typedef struct {
    double gained, lost;  /* successes and failures; Gaussian: sum and count of rewards */
    double below;         /* P(theta <= threshold) */
    double density;       /* density of logit(theta) at the threshold; Gaussian: 0 */
} pb_thompson_arm;

typedef struct {
    /* set by the caller before pb_thompson_begin */
    pb_thompson_law law;
    double alpha, beta;      /* in [0.1, 1e9]; Gaussian: alpha is the noise > 0, beta unused */
    int64_t n_arms;
    pb_thompson_arm *arms;   /* n_arms */
    double *chances;         /* pb_thompson_chances(n_arms) */
    const unsigned char *aside; /* n_arms flags of arms without a theta; NULL if there are none */
    double *direct;          /* NULL, or, only if Gaussian, 2 n_arms: means and deviations */
    /* set by these functions */
    pb_logit threshold;      /* for logit(theta); Gaussian: for theta, in `at` */
    double spent, limit;     /* thetas drawn since the threshold was placed; when to place again */
    double all_spent;        /* thetas drawn under earlier thresholds */
    int64_t age;             /* rewards since the threshold was placed */
} pb_thompson;

/* Returns the number of entries of `chances`. */
int64_t pb_thompson_chances(int64_t n_arms);

/* Starts without rewards. O(n_arms). */
void pb_thompson_begin(pb_thompson *thompson);

/*
 * Adds a reward: (successes, failures), or (reward, 1) if Gaussian. O(1) for (1, 0) and (0, 1),
 * else the cost of pb_logit_beta_below.
 */
void pb_thompson_add(pb_thompson *thompson, int64_t arm, double gained, double lost);

/* Updates an arm after its flag in `aside` has changed. */
void pb_thompson_look(pb_thompson *thompson, int64_t arm);

/*
 * Returns the next arm; at least one must have a theta. O(n_arms / 16) plus a draw for each of
 * the few thetas above the threshold. About one choice in n_arms draws all thetas.
 */
int64_t pb_thompson_choose(pb_thompson *thompson, pb_bitgen *bitgen);

/*
 * Returns the next arm from n_arms standard normal numbers; -1 if no arm has a theta. Requires
 * `direct`, with which pb_thompson_choose must not be called. O(n_arms).
 */
int64_t pb_thompson_choose_drawn(const pb_thompson *thompson, const double *normals);

/*
 * Moves the threshold, which affects the time of later choices but not their distribution.
 * pb_thompson_choose calls it when needed. Evaluates O(n_arms) distribution functions.
 */
void pb_thompson_place(pb_thompson *thompson, double threshold);

/*
 * Resumes from saved `arms`, `chances`, `spent`, `limit`, `all_spent` and `age`. Returns 1 if
 * they match this threshold to 1e-6; otherwise start again with pb_thompson_begin.
 */
int pb_thompson_resume(pb_thompson *thompson, double threshold);

#ifdef __cplusplus
}
#endif

#endif
