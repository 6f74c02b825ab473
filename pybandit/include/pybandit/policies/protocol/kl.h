#ifndef PYBANDIT_KL_H
#define PYBANDIT_KL_H

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The Kullback-Leibler divergence of two Bernoulli laws,
 *     kl(p, q) = p log(p / q) + (1 - p) log((1 - p) / (1 - q)),
 * and its inverses in q: the bounds of a mean p of rewards in [0, 1]. Each is a function
 * of its two arguments and nothing else: equal arms have equal bounds, to the bit.
 */

/* p and q in [0, 1]; INFINITY where q excludes what p allows. */
double pb_kl(double p, double q);

/*
 * The largest q in [mean, 1], and the least in [0, mean], with kl(mean, q) <= level;
 * mean in [0, 1], level >= 0. Within a few units in the last place of the larger of q and
 * the mean; the lower one is relatively exact to 1e-13 as far down as 1e-290.
 */
double pb_kl_upper(double mean, double level);
double pb_kl_lower(double mean, double level);

/*
 * -log(1 - pb_kl_upper(mean, level)): as increasing, and never rounded to that of 1 or of
 * another bound near it; INFINITY where the mean is 1. Concave in the level, too.
 */
double pb_kl_upper_tail(double mean, double level);

/* f(t) = log t + 3 log log t, and f(3) before: T kl(mean, q) <= f(t) is KL-UCB's bound. */
double pb_kl_round(double t);

#ifdef __cplusplus
}
#endif

#endif
