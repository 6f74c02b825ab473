#ifndef PYBANDIT_GLR_GAUSSIAN_H
#define PYBANDIT_GLR_GAUSSIAN_H

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Is arm a better than b? The likelihood of Gaussian rewards of standard deviation 1, mixed over
 * means above the true one, over that of the true mean: a martingale of mean 1, as is the product
 * of two arms'. The means above it are of halves of normal laws of PB_WIDTHS widths.
 */
enum { PB_WIDTHS = 5 };  /* 2, 1/2, 1/8, 1/32, 1/128 */

/*
 * The logarithm, of n > 0 rewards whose mean is d above the true one; increasing and convex in d.
 * At most log 2 + n d^2 / 2. `slope`: the derivative.
 */
double pb_glr_gaussian_evidence(double n, double d, double *slope);

/*
 * What rewards say at least against "b is as good as a", where a's mean is `gap` above b's: the
 * least over x of evidence(n_a, gap - x) + evidence(n_b, x). Below 0 where gap is at most 0. Where `enough` is a number, any value on the same side of it as the least: at most `enough`, or
 * above it and no larger than the least.
 */
double pb_glr_gaussian_least(double n_a, double n_b, double gap, double enough);

#ifdef __cplusplus
}
#endif

#endif
