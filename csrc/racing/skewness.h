#ifndef SKEWNESS_H
#define SKEWNESS_H

/*
 * What a gap must exceed, and Student's t where values are skewed: private to the races.
 *
 * The mean of skewed values and their deviation go together, so one tail of t is
 * heavier than Student's and the other lighter. To first order (Johnson 1978)
 *
 *     t + c0 + c2 t^2,   c0 = r / 6,   c2 = (3 c - r) / 6
 *
 * has Student's tails again: r is the skewness of the mean and c its covariance with
 * the variance, both in standard errors. For T of N values read without replacement,
 * share = 1 - (T - 1) / (N - 1) and g their skewness,
 *
 *     r = g (1 - 2 (T - 1) / (N - 2)) / sqrt(T share),   c = g sqrt(share / T)
 *
 * which is g (1 + 2 t^2) / (6 sqrt(T)) where T is small beside N.
 */
#include <math.h>
#include <stdint.h>

/*
 * Past -c2 = MOST_SKEWED (g / sqrt(T) = -0.1 where T is small beside N) the tail is too
 * heavy for the expansion. On the light side no more is believed than that. Caution there
 * as well gains nothing: the heavy tail errs as often, and on normal values twice as many
 * looks wait (1.8 % of those at 50 do now).
 */
#define MOST_SKEWED (0.1 / 3.0)

/*
 * Where the tail is too heavy t must be so many quantiles, and in proportion more where
 * -c2 is larger; SURE_T are always enough, for -c2 is .5 where half is read. Never are
 * fewer than LEAST_T. With 2 for 3, and with a plain 3 too, errors on two scales of t4
 * data pass delta: what makes the difference of such totals is a single factor.
 */
#define HEAVY_T 3.0
#define SURE_T 45.0
#define LEAST_T 0.5

/* Rows that must differ from the first one before a deviation is believed. */
enum { LEAST_OTHERS = 5 };

/* Squares of less than this are 0, and so may be the deviation of a gap that is no larger. */
#define LEAST_GAP 0x1p-511

/* c0 and c2; c2 is NaN where a variance was 0. */
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

/* The t from which on t + c0 + c2 t^2 exceeds the quantile. */
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

/* What all states share at a look at one population's values. */
typedef struct {
    double quantile;
    double unit;  /* the standard error of a mean where sd is 1 */
    double r, c;  /* of values whose skewness is 1 */
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

/* What t must exceed for values of this natural variance and third central moment. */
static inline double quantile_of(const skew_look *look, double variance, double third)
{
    const double skewness = third / (variance * sqrt(variance));
    return skewed_quantile(look->quantile, skewness * look->r, skewness * look->c);
}

#endif
