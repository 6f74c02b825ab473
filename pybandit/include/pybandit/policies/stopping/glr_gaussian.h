#ifndef PYBANDIT_GLR_GAUSSIAN_H
#define PYBANDIT_GLR_GAUSSIAN_H

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Evidence that arm a is better than arm b. For Gaussian rewards of standard deviation 1, the
 * likelihood mixed over means above the true one, divided by the likelihood of the true mean, is
 * a martingale of mean 1; so is the product of this ratio over two arms. The mixture consists of
 * half-normal distributions of PB_WIDTHS widths.
 */
enum { PB_WIDTHS = 5 };  /* 2, 1/2, 1/8, 1/32, 1/128 */

/*
 * Returns the logarithm of the ratio for n > 0 rewards whose mean is d above the true one.
 * Increasing and convex in d, at most log 2 + n d^2 / 2. *slope receives the derivative in d.
 */
double pb_glr_gaussian_evidence(double n, double d, double *slope);

/*
 * Returns the least evidence against "b is at least as good as a" if a's mean is `gap` above
 * b's: the minimum over x of evidence(n_a, gap - x) + evidence(n_b, x). Below 0 if gap <= 0.
 * If `enough` is not NaN, the result may differ from the minimum, but is on the same side of
 * `enough`: either at most `enough`, or above it and no larger than the minimum.
 */
double pb_glr_gaussian_least(double n_a, double n_b, double gap, double enough);

#ifdef __cplusplus
}
#endif

#endif
