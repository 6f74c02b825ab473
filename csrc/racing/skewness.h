#ifndef SKEWNESS_H
#define SKEWNESS_H

/*
 * Student's t for skewed values, and limits of significant gaps. Private to the races.
 *
 * The mean of skewed values is correlated with their standard deviation, so one tail of t
 * is heavier than Student's and the other lighter. To first order (Johnson 1978)
 *
 *     t + c0 + c2 t^2,   c0 = r / 6,   c2 = (3 c - r) / 6
 *
 * has Student's tails again. Here r is the skewness of the mean and c its covariance with
 * the variance, both in standard errors. For T of N values read without replacement, with
 * skewness g and share = 1 - (T - 1) / (N - 1),
 *
 *     r = g (1 - 2 (T - 1) / (N - 2)) / sqrt(T share),   c = g sqrt(share / T)
 *
 * For T much smaller than N, the correction c0 + c2 t^2 is g (1 + 2 t^2) / (6 sqrt(T)).
 */
#include <math.h>
#include <stdint.h>

/*
 * If -c2 exceeds MOST_SKEWED (g / sqrt(T) = -0.1 for T much smaller than N), the tail is too
 * heavy for the expansion. On the light side c2 is capped at MOST_SKEWED. Equal caution on
 * that side gains nothing: the heavy tail errs as often, and with normal values twice as many
 * looks wait (now 1.8 % of those at 50 values).
 */
#define MOST_SKEWED (0.1 / 3.0)

/*
 * If the tail is too heavy, t must exceed HEAVY_T quantiles at -c2 = MOST_SKEWED, and
 * proportionally more for a larger -c2. SURE_T quantiles are always enough: -c2 is .5 when
 * half is read. LEAST_T quantiles are always required. With HEAVY_T = 2, or without the
 * proportional increase, errors exceed delta for t4 data on two scales, where a single factor
 * determines the difference of two totals.
 */
#define HEAVY_T 3.0
#define SURE_T 45.0
#define LEAST_T 0.5

/* Rows that must differ from the first one before a standard deviation is trusted. */
enum { LEAST_OTHERS = 5 };

/* Squares of smaller numbers underflow, so the standard deviation of such a gap may be 0. */
#define LEAST_GAP 0x1p-511

/* c0 and c2; c2 is NaN if a variance is 0. */
typedef struct {
    double c0, c2;
} correction;

static inline correction correction_of(double r, double c)
{
    correction k = {r * (1.0 / 6.0), 0.5 * c - r * (1.0 / 6.0)};
    if (k.c2 > MOST_SKEWED) {
        k.c0 *= MOST_SKEWED / k.c2;
        k.c2 = MOST_SKEWED;
    }
    return k;
}

/* Returns the t at which t + c0 + c2 t^2 equals the quantile, within the limits above. */
static inline double skewed_quantile(double quantile, double r, double c)
{
    const correction k = correction_of(r, c);
    const double root = 1.0 + 4.0 * k.c2 * (quantile - k.c0);
    if (!(k.c2 > -MOST_SKEWED))
        return fmin(HEAVY_T * -k.c2 / MOST_SKEWED, SURE_T) * quantile;
    if (root < 0.0)
        return HEAVY_T * quantile;
    const double t = 2.0 * (quantile - k.c0) / (1.0 + sqrt(root));
    return fmin(fmax(t, LEAST_T * quantile), HEAVY_T * quantile);
}

/* Values of a look that are equal for all states. */
typedef struct {
    double quantile;
    double unit;  /* standard error of a mean per unit of sd */
    double r, c;  /* for values with skewness 1 */
} skew_look;

static inline skew_look skew_look_at(double scale, double unit, int64_t n_read,
                                     int64_t n_factors)
{
    const double read = (double)n_read;
    const double share = 1.0 - (read - 1.0) / ((double)n_factors - 1.0);
    const double uneven = 1.0 - 2.0 * (read - 1.0) / ((double)n_factors - 2.0);
    const double per = 1.0 / sqrt(read * share);
    return (skew_look){scale / unit, unit, uneven * per, share * per};
}

/* Returns the t to exceed for values with this variance and third central moment. */
static inline double quantile_of(const skew_look *look, double variance, double third)
{
    const double skewness = third / (variance * sqrt(variance));
    return skewed_quantile(look->quantile, skewness * look->r, skewness * look->c);
}

#endif
