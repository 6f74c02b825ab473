#ifndef PYBANDIT_GLM_H
#define PYBANDIT_GLM_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Regressions in which the log likelihood of a row depends on the parameters only through
 * s = x'theta and has a bounded third derivative in s, either everywhere or for |z| <= radius,
 * z = L^{-1} (theta - mode). Exact tests on minibatches need this bound.
 */
typedef enum {
    PB_GLM_LOGISTIC,  /* y s - trials log(1 + e^s); binomial: y successes in `trials` */
    PB_GLM_PROBIT,    /* log Phi(s) if y = 1, log Phi(-s) if y = 0 */
    PB_GLM_STUDENT,   /* -(df + 1) / 2 log(1 + ((y - s) / scale)^2 / df) */
    PB_GLM_POISSON    /* y s - e^s, on the ball |z| <= radius */
} pb_glm_family;

typedef struct {
    pb_glm_family family;
    int64_t n_rows;
    int64_t n_parameters;
    const double *features;  /* C-ordered, (n_rows, n_parameters) */
    const double *labels;    /* y, n_rows values */
    const double *trials;    /* n_rows values above 0; NULL: all 1. Logistic only */
    double df;               /* above 0; Student only */
    double scale;            /* above 0; Student only */
    double radius;           /* of the ball; Poisson only */
} pb_glm;

/*
 * Values of one row that a test reads besides its features, in half a cache line. The remainder
 * of row i is r_i(D) = l_i(s_i + D) - l_i(s_i) - l_i'(s_i) D - l_i''(s_i) D^2 / 2, with
 * s_i = x_i'mode.
 */
typedef struct {
    double bound;    /* c_i = third / 2 |L'x_i|^3 */
    double third;    /* bound on the absolute third derivative of l_i */
    double anchor;   /* logistic: p if p <= 1 - p, else -(1 - p), with p taken at s_i; probit:
                        s_i if y = 1, -s_i if y = 0; Student: (y - s_i) / scale; Poisson: s_i */
    double weight;   /* logistic: trials; probit: 1 if y = 1, -1 if y = 0; Student: 1; Poisson:
                        e^(s_i) */
} pb_glm_row;

/*
 * Returns a bound on the absolute third derivative of one trial over all s: logistic
 * 1 / (6 sqrt 3), probit .2959, Student (df + 1) (3 / 2 + sqrt 2) / (2 df^(3/2) scale^3),
 * Poisson infinity. Each Poisson row has its own bound on the ball, e^(s_i + |L'x_i| radius).
 * glm.c contains the proofs.
 */
double pb_glm_third(const pb_glm *glm);

/*
 * Adds the log likelihood of rows begin, begin + stride, ... below end to *value, its gradient to
 * `gradient` (d), and its Hessian to the lower triangle of `hessian` (d, d). Terms that do not
 * depend on the parameters are left out. If `is_safe` is set, the Hessian is that of a quadratic
 * lower bound that touches the log likelihood at theta. It is negative semidefinite everywhere,
 * and its Newton steps never lead down. This Hessian differs from the exact one for Student only.
 * O(d^2) per row.
 */
void pb_glm_sums(const pb_glm *glm, int64_t begin, int64_t end, int64_t stride, int is_safe,
                 const double *theta, double *value, double *gradient, double *hessian);

/*
 * Fills rows[begin] to rows[end - 1]. `factor` is L, lower triangular, (d, d); `work` has room
 * for d values. O(d^2) per row.
 */
void pb_glm_anchor(const pb_glm *glm, int64_t begin, int64_t end, const double *mode,
                   const double *factor, pb_glm_row *rows, double *work);

/* Returns r_i(change) of a row. */
double pb_glm_remainder(const pb_glm *glm, const pb_glm_row *row, double change);

/*
 * Returns the sum of r_i(x_i'point) over all rows, for rows filled by pb_glm_anchor. A pass over
 * the features: for 50 of them and the logistic family 20 ns per row.
 */
double pb_glm_remainders(const pb_glm *glm, const pb_glm_row *rows, const double *point);

/* Returns a bound on the rounding error of pb_glm_remainder for the same arguments. */
double pb_glm_rounding(const pb_glm *glm, const pb_glm_row *row, double change);

#ifdef __cplusplus
}
#endif

#endif
