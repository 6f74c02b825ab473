/* Proposals and their adaptation (pybandit/mcmc/moves.h). */
#include "pybandit/mcmc/moves.h"

#include <math.h>

#define DECAY 0.6     /* exponent of the adaptation's step size */
#define HEADROOM 1.5  /* above 1, so that one rejection does not shorten independent draws */

void pb_move_multiply(const double *factor, const double *x, int64_t d, double *out)
{
    for (int64_t j = 0; j < d; j++) {
        double sum = 0.0;
        for (int64_t k = 0; k <= j; k++)
            sum += factor[j * d + k] * x[k];
        out[j] = sum;
    }
}

/* Returns |factor^{-1} (z - center)|^2. */
static double distance(const pb_move *move, const double *z, int64_t d, double *work)
{
    double sum = 0.0;
    for (int64_t j = 0; j < d; j++) {
        double left = z[j] - (move->center ? move->center[j] : 0.0);
        if (move->factor) {
            for (int64_t k = 0; k < j; k++)
                left -= move->factor[j * d + k] * work[k];
            work[j] = left / move->factor[j * d + j];
            left = work[j];
        }
        sum += left * left;
    }
    return sum;
}

double pb_move_propose(const pb_move *move, const double *z, int64_t d, pb_normal_draw normal,
                       pb_bitgen *bitgen, double *next, double *work)
{
    const int is_walk = move->kind == PB_MOVE_WALK;
    const double b = is_walk ? move->scale : fmin(1.0, move->scale);
    const double keep = is_walk ? 1.0 : sqrt(1.0 - b * b);
    double *noise = move->factor ? work : next;
    for (int64_t i = 0; i < d; i++)
        noise[i] = normal(bitgen);
    if (move->factor)
        pb_move_multiply(move->factor, work, d, next);
    for (int64_t i = 0; i < d; i++) {
        const double center = move->center ? move->center[i] : 0.0;
        next[i] = center + keep * (z[i] - center) + b * next[i];
    }
    if (is_walk)
        return 0.0;
    /* reversible for N(center, factor factor'): see Preconditioned */
    return 0.5 * (distance(move, next, d, work) - distance(move, z, d, work));
}

void pb_move_adapt(pb_move *move, int accepted, int reads_all)
{
    const double target = reads_all ? move->target_all : move->target;
    move->n_adapted++;
    move->scale *= exp((accepted - target) / pow((double)move->n_adapted, DECAY));
    if (move->kind == PB_MOVE_AUTOREGRESSIVE)
        move->scale = fmin(HEADROOM, move->scale);
}
