#ifndef PYBANDIT_GLM_H
#define PYBANDIT_GLM_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Regressions whose log likelihood of a row depends on the parameters through s = x'theta
 * alone, and whose third derivative in s is bounded, on the line or where |z| <= radius, z =
 * L^{-1} (theta - mode): what exact tests on minibatches need.
 */
typedef enum {
    PB_GLM_LOGISTIC,  /* y s - trials log(1 + e^s), y of `trials`: binomial too */
    PB_GLM_PROBIT,    /* log Phi(s) where y = 1, log Phi(-s) where y = 0 */
    PB_GLM_STUDENT,   /* -(df + 1) / 2 log(1 + ((y - s) / scale)^2 / df) */
    PB_GLM_POISSON    /* y s - e^s, on a ball */
} pb_glm_family;

typedef struct {
    pb_glm_family family;
    int64_t n_rows;
    int64_t n_parameters;
    const double *features;  /* C-ordered, (n_rows, n_parameters) */
    const double *labels;    /* n_rows: y */
    const double *trials;    /* n_rows, above 0; NULL: 1. Logistic only */
    double df;               /* above 0; Student only, as the next */
    double scale;            /* above 0 */
    double radius;           /* of the ball; Poisson only */
} pb_glm;

/*
 * What a test wants of a row beside its features, in half a cache line. The remainder of
 * row i is r_i(D) = l_i(s_i + D) - l_i(s_i) - l_i'(s_i) D - l_i''(s_i) D^2 / 2, where s_i is
 * x_i'mode.
 */
typedef struct {
    double bound;    /* c_i = third / 2 |L'x_i|^3 */
    double third;    /* the most that the third derivative of l_i is in size */
    double anchor;   /* logistic: the smaller one of p and 1 - p at s_i, below 0 for 1 - p;
                        probit: s_i, or -s_i where y = 0; Student: (y - s_i) / scale;
                        Poisson: s_i */
    double weight;   /* logistic: trials; probit: 1, or -1 where y = 0; Student: 1; Poisson:
                        e^(s_i) */
} pb_glm_row;

/*
 * The most that the third derivative is in size, anywhere on the line, of one trial:
 * logistic 1 / (6 sqrt 3), probit .2957, Student (df + 1) (3 / 2 + sqrt 2) / (2 df^(3/2)
 * scale^3), Poisson infinity: there a row's own is e^(s_i + |L'x_i| radius). Proofs beside
 * the code.
 */
double pb_glm_third(const pb_glm *glm);

/*
 * Adds the log likelihood of rows begin, begin + stride, ... below end to *value, its
 * gradient to `gradient` (d), and its Hessian to the lower triangle of `hessian` (d, d);
 * what does not depend on the parameters is left out. `is_safe` takes a Hessian from below
 * that is negative semidefinite everywhere and whose Newton steps never lead down: another
 * one for Student only. O(d^2) a row.
 */
void pb_glm_sums(const pb_glm *glm, int64_t begin, int64_t end, int64_t stride, int is_safe,
                 const double *theta, double *value, double *gradient, double *hessian);

/*
 * Fills rows begin to end - 1; `factor` is L, lower triangular, (d, d). `work` holds d.
 * O(d^2) a row.
 */
void pb_glm_anchor(const pb_glm *glm, int64_t begin, int64_t end, const double *mode,
                   const double *factor, pb_glm_row *rows, double *work);

/* r_i(change) of a row. */
double pb_glm_remainder(const pb_glm *glm, const pb_glm_row *row, double change);

/* A rounding error of the remainder at a change is less than this. */
double pb_glm_rounding(const pb_glm *glm, const pb_glm_row *row, double change);

#ifdef __cplusplus
}
#endif

#endif
