#ifndef PYBANDIT_KL_H
#define PYBANDIT_KL_H

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The Kullback-Leibler divergence of two Bernoulli distributions,
 *     kl(p, q) = p log(p / q) + (1 - p) log((1 - p) / (1 - q)),
 * and its inverses in q: bounds on a mean estimated as p from rewards in [0, 1]. Each result
 * depends on the two arguments alone, so equal arms have bitwise equal bounds.
 */

/* Returns kl(p, q) for p and q in [0, 1]; INFINITY if q excludes an outcome that p allows. */
double pb_kl(double p, double q);

/*
 * Return the largest q in [mean, 1] and the least q in [0, mean] with kl(mean, q) <= level,
 * for mean in [0, 1] and level >= 0. Their error is a few units in the last place of the larger
 * of q and the mean; the lower bound has relative error below 1e-13 down to 1e-290.
 */
double pb_kl_upper(double mean, double level);
double pb_kl_lower(double mean, double level);

/*
 * Returns -log(1 - pb_kl_upper(mean, level)), which increases with the upper bound but keeps
 * bounds near 1 distinct where the bound itself rounds to 1. INFINITY if the mean is 1.
 * Concave in the level.
 */
double pb_kl_upper_tail(double mean, double level);

/* Returns f(t) = log t + 3 log log t, or f(3) if t < 3. KL-UCB uses N kl(mean, q) <= f(t). */
double pb_kl_round(double t);

#ifdef __cplusplus
}
#endif

#endif
