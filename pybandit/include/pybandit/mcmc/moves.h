#ifndef PYBANDIT_MOVES_H
#define PYBANDIT_MOVES_H

#include <stdint.h>

#include "pybandit/_shared/bitgen.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Walk: z' = z + scale factor xi. Autoregressive: z' = center + sqrt(1 - b^2) (z - center)
 * + b factor xi, with b = min(1, scale). xi is standard normal.
 */
typedef enum { PB_MOVE_WALK, PB_MOVE_AUTOREGRESSIVE } pb_move_kind;

typedef struct {
    pb_move_kind kind;
    const double *factor;  /* lower triangular, (d, d); NULL: identity */
    const double *center;  /* d; NULL: 0. Autoregressive only */
    double below;          /* cumulative probability: the first move with u < below is used */
    double target;         /* acceptance rate aimed at by adaptation */
    double target_all;     /* the same, in steps whose test reads all rows */
    double scale;          /* current scale */
    int64_t n_adapted;     /* steps that adapted the scale */
} pb_move;

/* Returns a standard normal number drawn from a bit generator. */
typedef double (*pb_normal_draw)(void *bitgen);

/*
 * Writes the d values of z' to `next`; returns log q(z|z') - log q(z'|z). `work` has room for d
 * values. O(d), or O(d^2) with a factor.
 */
double pb_move_propose(const pb_move *move, const double *z, int64_t d, pb_normal_draw normal,
                       pb_bitgen *bitgen, double *next, double *work);

/*
 * Adds (accepted - target) / n_adapted^.6 to log scale, with target_all instead of target if
 * `reads_all`. The scale of an autoregressive move stays at or below 1.5; 1 is the longest step.
 */
void pb_move_adapt(pb_move *move, int accepted, int reads_all);

/* Computes out = factor x for a lower triangular factor; out must not be x. */
void pb_move_multiply(const double *factor, const double *x, int64_t d, double *out);

#ifdef __cplusplus
}
#endif

#endif
